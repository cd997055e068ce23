/**
 * Answer a survey so that the true value never leaves the device.
 *
 * @module ldiversity-device
 */
import { DeviceError } from "./errors.js";
import { conflicts, entryOf } from "./ledger.js";
import { codesOf, readable, writeReport } from "./report.js";
import { browserStore } from "./store.js";
import { readSurvey } from "./survey.js";
import { connect } from "./server.js";
import { tokenFor } from "./tokens.js";

export { DeviceError } from "./errors.js";
export { connect } from "./server.js";
export { browserStore, memoryStore } from "./store.js";
export { readSurvey } from "./survey.js";
export { DeviceSecret } from "./words.js";

const CHECK_BYTES = 16;

/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {object} Options
 * @property {Store} [store] Where the secret and the ledger are kept; the browser's database unless it is given.
 * @property {string} [url] Where the collector's server is; the server of the page unless it is given.
 * @property {string} [invitation] The code of the person's invitation, if the survey wants one.
 * @property {string} [fingerprint] Of the collector's key, if the person knows it.
 * @property {typeof fetch} [fetch]
 */
/**
 * @typedef {object} Prepared A report that is ready to be sent.
 * @property {import("./report.js").Line[]} lines What it says, for people.
 * @property {Uint8Array<ArrayBuffer>} bytes Exactly what is sent.
 */
/**
 * @typedef {object} Preview
 * @property {Survey} survey
 * @property {readonly Prepared[]} reports One for each part of the survey.
 * @property {readonly import("./ledger.js").Warning[]} warnings What must be asked before anything is sent.
 * @property {(agreed?: {agreed?: boolean}) => Promise<void>} send Sends the reports; resolves when all are stored.
 */

/**
 * Hide the answers, and show what will be sent. Nothing about the answers leaves the device before `send`.
 *
 * @param {Survey | string | Uint8Array | object} survey A survey that `readSurvey` returned, or a signed one as JSON.
 * @param {Readonly<Record<string, string | number>>} answers By name: a number for ranges, otherwise one of the values.
 * @param {Options} [options]
 * @returns {Promise<Preview>}
 */
export async function answer(survey, answers, options = {}) {
  const read = isRead(survey) ? survey : await readSurvey(survey, { fingerprint: options.fingerprint });
  const { quasi, questions } = codesOf(read, answers);
  const store = options.store ?? browserStore();
  const server = connect(options.url, options.fetch);
  const secret = await store.secret();
  const asked = await Promise.all(read.questions.map(entryOf));
  const warnings = conflicts(asked, await store.entries());
  /** @type {Prepared[]} */
  const reports = [];
  for (const [part, members] of read.parts.entries()) {
    const sets = new Map();
    for (const { name, values, draw } of members) {
      sets.set(name, await secret.hide(draw, name, values, /** @type {number} */ (questions.get(name))));
    }
    const { token, signature } = await tokenFor(read, part, secret, options.invitation ?? null, server.issue);
    const bytes = writeReport(read, read.id, token, quasi, sets, signature);
    reports.push(Object.freeze({ lines: readable(read, members, quasi, sets), bytes }));
  }
  return Object.freeze({
    survey: read,
    reports: Object.freeze(reports),
    warnings,
    async send({ agreed = false } = {}) {
      // Another tab may have answered in the meantime.
      if (!agreed && conflicts(asked, await store.entries()).length > 0) {
        throw new DeviceError("send", "must be agreed to first, as this device may have answered the same question before");
      }
      // Sets of a secret that is gone would stand in the ledger of the next one, which draws others.
      if (!(await isSame(secret, await store.secret()))) {
        throw new DeviceError("send", "must be prepared again, as the secret of this device was erased in the meantime");
      }
      // What may have left the device is in the ledger, also if the connection breaks.
      await store.record(asked);
      for (const { bytes } of shuffled(reports)) await server.report(bytes);
    },
  });
}

/**
 * @param {import("./words.js").DeviceSecret} one
 * @param {import("./words.js").DeviceSecret} other
 * @returns {Promise<boolean>} Whether they draw the same sets.
 */
async function isSame(one, other) {
  const [first, second] = await Promise.all([one, other].map((secret) => secret.derive("device-check", new Uint8Array(0), CHECK_BYTES)));
  return first.every((byte, at) => byte === second[at]);
}

/** @param {unknown} survey @returns {survey is Survey} */
const isRead = (survey) => typeof survey === "object" && survey !== null && "reportBytes" in survey && Object.isFrozen(survey);

/**
 * The reports of a survey that is not linked go in a random order.
 *
 * @template T
 * @param {readonly T[]} items
 * @returns {T[]}
 */
function shuffled(items) {
  const keyed = items.map((item) => ({ item, key: crypto.getRandomValues(new Uint32Array(2)) }));
  return keyed.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1]).map(({ item }) => item);
}
