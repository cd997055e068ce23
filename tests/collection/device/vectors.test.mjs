import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compare } from "./vectors.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../../data/collection/${name}`, import.meta.url), "utf8"));

test("the same words draw the same sets as in Python", async () => {
  const { compared, faults } = await compare(read("draw_vectors.json"));
  assert.deepEqual(faults, []);
  assert.ok(compared >= 8000, `${compared}`);
});

test("a planted wrong vector of each kind is found", async () => {
  const wrong = read("draw_vectors.json");
  const last = wrong.draws.length - 2;
  wrong.draws[0].sets[3][0] += 1;
  wrong.draws[last].sets[2] = null;
  wrong.edges[1].set = [0, 1];
  wrong.keyed[4].admitted.pop();
  wrong.keyed[5].sets[1][1] += 1;
  wrong.keyed[6].context = wrong.keyed[7].context;
  wrong.tokens[1].token = wrong.tokens[0].token;
  wrong.blind[3].asked = wrong.blind[2].asked;
  wrong.reports[2].length += 1;
  const { faults } = await compare(wrong);
  assert.deepEqual(faults, ["draw 0.3", `draw ${last}.2`, "edge 1", "admitted 4", "keyed 5.1", "context 6", "token 1", "blind 3", "report 2"]);
});
