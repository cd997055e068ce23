/** The shared list of what a device asks first: Python says the same. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { conflicts, entryOf } from "../../../src/ldiversity/collection/static/device/ledger.js";
import { readSurvey } from "../../../src/ldiversity/collection/static/device/index.js";
import { plain, question, signed } from "./surveys.mjs";

const { cases } = JSON.parse(readFileSync(new URL("../../data/collection/ledger_cases.json", import.meta.url), "utf8"));

/** @param {{name: string, values: string[], l?: number}[]} said */
async function entries(said) {
  if (said.length === 0) return [];
  const questions = said.map(({ name, values, l = 2 }) => ({ ...question(name, values.length, l), values }));
  return Promise.all((await readSurvey(await signed(plain({ questions })))).questions.map(entryOf));
}

for (const { name, answered, asked, warned } of cases) {
  test(name, async () => {
    const found = conflicts(await entries(asked), await entries(answered));
    assert.deepEqual(found.map(({ question: one, other }) => [one, other]), warned);
  });
}
