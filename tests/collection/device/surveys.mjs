/** Surveys for tests, signed by a key of this run. */
import { base64url, utf8 } from "../../../src/ldiversity/collection/static/device/bytes.js";

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
};

const base64 = (bytes) => Buffer.from(bytes).toString("base64");

export const question = (name, n_values, l) => ({
  name,
  ask: `Which ${name}?`,
  values: Array.from({ length: n_values }, (_, code) => `${name} ${code}`),
  ordered: false,
  positions: null,
  mechanism: { kind: "uniform", version: 1, n_values, l },
});

export const plain = (changes = {}) => ({
  format: "ldiversity-survey",
  version: 1,
  title: "Health",
  collector: "Department of Statistics",
  contact: "survey@example.org",
  purpose: "To learn.",
  consent: "I agree.",
  language: "en",
  closes: "2030-12-31",
  linked: true,
  tokens: "device",
  results: { public: true, minimum: 100, step: 50, goal: 0.02 },
  quasi: [{ kind: "ranges", name: "age", ask: "How old are you?", low: 18, cuts: [30, 45], high: null }],
  questions: [question("disease", 9, 3)],
  blind_key: null,
  ...changes,
});

const keys = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);

/** What a server answers at /v1/survey. */
export async function signed(survey, change = (raw) => raw) {
  const raw = utf8(JSON.stringify(sorted(survey)));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", keys.privateKey, raw));
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", keys.publicKey));
  return { survey: base64(change(raw)), signature: base64(signature), public_key: base64(publicKey) };
}

export async function fingerprint() {
  const publicKey = await crypto.subtle.exportKey("raw", keys.publicKey);
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", publicKey))).slice(0, 22);
}
