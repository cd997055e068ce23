import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { accepts, rawOf, wrongly } from "./cases.mjs";

const shared = JSON.parse(readFileSync(new URL("../../data/collection/survey_cases.json", import.meta.url), "utf8"));

test("surveys are accepted and refused as the shared list says", () => {
  assert.deepEqual(wrongly(shared), []);
  assert.ok(shared.cases.length > 300);
});

test("a case that is decided otherwise is found", () => {
  const cases = shared.cases.slice(0, 40).map((one, at) => (at === 3 ? { ...one, accept: !one.accept } : one));
  assert.deepEqual(wrongly({ ...shared, cases }), [cases[3].name]);
});

test("no hostile survey takes long", () => {
  for (const one of shared.cases) {
    const raw = rawOf(shared.bases, one);
    const began = process.cpuUsage();
    accepts(raw);
    const { user, system } = process.cpuUsage(began);
    assert.ok(user + system < 2_000_000, `${one.name} took ${user + system} microseconds`);
  }
});
