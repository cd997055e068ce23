/** Prints the seconds that the device module takes, as JSON: per draw, and to check surveys. */
import { readFileSync } from "node:fs";
import { ChainDraw, uniformDraw } from "../src/ldiversity/collection/static/device/draw.js";
import { utf8 } from "../src/ldiversity/collection/static/device/bytes.js";
import { checkSurvey } from "../src/ldiversity/collection/static/device/survey.js";
import { DeviceSecret } from "../src/ldiversity/collection/static/device/words.js";

const secondsOf = (began) => {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
};

/** The least processor time of several runs. */
async function least(work, n) {
  let best = Infinity;
  for (let run = 0; run < 5; run += 1) {
    const began = process.cpuUsage();
    for (let i = 0; i < n; i += 1) await work(i);
    best = Math.min(best, secondsOf(began) / n);
  }
  return best;
}

const order = (l, n) => new ChainDraw(l, [...Array(n).keys()], [...Array(n).keys()].map((i) => Math.min(i + 2, n)), Array.from({ length: n }, (_, i) => 1 + i / n));

const found = {};
for (const [name, draw] of [["12 values", uniformDraw(12, 3)], ["50 values", uniformDraw(50, 3)], ["200 values", uniformDraw(200, 5)], ["200 ordered values", order(5, 200)]]) {
  const words = Array.from({ length: 400 }, () => [...crypto.getRandomValues(new BigUint64Array(draw.firstWords * 4))]);
  found[name] = await least((i) => draw.sample(i % draw.nValues, words[i]), 400);
}
const secret = await DeviceSecret.fresh();
const values = Array.from({ length: 50 }, (_, code) => `value ${code}`);
const draw = uniformDraw(50, 3);
found.hide = await least((i) => secret.hide(draw, "question", values, i % 50), 100);
for (const file of process.argv.slice(2)) {
  const raw = utf8(readFileSync(file, "utf8"));
  found[file] = await least(() => checkSurvey(raw), 3);
}
console.log(JSON.stringify(found));
