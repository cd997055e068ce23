/** The ledger: which questions this device answered, and never how. A second set of the same fact could be intersected. */
import { digest, hex, utf8 } from "./bytes.js";
import { caseFold } from "./fields.js";

/** @typedef {import("./survey.js").Question} Question */
/**
 * @typedef {object} Entry A question that this device answered.
 * @property {string} name
 * @property {string} context The SHA-256 of what its draws depend on.
 * @property {string[]} values Short hashes of its values, of which letters and digits alone count; sorted.
 */
/**
 * @typedef {object} Warning A question that may ask for the same fact again.
 * @property {string} question
 * @property {string} other The name under which the other one was answered.
 * @property {"form" | "values"} reason Another form under the same name, or the same values under another name.
 * @property {string} sentence For people.
 */

const SHORT = 16;

/** @param {Question} question @returns {Promise<Entry>} */
export async function entryOf({ name, values, draw }) {
  const short = async (/** @type {string} */ value) => hex(await digest(utf8(value))).slice(0, SHORT);
  const hashes = await Promise.all([...new Set(values.map(alike))].map(short));
  return { name, context: hex(await digest(draw.context(name, values))), values: hashes.sort() };
}

/** @param {string} value @returns {string} The same for values that differ only in case, width, blanks and other signs. */
function alike(value) {
  const folded = caseFold(value.normalize("NFKC"));
  return folded.replace(/[^\p{L}\p{M}\p{N}]/gu, "") || folded;
}

/**
 * What must be asked first. A question that was answered before in the same form gives the same set again. Questions of one
 * survey are not compared with each other: the person sees them side by side, and a scale often serves several of them.
 *
 * @param {readonly Entry[]} asked The questions of a survey.
 * @param {readonly Entry[]} known The questions that the device answered before.
 * @returns {Warning[]} At most one per question.
 */
export function conflicts(asked, known) {
  const same = (/** @type {Entry} */ one) => (/** @type {Entry} */ entry) => entry.name === one.name && entry.context === one.context;
  const elsewhere = known.filter((entry) => !asked.some(same(entry)));
  return asked.flatMap((one) => {
    if (known.some(same(one))) return [];
    const named = elsewhere.find((entry) => entry.name === one.name);
    if (named !== undefined) return [warning(one, named, "form")];
    const shared = elsewhere.find((entry) => sharesHalf(one.values, entry.values));
    return shared === undefined ? [] : [warning(one, shared, "values")];
  });
}

/** @param {readonly string[]} one @param {readonly string[]} other @returns {boolean} Half or more of the shorter list. */
function sharesHalf(one, other) {
  const known = new Set(other);
  return 2 * one.filter((value) => known.has(value)).length >= Math.min(one.length, other.length);
}

/** @param {Entry} one @param {Entry} entry @param {Warning["reason"]} reason @returns {Warning} */
function warning(one, entry, reason) {
  const before = {
    form: `This device answered a question named ${one.name} before, with other values or another way of hiding.`,
    values: `This device answered ${entry.name}, which has the same or similar values as ${one.name}.`,
  };
  const sentence = `${before[reason]} If both ask for the same fact, the two sets together tell more about you than one.`;
  return { question: one.name, other: entry.name, reason, sentence };
}
