/** Whether a device can do what a survey asks: it must be what it claims, and no more work than a phone can do. */
import { ListedDraw, PartitionDraw, WeightedDraw } from "./draw.js";
import { areDistinct, refused } from "./fields.js";
import { drawOf } from "./mechanism.js";

/** @typedef {import("./draw.js").Draw} Draw */
/** @typedef {import("./mechanism.js").Mechanism} Mechanism */
/**
 * @typedef {object} Asked
 * @property {readonly string[]} values
 * @property {readonly number[] | null} positions
 * @property {Mechanism} mechanism
 */

/** The greatest sum of (l + levels of the tree) F^2 over all questions that are not uniform. */
const MOST_WORK = 4_000_000;

/** The greatest sum of l^2 over all listed sets. */
const MOST_LISTED = 1_000_000;

/** How far the sum for a value may be from one, as weights are rounded doubles. */
const OFF_ONE = 1e-8;

/**
 * @param {readonly Asked[]} questions
 * @returns {Draw[]} How a device hides the answer to each, if the mechanisms are what they claim.
 */
export function checkedDraws(questions) {
  questions.forEach(checkFit);
  if (questions.reduce((sum, one) => sum + workOf(one), 0) > MOST_WORK) {
    throw refused("questions", `must have a sum of (l + levels) F^2 of at most ${MOST_WORK}`);
  }
  let listed = 0;
  return questions.map(({ values, positions, mechanism }, at) => {
    const where = `questions[${at}].mechanism`;
    const draw = drawOf(mechanism, values, positions, where);
    if (draw instanceof ListedDraw) listed += draw.nSets * draw.l ** 2;
    if (listed > MOST_LISTED) throw refused(where, `must leave the sum of l^2 over all listed sets at ${MOST_LISTED} or less`);
    if (mechanism.kind === "balanced" && !isBalanced(draw, mechanism)) {
      throw refused(`${where}.fitted`, "must be weights that make all members of a set equally likely, with the sum one for each value");
    }
    if (!draw.isRecoverable) throw refused(where, "must let shares be estimated, but other shares would give the same sets");
    return draw;
  });
}

/** @param {Asked} question @param {number} at */
function checkFit({ values, positions, mechanism }, at) {
  const where = `questions[${at}]`;
  const size = values.length;
  if (!areDistinct(values)) throw refused(`${where}.values`, "must be distinct, also without regard to case, width and blanks");
  if (positions !== null && positions.length !== size) {
    throw refused(`${where}.positions`, `must be ${size} numbers, one for each value`);
  }
  if ((mechanism.fitted?.length ?? mechanism.n_values) !== size) {
    throw refused(`${where}.mechanism`, `must be for ${size} values, as many as the question has`);
  }
  if (mechanism.l >= size) throw refused(`${where}.mechanism.l`, `must be below the number of values, ${size}`);
}

/** @param {Asked} question @returns {number} */
function workOf({ values, mechanism }) {
  if (mechanism.kind === "uniform") return 0;
  return (mechanism.l + (mechanism.distance?.rows?.[0]?.length ?? 0)) * values.length ** 2;
}

/** @param {Draw} draw @param {Mechanism} form @returns {boolean} Whether members are equally likely, and weights sum to one. */
function isBalanced(draw, form) {
  if (draw instanceof PartitionDraw) {
    // The only balanced weights are equal ones.
    const sets = Math.log(Number(draw.setsPerValue));
    return (form.fitted ?? []).every((weight) => Math.abs(form.l * Math.log(weight) + sets) <= OFF_ONE);
  }
  return draw instanceof WeightedDraw && draw.isBalanced && draw.isNormalized;
}
