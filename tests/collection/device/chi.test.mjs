/** Fresh draws follow the exact weights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ChainDraw, ListedDraw, PartitionDraw } from "../../../src/ldiversity/collection/static/device/draw.js";

const DRAWS = 12_000;

/** Ten comparisons at this level: together they fail by chance once in a million runs. */
const LEVEL_Z = 5.2; // the normal quantile of 1 - 1e-7

const WEIGHTS = [0.7, 1.3, 2, 0.9, 1.1, 0.4, 3, 1];
const FAMILIES = {
  partition: [new PartitionDraw(3, Array.from({ length: 8 }, (_, code) => [code])), () => 1],
  "partition of groups": [new PartitionDraw(2, [[0, 1], [2, 3], [4, 5], [6, 7]]), () => 1],
  order: [new ChainDraw(3, [0, 1, 2, 3, 4, 5, 6, 7], [2, 3, 4, 5, 6, 7, 8, 8], WEIGHTS), weightOf],
  "uneven groups": [new ChainDraw(2, [0, 0, 0, 1, 1, 2, 3, 3], [1, 2, 3, 4], WEIGHTS), weightOf],
  listed: [new ListedDraw([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [0, 4], [4, 5], [5, 6], [6, 7], [0, 7], [3, 7]], WEIGHTS), weightOf],
};

function weightOf(set) {
  return set.reduce((product, code) => product * WEIGHTS[code], 1);
}

/** All subsets of `l` codes that the draw admits and that hold a code. */
function setsOf(draw, code) {
  const found = [];
  for (let bits = 0; bits < 2 ** draw.nValues; bits += 1) {
    const set = Array.from({ length: draw.nValues }, (_, at) => at).filter((at) => bits & (1 << at));
    if (set.length === draw.l && set.includes(code) && draw.admits(set)) found.push(set);
  }
  return found;
}

/** The chi-square statistic, and the limit that it exceeds with the probability of the level (Wilson and Hilferty 1931). */
function compare(draw, weigh, code) {
  const sets = setsOf(draw, code);
  const total = sets.reduce((sum, set) => sum + weigh(set), 0);
  const counts = new Map(sets.map((set) => [String(set), 0]));
  for (let i = 0; i < DRAWS; i += 1) {
    const drawn = String(draw.sample(code, [...crypto.getRandomValues(new BigUint64Array(64))]));
    counts.set(drawn, counts.get(drawn) + 1);
  }
  const statistic = sets.reduce((sum, set) => {
    const expected = (DRAWS * weigh(set)) / total;
    return sum + (counts.get(String(set)) - expected) ** 2 / expected;
  }, 0);
  const free = sets.length - 1;
  const limit = free * (1 - 2 / (9 * free) + LEVEL_Z * Math.sqrt(2 / (9 * free))) ** 3;
  return { statistic, limit };
}

for (const [name, [draw, weigh]] of Object.entries(FAMILIES)) {
  test(`fresh draws of ${name} follow the weights`, () => {
    for (const code of [0, 3]) {
      const { statistic, limit } = compare(draw, weigh, code);
      assert.ok(statistic < limit, `${statistic} ${limit}`);
    }
  });
}

test("draws by other weights are found out", () => {
  const wrong = WEIGHTS.map((weight, code) => (code === 2 ? 1.25 * weight : weight));
  const draw = new ChainDraw(3, [0, 1, 2, 3, 4, 5, 6, 7], [2, 3, 4, 5, 6, 7, 8, 8], wrong);
  const { statistic, limit } = compare(draw, weightOf, 0);
  assert.ok(statistic > limit, `${statistic} ${limit}`);
});
