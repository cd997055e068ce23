/** Surveys: whatever a stranger sends is verified and checked before anything of it is shown or answered. */
import { base64url, bytesToBig, digest, fromBase64, fromBase64url, hex } from "./bytes.js";
import { MOST_BYTES, readCanonical } from "./canonical.js";
import { DeviceError } from "./errors.js";
import { areDistinct, byKind, double, list, matching, object, oneOf, orNull, plainText, refused, truth, whole } from "./fields.js";
import { mechanism } from "./mechanism.js";
import { bitLength } from "./whole.js";
import { checkedDraws } from "./work.js";

/**
 * @typedef {object} Ranges A whole number about the person, of which the device sends the range only.
 * @property {"ranges"} kind
 * @property {string} name
 * @property {string} ask
 * @property {number | null} low
 * @property {readonly number[]} cuts
 * @property {number | null} high
 * @property {readonly string[]} labels The ranges as people read them.
 */
/**
 * @typedef {object} Choice Something about the person that is sent as it is chosen.
 * @property {"choice"} kind
 * @property {string} name
 * @property {string} ask
 * @property {readonly string[]} values
 * @property {readonly string[]} labels
 */
/**
 * @typedef {object} Question A question whose answer is hidden in a set before it leaves the device.
 * @property {"question"} kind
 * @property {string} name
 * @property {string} ask
 * @property {readonly string[]} values
 * @property {boolean} ordered
 * @property {readonly number[] | null} positions
 * @property {import("./mechanism.js").Mechanism} mechanism
 * @property {number} l
 * @property {import("./draw.js").Draw} draw
 */
/**
 * @typedef {object} Survey
 * @property {string} id The SHA-256 of the signed bytes.
 * @property {string} fingerprint Of the collector's key.
 * @property {string} title
 * @property {string} collector
 * @property {string} contact
 * @property {string} purpose
 * @property {string} consent
 * @property {string} language
 * @property {string | null} closes
 * @property {boolean} linked
 * @property {"device" | "invitation" | "blind"} tokens
 * @property {{public: boolean, minimum: number, step: number, goal: number}} results
 * @property {readonly (Ranges | Choice)[]} quasi
 * @property {readonly Question[]} questions
 * @property {string | null} blind_key
 * @property {readonly (readonly Question[])[]} parts One report per part.
 * @property {number} reportBytes The length of every report.
 */

const STEP = 256;
const ENVELOPE = 200;
const EXTRA = { device: 0, invitation: 64, blind: 700 };
const FINGERPRINT = 22;
const LEAST_BITS = 2048;
const MOST_BITS = 4096;

const name = matching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "must begin with a letter and have at most 64 letters, digits, - and _");
const label = plainText(120);
const shortText = plainText(300);
const longText = plainText(6000, true);
const limit = orNull(whole(-(10 ** 9), 10 ** 9));

const quasi = byKind(/** @type {Record<string, import("./fields.js").Rule<Ranges | Choice>>} */ ({
  ranges: (value, where) => withLabels(ranges(value, where), where),
  choice: (value, where) => withValues(choice(value, where), where),
}));
const ranges = object({ kind: oneOf("ranges"), name, ask: shortText, low: limit, cuts: list(whole(-(10 ** 9), 10 ** 9), 1, 63), high: limit });
const choice = object({ kind: oneOf("choice"), name, ask: shortText, values: list(label, 2, 512) });
const finite = double(Number.isFinite, "must be a finite number");
const asked = object({ name, ask: shortText, values: list(label, 3, 2048), ordered: truth, positions: orNull(list(finite, 0, 512)), mechanism }, ["positions"]);
const count = whole(10, 1_000_000);

const document = object({
  format: oneOf("ldiversity-survey"),
  version: whole(1, 1),
  title: shortText,
  collector: shortText,
  contact: shortText,
  purpose: longText,
  consent: longText,
  language: matching(/^(?=.{1,35}$)[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "must be a language such as en or pt-BR"),
  closes: orNull(matching(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, "must be a day such as 2027-06-30")),
  linked: truth,
  tokens: oneOf("device", "invitation", "blind"),
  results: object({ public: truth, minimum: count, step: count, goal: double((goal) => goal > 0 && goal <= 0.5, "must be above 0 and at most 0.5") }),
  quasi: list(quasi, 0, 12),
  questions: list(asked, 1, 24),
  blind_key: orNull(matching(/^[A-Za-z0-9_-]{300,800}$/, "must be a number in base64url")),
}, ["blind_key"]);

/**
 * Verify and check a signed survey.
 *
 * @param {string | Uint8Array | object} signed What `GET /v1/survey` answers: text, bytes, or parsed JSON.
 * @param {{fingerprint?: string}} [expected] The fingerprint of the collector's key, if the person knows it.
 * @returns {Promise<Survey>}
 */
export async function readSurvey(signed, expected = {}) {
  const { raw, signature, publicKey } = unpack(signed);
  if (raw.length > MOST_BYTES) throw new DeviceError("survey", `must be at most ${MOST_BYTES / 1000} kB long`);
  await verify(raw, signature, publicKey);
  const fingerprint = base64url(await digest(publicKey)).slice(0, FINGERPRINT);
  if (expected.fingerprint !== undefined && expected.fingerprint.trim() !== fingerprint) {
    throw new DeviceError("survey", "must be signed by the collector with the expected fingerprint, but another key signed it");
  }
  return Object.freeze({ ...checkSurvey(raw), id: hex(await digest(raw)), fingerprint });
}

/**
 * Check the bytes of a survey, of any signer.
 *
 * @param {Uint8Array} raw
 * @returns {Omit<Survey, "id" | "fingerprint">}
 */
export function checkSurvey(raw) {
  let value;
  try {
    value = readCanonical(raw);
  } catch (error) {
    throw new DeviceError("survey", /** @type {Error} */ (error).message);
  }
  const found = document(value, "it");
  const names = [...found.quasi, ...found.questions].map((part) => part.name.toLowerCase());
  if (new Set(names).size < names.length) {
    throw refused("quasi and questions", "must have distinct names, also without regard to case");
  }
  if ((found.tokens === "blind") !== (found.blind_key !== null)) {
    throw refused("blind_key", "must be given if tokens are blind, and only then");
  }
  if (found.blind_key !== null && !isModulus(found.blind_key)) {
    throw refused("blind_key", "must be an odd number of 2048 to 4096 bits, in base64url");
  }
  if (found.closes !== null && !isDay(found.closes)) throw refused("closes", "must be a day such as 2027-06-30");
  const draws = checkedDraws(found.questions);
  const questions = found.questions.map((one, at) => {
    return Object.freeze({ ...one, kind: /** @type {const} */ ("question"), l: one.mechanism.l, draw: draws[at] });
  });
  const parts = found.linked ? [questions] : questions.map((one) => [one]);
  return { ...found, questions, parts, reportBytes: reportBytes(found.quasi, parts, found.tokens) };
}

/** @param {string | Uint8Array | object} signed */
function unpack(signed) {
  let form = signed;
  if (typeof signed === "string" || signed instanceof Uint8Array) {
    try {
      form = JSON.parse(typeof signed === "string" ? signed : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(signed));
    } catch {
      throw new DeviceError("survey", "must be JSON with survey, signature and public_key");
    }
  }
  const base64 = (/** @type {RegExp} */ pattern) => (/** @type {unknown} */ text, /** @type {string} */ where) => {
    const bytes = typeof text === "string" && pattern.test(text) ? fromBase64(text) : null;
    if (bytes === null) throw refused(where, "must be in base64");
    return bytes;
  };
  const rules = { survey: base64(/^/), signature: base64(/^.{86}==$/), public_key: base64(/^.{43}=$/) };
  const { survey: raw, signature, public_key: publicKey } = object(rules)(form, "it");
  return { raw, signature, publicKey };
}

/** @param {Uint8Array<ArrayBuffer>} raw @param {Uint8Array<ArrayBuffer>} signature @param {Uint8Array<ArrayBuffer>} publicKey */
async function verify(raw, signature, publicKey) {
  let key;
  try {
    key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  } catch (error) {
    if (/** @type {Error} */ (error).name === "NotSupportedError" || !(await knowsEd25519())) {
      throw new DeviceError("survey", "cannot be verified: this browser does not know Ed25519 signatures, a newer one does");
    }
    throw new DeviceError("survey", "must have the public key of its collector");
  }
  if (!(await crypto.subtle.verify("Ed25519", key, signature, raw))) {
    throw new DeviceError("survey", "must be what its collector signed, but the signature does not fit");
  }
}

/** @returns {Promise<boolean>} */
async function knowsEd25519() {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    return true;
  } catch {
    return false;
  }
}

/** @param {ReturnType<typeof choice>} found @param {string} where @returns {Choice} */
function withValues(found, where) {
  if (!areDistinct(found.values)) throw refused(`${where}.values`, "must be distinct");
  return Object.freeze({ ...found, labels: found.values });
}

/** @param {ReturnType<typeof ranges>} found @param {string} where @returns {Ranges} */
function withLabels(found, where) {
  const { low, cuts, high } = found;
  const last = cuts[cuts.length - 1];
  const starts = low === null ? cuts : [low, ...cuts];
  // The last range may be of one number: `high` is part of it, and a cut is the first number of its range.
  if (starts.some((start, at) => at > 0 && starts[at - 1] >= start) || (high !== null && last > high)) {
    throw refused(where, "must have low, cuts and high that ascend");
  }
  const between = (/** @type {number} */ a, /** @type {number} */ b) => (a === b ? `${a}` : `${a}-${b}`);
  const labels = [
    low === null ? `below ${cuts[0]}` : between(low, cuts[0] - 1),
    ...cuts.slice(1).map((next, at) => between(cuts[at], next - 1)),
    high === null ? `${last} or more` : between(last, high),
  ];
  return Object.freeze({ ...found, labels: Object.freeze(labels) });
}

/** @param {string} text @returns {boolean} Whether a key with this modulus can sign blindly. */
function isModulus(text) {
  const modulus = bytesToBig(fromBase64url(text) ?? new Uint8Array(0));
  return bitLength(modulus) >= LEAST_BITS && bitLength(modulus) <= MOST_BITS && modulus % 2n === 1n;
}

/** @param {string} text Digits in the form of a day. @returns {boolean} Whether the calendar has it. */
function isDay(text) {
  const day = new Date(`${text}T00:00:00Z`);
  return !text.startsWith("0000") && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** @param {readonly (Ranges | Choice)[]} about @param {readonly (readonly Question[])[]} parts @param {Survey["tokens"]} tokens */
function reportBytes(about, parts, tokens) {
  const known = about.reduce((sum, part) => sum + part.name.length + 10, 0);
  const sets = parts.map((part) => part.reduce((sum, one) => sum + one.name.length + 6 + 5 * one.l, 0));
  return Math.ceil((ENVELOPE + known + Math.max(...sets) + EXTRA[tokens]) / STEP) * STEP;
}
