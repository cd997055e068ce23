import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { power } from "../../../src/ldiversity/collection/static/device/blind.js";
import { base64url, bigToBytes, bytesToBig, fromBase64url } from "../../../src/ldiversity/collection/static/device/bytes.js";
import { ListedDraw } from "../../../src/ldiversity/collection/static/device/draw.js";
import { answer, connect, DeviceError, DeviceSecret, memoryStore, readSurvey } from "../../../src/ldiversity/collection/static/device/index.js";
import { fingerprint, plain, question, signed } from "./surveys.mjs";

const URL_OF = "https://collector.example/s";
const ANSWERS = { age: 34, disease: "disease 4" };

/** A server that keeps all requests. */
function server(answers = () => new Response(null, { status: 204 })) {
  const requests = [];
  const fetch = async (url, request) => {
    requests.push({ url, ...request });
    return answers(url, request);
  };
  return { requests, options: { store: memoryStore(), url: URL_OF, fetch } };
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

const refusal = (field) => (error) => {
  assert.ok(error instanceof DeviceError);
  assert.equal(error.field, field);
  assert.match(error.message, /^[a-z]+: .*[a-z0-9]\.$/);
  assert.doesNotMatch(error.message, /34|disease 4|\n/);
  return true;
};

test("what is shown is what is sent, and it is not the answer", async () => {
  const { requests, options } = server();
  const preview = await answer(await signed(plain()), ANSWERS, options);
  const [report] = preview.reports;
  assert.deepEqual(requests, []);
  assert.deepEqual(report.lines[0], { name: "age", ask: "How old are you?", labels: ["30-44"], hidden: false });
  assert.equal(report.lines[1].labels.length, 3);
  assert.ok(report.lines[1].labels.includes("disease 4"));
  assert.equal(report.bytes.length, preview.survey.reportBytes);
  const said = JSON.parse(textOf(report.bytes));
  assert.deepEqual(Object.keys(said), ["survey", "token", "quasi", "sets"]);
  assert.deepEqual(said.sets.disease.map((code) => `disease ${code}`), report.lines[1].labels);
  await preview.send();
  assert.equal(requests.length, 1);
  const { url, body, ...rest } = requests[0];
  assert.equal(url, `${URL_OF}/v1/reports`);
  assert.deepEqual(body, report.bytes);
  assert.deepEqual(rest, {
    credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error", method: "POST",
    headers: { "content-type": "application/json" },
  });
});

test("answering again gives the same bytes, and another answer an equal or disjoint set", async () => {
  const { options } = server();
  const survey = await readSurvey(await signed(plain()));
  const bytes = async (disease) => textOf((await answer(survey, { age: 34, disease }, options)).reports[0].bytes);
  const first = await bytes("disease 4");
  assert.equal(await bytes("disease 4"), first);
  const set = JSON.parse(first).sets.disease;
  for (let code = 0; code < 9; code += 1) {
    const other = JSON.parse(await bytes(`disease ${code}`)).sets.disease;
    assert.ok(other.includes(code));
    assert.ok([0, 3].includes(other.filter((member) => set.includes(member)).length));
  }
});

test("a question in another form is asked first, and the ledger has no answer", async () => {
  const { requests, options } = server();
  await (await answer(await signed(plain()), ANSWERS, options)).send();
  assert.deepEqual((await answer(await signed(plain({ title: "Again" })), ANSWERS, options)).warnings, []);
  const wider = await answer(await signed(plain({ questions: [question("disease", 9, 4)] })), ANSWERS, options);
  assert.deepEqual(wider.warnings.map(({ reason }) => reason), ["form"]);
  await assert.rejects(wider.send(), refusal("send"));
  assert.equal(requests.length, 1);
  await wider.send({ agreed: true });
  assert.equal(requests.length, 2);
  const renamed = { ...question("disease", 9, 3), name: "illness", values: question("DISEASE", 9, 3).values };
  const asked = await answer(await signed(plain({ questions: [renamed] })), { age: 34, illness: "DISEASE 4" }, options);
  assert.deepEqual(asked.warnings.map(({ question: name, other, reason }) => [name, other, reason]), [["illness", "disease", "values"]]);
  assert.match(asked.warnings[0].sentence, /illness/);
  const other = await answer(await signed(plain({ questions: [question("income", 9, 3)] })), { age: 34, income: "income 1" }, options);
  assert.deepEqual(other.warnings, []);
  const entries = await options.store.entries();
  assert.equal(entries.length, 2);
  for (const entry of entries) {
    assert.deepEqual(Object.keys(entry).sort(), ["context", "name", "values"]);
    assert.ok([entry.context, ...entry.values].every((text) => /^[0-9a-f]{16,64}$/.test(text)));
    assert.deepEqual(entry.values, [...entry.values].sort());
  }
});

test("what another tab has answered in the meantime is asked about when it is sent", async () => {
  const { requests, options } = server();
  const one = await answer(await signed(plain()), ANSWERS, options);
  const other = await answer(await signed(plain({ questions: [question("disease", 9, 4)] })), ANSWERS, options);
  assert.deepEqual(other.warnings, []);
  await one.send();
  await assert.rejects(other.send(), refusal("send"));
  assert.equal(requests.length, 1);
  await one.send();
});

test("nothing is sent with a secret that was erased in the meantime", async () => {
  const { requests, options } = server();
  const preview = await answer(await signed(plain()), ANSWERS, options);
  await options.store.forget();
  await assert.rejects(preview.send(), refusal("send"));
  assert.deepEqual([requests, await options.store.entries()], [[], []]);
});

test("values are the same whatever their case, width, blanks and other signs", async () => {
  for (const change of [(value) => value.toUpperCase(), (value) => `${value}.`, (value) => value.replace(" ", "  "), wide]) {
    const { options } = server();
    await (await answer(await signed(plain()), ANSWERS, options)).send();
    const values = question("disease", 9, 3).values.map(change);
    const asked = { ...question("x", 9, 3), values };
    const { warnings } = await answer(await signed(plain({ questions: [asked] })), { age: 34, x: values[0] }, options);
    assert.equal(warnings.length, 1, values[0]);
  }
});

/** The same letters in their wide form. */
const wide = (value) => value.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.codePointAt(0) + 0xfee0));

test("half of the values is enough to ask, and less is not", async () => {
  for (const [shared, warned] of [[5, 1], [4, 0]]) {
    const { options } = server();
    await (await answer(await signed(plain()), ANSWERS, options)).send();
    const values = question("disease", 9, 3).values.map((value, code) => (code < shared ? value.toUpperCase() : `other ${code}`));
    const asked = { ...question("x", 9, 3), values };
    const { warnings } = await answer(await signed(plain({ questions: [asked] })), { age: 34, x: values[0] }, options);
    assert.equal(warnings.length, warned);
  }
});

test("what may have left the device is in the ledger, also when the connection breaks", async () => {
  const { options } = server(() => {
    throw new TypeError("no network");
  });
  const preview = await answer(await signed(plain()), ANSWERS, options);
  await assert.rejects(preview.send(), refusal("server"));
  assert.equal((await options.store.entries()).length, 1);
});

test("each answer of a server that is no success is one sentence", async () => {
  for (const status of [301, 400, 410, 413, 422, 429, 500, 503]) {
    const { options } = server(() => new Response('{"error":"<b>34</b>"}', { status }));
    await assert.rejects((await answer(await signed(plain()), ANSWERS, options)).send(), refusal("server"));
  }
});

test("parts that are not linked have tokens of their own, and go in a random order", async () => {
  const questions = [question("disease", 9, 3), question("income", 9, 2), question("work", 12, 3)];
  const document = await signed(plain({ linked: false, questions }));
  const orders = new Set();
  for (let device = 0; device < 40; device += 1) {
    const { requests, options } = server();
    const preview = await answer(document, { ...ANSWERS, income: "income 1", work: "work 2" }, options);
    await preview.send();
    const said = requests.map(({ body }) => JSON.parse(textOf(body)));
    assert.equal(new Set(said.map(({ token }) => token)).size, 3);
    assert.ok(requests.every(({ body }) => body.length === preview.survey.reportBytes));
    orders.add(said.map(({ sets }) => Object.keys(sets).join()).join(" "));
  }
  // Six orders are equally likely; all 40 devices use only one of them with a probability of 6^-39.
  assert.ok(orders.size > 1);
});

test("answers that the survey does not ask for are refused without being repeated", async () => {
  const { options } = server();
  const document = await signed(plain());
  const wrong = [
    { age: 34 }, { disease: "disease 4" }, { ...ANSWERS, more: 34 }, { ...ANSWERS, age: 17 }, { ...ANSWERS, age: "34" },
    { ...ANSWERS, age: 34.5 }, { ...ANSWERS, age: NaN }, { ...ANSWERS, disease: "Disease 4" }, { ...ANSWERS, disease: 4 },
    { ...ANSWERS, disease: ["disease 4"] }, { ...ANSWERS, age: null }, Object.create(ANSWERS),
  ];
  for (const answers of wrong) await assert.rejects(answer(document, answers, options), refusal("answers"));
});

test("a survey that was changed or signed by another key is refused", async () => {
  const flip = (raw) => raw.map((byte, at) => (at === 40 ? byte ^ 1 : byte));
  await assert.rejects(readSurvey(await signed(plain(), flip)), refusal("survey"));
  await assert.rejects(readSurvey(await signed(plain()), { fingerprint: "A".repeat(22) }), refusal("survey"));
  for (const odd of ["", "{}", "[]", "null", { survey: 1 }, { ...(await signed(plain())), more: "" }, new Uint8Array([255])]) {
    await assert.rejects(readSurvey(odd), refusal("survey"));
  }
  const read = await readSurvey(JSON.stringify(await signed(plain())), { fingerprint: await fingerprint() });
  assert.equal(read.fingerprint, await fingerprint());
  const { options } = server(async () => Response.json(await signed(plain())));
  assert.equal((await connect(URL_OF, options.fetch).survey()).id, read.id);
});

test("a server that answers without end is left", async () => {
  let sent = 0;
  const endless = () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array((sent += 1, 10_000))) }));
  await assert.rejects(connect(URL_OF, async () => endless()).survey(), refusal("server"));
  assert.ok(sent < 100);
  const broken = () => new Response(new ReadableStream({ pull: (stream) => stream.error(new Error("34")) }));
  await assert.rejects(connect(URL_OF, async () => broken()).survey(), refusal("server"));
});

test("a browser without Ed25519 is refused with one sentence", async (context) => {
  const unknown = () => Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"));
  context.mock.method(crypto.subtle, "importKey", unknown);
  await assert.rejects(readSurvey(await signed(plain())), /does not know Ed25519/);
});

test("invitations are codes of 22 letters", async () => {
  const { options } = server();
  const document = await signed(plain({ tokens: "invitation" }));
  const invitation = "abcdefghijklmnopqrst-_";
  const preview = await answer(document, ANSWERS, { ...options, invitation });
  assert.equal(JSON.parse(textOf(preview.reports[0].bytes)).token, invitation);
  for (const odd of [undefined, "short", `${invitation}x`]) {
    await assert.rejects(answer(document, ANSWERS, { ...options, invitation: odd }), refusal("invitation"));
  }
});

test("blind tokens are signed before anything is sent, and are the same again", async () => {
  const { vectors } = JSON.parse(readFileSync(new URL("../../data/collection/rfc9474.json", import.meta.url), "utf8"));
  const [n, d] = [BigInt(`0x${vectors[0].n}`), BigInt(`0x${vectors[0].d}`)];
  const issue = (url, { body }) => {
    const { blinded } = JSON.parse(body);
    return Response.json({ signature: base64url(bigToBytes(power(bytesToBig(fromBase64url(blinded)), d, n), 512)) });
  };
  const { requests, options } = server(issue);
  const document = await signed(plain({ tokens: "blind", blind_key: base64url(bigToBytes(n, 512)) }));
  const asked = { ...options, invitation: "A".repeat(22) };
  const [one, again] = [await answer(document, ANSWERS, asked), await answer(document, ANSWERS, asked)];
  assert.deepEqual(one.reports[0].bytes, again.reports[0].bytes);
  assert.equal(requests[0].body, requests[1].body);
  const said = JSON.parse(textOf(one.reports[0].bytes));
  assert.match(said.token, /^[A-Za-z0-9_-]{43}$/);
  assert.match(said.signature, /^[A-Za-z0-9_-]{683}$/);
  assert.ok(!requests[0].body.includes(said.token));
  const { options: wrong } = server(() => Response.json({ signature: "AAAA" }));
  await assert.rejects(answer(document, ANSWERS, { ...wrong, invitation: "A".repeat(22) }), refusal("server"));
});

test("a secret cannot be read out, and devices differ", async () => {
  const secret = await DeviceSecret.fresh();
  await assert.rejects(crypto.subtle.exportKey("raw", secret.key));
  const readable = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
  assert.throws(() => new DeviceSecret(readable), TypeError);
  const other = await DeviceSecret.fresh();
  assert.notDeepEqual(await secret.token("a", 0), await other.token("a", 0));
  const store = memoryStore();
  const [one, two] = await Promise.all([store.secret(), store.secret()]);
  assert.equal(one, two);
  await store.forget();
  assert.notEqual(await store.secret(), one);
});

test("an address is that of a survey, over TLS, and a link names the key", async () => {
  const asked = [];
  const sent = JSON.stringify(await signed(plain()));
  const fetch = async (url) => {
    asked.push(url);
    return new Response(sent);
  };
  const own = await fingerprint();
  for (const start of ["https://a.example", "https://a.example/s", "http://localhost:8000", "http://127.0.0.1", "http://[::1]:80", "http://abc.onion"]) {
    asked.length = 0;
    for (const end of ["", "/", `/#k=${own}`, `#k=${own}&i=code`, "?x=1"]) await connect(start + end, fetch).survey();
    assert.deepEqual([...new Set(asked)], [`${new URL(start).href.replace(/\/$/, "")}/v1/survey`]);
  }
  for (const end of ["#k=", `#k=${"A".repeat(22)}`]) await assert.rejects(connect(`https://a.example/${end}`, fetch).survey(), refusal("survey"));
  for (const url of ["http://a.example", "http://localhost.example", "http://127.0.0.1.example", "ftp://a.example", "https://", "https://me:secret@a.example", "javascript:1"]) {
    assert.throws(() => connect(url, fetch), refusal("url"));
  }
});

test("the context of the longest list of sets is soon written: a phone does it several times", () => {
  const sets = [];
  for (let one = 0; one < 50; one += 1) {
    for (let other = 0; other < one; other += 1) for (let third = 0; third < other; third += 1) sets.push([third, other, one]);
  }
  const draw = new ListedDraw(sets, new Array(50).fill(1));
  const began = performance.now();
  for (let time = 0; time < 10; time += 1) assert.ok(draw.context("é", question("v", 50, 3).values).length > 200_000);
  assert.ok(performance.now() - began < 1500);
});
