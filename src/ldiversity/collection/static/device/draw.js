/** Hiding one answer in a set, by whole-number arithmetic alone: the same words draw the same set in every language. */
import { PartitionDraw } from "./partition.js";
import { ChainDraw, ListedDraw } from "./weighted.js";

export { Draw, PartitionDraw } from "./partition.js";
export { ChainDraw, ListedDraw, WeightedDraw } from "./weighted.js";

/** A phone lists at most so many sets. */
const MOST_SETS = 20_000;

/** @param {number} nValues @param {number} l @returns {PartitionDraw} Any `l` values may share a set. */
export const uniformDraw = (nValues, l) => new PartitionDraw(l, Array.from({ length: nValues }, (_, code) => [code]));

/**
 * The draw where only allowed pairs may share a set: values fall into groups, stand in an order, or sets are listed.
 *
 * @param {number} l
 * @param {readonly (readonly boolean[])[]} allowed
 * @param {readonly number[]} weights
 * @returns {import("./partition.js").Draw | null} Null if there are too many sets to list, or none.
 */
export function chooseDraw(l, allowed, weights) {
  const groups = groupsOf(allowed);
  if (groups !== null) {
    if (groups.every((group) => group.length === groups[0].length)) {
      return l <= groups.length ? new PartitionDraw(l, groups) : null;
    }
    const nodeOf = new Array(allowed.length);
    groups.forEach((group, node) => group.forEach((code) => (nodeOf[code] = node)));
    return new ChainDraw(l, nodeOf, groups.map((_, node) => node + 1), weights);
  }
  const firstAfter = lineOf(allowed);
  if (firstAfter !== null) return new ChainDraw(l, allowed.map((_, code) => code), firstAfter, weights);
  const sets = listSets(allowed, l);
  return sets === null || sets.length === 0 ? null : new ListedDraw(sets, weights);
}

/**
 * @param {readonly (readonly boolean[])[]} allowed
 * @returns {number[][] | null} The groups of values too close to share a set; null if being too close is no equivalence.
 */
function groupsOf(allowed) {
  const near = allowed.map((row, i) => row.flatMap((may, j) => (!may || i === j ? [j] : [])));
  const keys = near.map(String);
  if (!near.every((group, i) => group.every((j) => keys[j] === keys[i]))) return null;
  return near.filter((group, i) => group[0] === i);
}

/**
 * @param {readonly (readonly boolean[])[]} allowed
 * @returns {number[] | null} The first allowed value to the right of each; null if the rest are no growing suffixes.
 */
function lineOf(allowed) {
  const size = allowed.length;
  const firstAfter = [];
  for (const [i, row] of allowed.entries()) {
    let first = i + 1;
    while (first < size && !row[first]) first += 1;
    for (let j = first; j < size; j += 1) if (!row[j]) return null;
    if (i > 0 && first < firstAfter[i - 1]) return null;
    firstAfter.push(first);
  }
  return firstAfter;
}

/**
 * @param {readonly (readonly boolean[])[]} allowed
 * @param {number} l
 * @returns {number[][] | null} All sets in lexicographic order; null as soon as there are too many, also of smaller sets.
 */
function listSets(allowed, l) {
  /** @type {{members: number[], next: number[]}[]} */
  let partial = [{ members: [], next: allowed.map((_, code) => code) }];
  for (let size = 1; size <= l; size += 1) {
    if (partial.reduce((sum, one) => sum + one.next.length, 0) > MOST_SETS) return null;
    partial = partial.flatMap(({ members, next }) =>
      next.map((code) => ({
        members: [...members, code],
        next: size === l ? [] : next.filter((other) => other > code && allowed[code][other]),
      })),
    );
  }
  return partial.map((one) => one.members);
}
