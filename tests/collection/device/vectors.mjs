/** Compares the device module with the stored vectors; the same in Node and in a browser. */
import { blindToken } from "../../../src/ldiversity/collection/static/device/blindtoken.js";
import { digest, hex, utf8 } from "../../../src/ldiversity/collection/static/device/bytes.js";
import { ChainDraw, chooseDraw, ListedDraw, PartitionDraw } from "../../../src/ldiversity/collection/static/device/draw.js";
import { writeReport } from "../../../src/ldiversity/collection/static/device/report.js";
import { checkSurvey } from "../../../src/ldiversity/collection/static/device/survey.js";
import { DeviceSecret } from "../../../src/ldiversity/collection/static/device/words.js";

const bytesOf = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));

const doubleOf = (digits) => new DataView(bytesOf(digits).buffer).getFloat64(0);

export function makeDraw(form) {
  const weights = (form.weights ?? []).map(doubleOf);
  if (form.kind === "partition") return new PartitionDraw(form.l, form.grid);
  if (form.kind === "chain") return new ChainDraw(form.l, form.node_of, form.first_after, weights);
  if (form.kind === "listed") return new ListedDraw(form.sets, weights);
  return chooseDraw(form.l, form.allowed.map((row) => Array.from(row, (letter) => letter === "1")), weights);
}

async function streamOf(seed, n) {
  const key = await crypto.subtle.importKey("raw", await digest(utf8(seed)), "AES-CTR", false, ["encrypt"]);
  const rule = { name: "AES-CTR", counter: new Uint8Array(16), length: 64 };
  const view = new DataView(await crypto.subtle.encrypt(rule, key, new Uint8Array(8 * n)));
  return Array.from({ length: n }, (_, at) => view.getBigUint64(8 * at));
}

/** All subsets of the codes below `size`: short ones first, and in lexicographic order. */
function subsets(size) {
  let [found, longest] = [[[]], [[]]];
  for (let length = 1; length <= size; length += 1) {
    longest = longest.flatMap((one) => Array.from({ length: size }, (_, code) => code).filter((code) => code > (one.at(-1) ?? -1)).map((code) => [...one, code]));
    found = [...found, ...longest];
  }
  return found;
}

/** How many results were compared, and where they differ. */
export async function compare(vectors) {
  const faults = [];
  let compared = 0;
  const expect = (where, got, stored) => {
    compared += 1;
    if (JSON.stringify(got) !== JSON.stringify(stored)) faults.push(where);
  };
  for (const [place, { draw: form, seed, words, zeros, n, sets }] of vectors.draws.entries()) {
    const draw = makeDraw(vectors.forms[form]);
    const stream = await streamOf(seed, n * words);
    for (let i = 0; i < n; i += 1) {
      const own = [...new Array(zeros).fill(0n), ...stream.slice(i * words + zeros, (i + 1) * words)];
      const drawn = draw.sample((7 * i) % draw.nValues, own);
      expect(`draw ${place}.${i}`, drawn, sets[i]);
      if (drawn !== null) expect(`admits ${place}.${i}`, draw.admits(drawn), true);
    }
  }
  for (const [place, { draw: form, code, words, set }] of vectors.edges.entries()) {
    expect(`edge ${place}`, makeDraw(vectors.forms[form]).sample(code, words.map((word) => BigInt(`0x${word}`))), set);
  }
  for (const [place, { secret: digits, name, values, draw: form, first_words, context, admitted, sets }] of vectors.keyed.entries()) {
    const draw = makeDraw(vectors.forms[form]);
    const secret = await DeviceSecret.from(bytesOf(digits));
    const found = subsets(values.length).flatMap((subset, at) => (draw.admits(subset) ? [at] : []));
    expect(`admitted ${place}`, found, admitted);
    expect(`first words ${place}`, draw.firstWords, first_words);
    expect(`context ${place}`, hex(await digest(draw.context(name, values))), context);
    for (const code of values.keys()) expect(`keyed ${place}.${code}`, await secret.hide(draw, name, values, code), sets[code]);
  }
  for (const [place, { secret, survey, part, token }] of vectors.tokens.entries()) {
    expect(`token ${place}`, hex(await (await DeviceSecret.from(bytesOf(secret))).token(survey, part)), token);
  }
  for (const [place, { secret, survey: id, part, invitation, key, asked }] of vectors.blind.entries()) {
    let said = "";
    const issue = async (request) => {
      said = JSON.stringify(request);
      return "";
    };
    await blindToken({ id, blind_key: key }, part, await DeviceSecret.from(bytesOf(secret)), invitation, issue).catch(() => null);
    expect(`blind ${place}`, hex(await digest(utf8(said))), asked);
  }
  for (const [place, { survey, id, token, quasi, sets, signature, length, report }] of vectors.reports.entries()) {
    const checked = checkSurvey(utf8(survey));
    const map = (object) => new Map(Object.entries(object));
    const sent = new TextDecoder().decode(writeReport(checked, id, token, map(quasi), map(sets), signature));
    expect(`report ${place}`, sent, report.padEnd(length, " "));
  }
  return { compared, faults };
}
