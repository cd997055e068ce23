/** The public description of how an answer is hidden: which values may share a set follows from distance and d. */
import { chooseDraw, uniformDraw } from "./draw.js";
import { byKind, double, list, object, oneOf, refused, text, whole } from "./fields.js";
import { wholeWeights } from "./whole.js";

/** @typedef {import("./draw.js").Draw} Draw */
/** @typedef {(one: number, other: number) => number} Between The distance of two values. */
/**
 * @typedef {object} Distance
 * @property {string} kind
 * @property {number} [unit]
 * @property {readonly (readonly string[])[]} [rows]
 * @property {readonly (readonly number[])[]} [below]
 */
/**
 * @typedef {object} Mechanism
 * @property {"uniform" | "balanced"} kind
 * @property {number} l
 * @property {number} [n_values]
 * @property {number} [d]
 * @property {Distance} [distance]
 * @property {readonly number[]} [fitted]
 */

const MOST_VALUES = 512;
const MOST_LEVELS = 16;

/** The newest version of mechanisms that devices know. */
const NEWEST = 2;

const ROUNDING = 1e-9;

const positive = double((number) => number > 0, "must be a number above zero");
const atLeastZero = double((number) => number >= 0, "must be a number from zero");
const version = whole(1, NEWEST);
const l = whole(2, 64);

/**
 * The distances that a survey may name: their fields, and what they say of its values; null if they do not cover them.
 *
 * @type {Record<string, {
 *   fields: Record<string, import("./fields.js").Rule<any>>,
 *   between: (far: any, values: readonly string[], positions: readonly number[] | null) => Between | null,
 * }>}
 */
const DISTANCES = {
  discrete: { fields: {}, between: () => (i, j) => Number(i !== j) },
  ordered: { fields: {}, between: () => (i, j) => Math.abs(i - j) },
  cyclic: { fields: {}, between: cyclic },
  numeric: { fields: { unit: positive }, between: numeric },
  tree: { fields: { rows: list(list(text(120), 0, MOST_LEVELS), 0, MOST_VALUES) }, between: tree },
  matrix: { fields: { below: list(list(atLeastZero, 0, Infinity), 0, MOST_VALUES) }, between: matrix },
};

const distance = byKind(
  Object.fromEntries(Object.entries(DISTANCES).map(([kind, { fields }]) => [kind, object({ kind: oneOf(kind), ...fields })])),
);

/** @type {import("./fields.js").Rule<Mechanism>} */
export const mechanism = byKind(/** @type {Record<string, import("./fields.js").Rule<any>>} */ ({
  uniform: object({ kind: oneOf("uniform"), version, n_values: whole(3, 2048), l }),
  balanced: object({ kind: oneOf("balanced"), version, l, d: atLeastZero, distance, fitted: list(positive, 3, MOST_VALUES) }),
}));

/**
 * @param {Mechanism} form
 * @param {readonly string[]} values
 * @param {readonly number[] | null} positions
 * @param {string} where
 * @returns {Draw} How a device hides an answer, from the values that may share a set.
 */
export function drawOf(form, values, positions, where) {
  if (form.kind === "uniform") return uniformDraw(values.length, form.l);
  const { d, fitted, distance: far } = /** @type {Required<Mechanism>} */ (form);
  const between = DISTANCES[far.kind].between(far, values, positions);
  if (between === null) throw refused(`${where}.distance`, "must be a distance between the values of the question");
  const codes = values.map((_, code) => code);
  const allowed = codes.map((i) => codes.map((j) => i !== j && between(i, j) >= d));
  if (wholeWeights(fitted) === null) {
    throw refused(`${where}.fitted`, "must be weights of which none is more than 2^64 times another");
  }
  const draw = chooseDraw(form.l, allowed, fitted);
  if (draw === null) throw refused(where, "must have sets of values that are far enough apart, and not too many to list");
  return draw;
}

/** @param {Distance} _ @param {readonly string[]} values @returns {Between} */
function cyclic(_, values) {
  return (i, j) => Math.min(Math.abs(i - j), values.length - Math.abs(i - j));
}

/** @param {{below: readonly (readonly number[])[]}} far @param {readonly string[]} values @returns {Between | null} */
function matrix({ below }, values) {
  if (below.length !== values.length || below.some((row, at) => row.length !== at)) return null;
  return (i, j) => (i === j ? 0 : below[Math.max(i, j)][Math.min(i, j)]);
}

/** @param {{unit: number}} far @param {readonly string[]} values @param {readonly number[] | null} at @returns {Between | null} */
function numeric({ unit }, values, at) {
  if (at === null || at.length !== values.length) return null;
  if (!Number.isFinite((Math.max(...at) - Math.min(...at)) / unit)) return null;
  return (i, j) => {
    const ratio = Math.abs(at[i] - at[j]) / unit;
    // Within one part in 10^9 of a whole number, a ratio counts as that number.
    const nearest = Math.floor(ratio + 0.5);
    return Math.abs(ratio - nearest) <= ROUNDING * nearest ? nearest : ratio;
  };
}

/** @param {{rows: readonly (readonly string[])[]}} far Rows from a value to the root. @param {readonly string[]} values @returns {Between | null} */
function tree({ rows }, values) {
  const depth = rows[0]?.length ?? 0;
  if (depth === 0 || rows.some((row) => row.length !== depth) || rows.length !== values.length) return null;
  const byValue = new Map(rows.map((row) => [row[0], row]));
  if (byValue.size !== values.length || !values.every((value) => byValue.has(value))) return null;
  // A label has one label above it, and all meet at the root.
  for (let level = 1; level < depth; level += 1) {
    const above = new Map();
    for (const row of rows) {
      if ((above.get(row[level - 1]) ?? row[level]) !== row[level]) return null;
      above.set(row[level - 1], row[level]);
    }
  }
  if (rows.some((row) => row[depth - 1] !== rows[0][depth - 1])) return null;
  const paths = values.map((value) => /** @type {readonly string[]} */ (byValue.get(value)));
  return (i, j) => paths[i].reduce((levels, label, at) => levels + Number(label !== paths[j][at]), 0);
}
