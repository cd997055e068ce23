/** The collector's server, as a device sees it: no cookies, no referrer, nothing that the reports do not need. */
import { joined } from "./bytes.js";
import { DeviceError } from "./errors.js";
import { readSurvey } from "./survey.js";

const MOST_BYTES = 400_000;

/** @type {Record<number, string>} */
const RULES = {
  403: "does not take this invitation, or it was used on another device",
  410: "does not take answers to this survey any more",
  413: "refused the report, which is too long for it",
  422: "refused the report: it does not know the invitation, or it is of another version than this module",
  429: "gets too many reports now; try again in a minute",
  503: "cannot store reports now; try again in a minute",
};

/**
 * @typedef {object} Server
 * @property {(expected?: {fingerprint?: string}) => Promise<import("./survey.js").Survey>} survey Its survey, verified.
 * @property {(bytes: Uint8Array<ArrayBuffer>) => Promise<void>} report Resolves when the report is stored.
 * @property {import("./tokens.js").Issue} issue Resolves to the blind signature.
 */

/**
 * @param {string} [url] Its address, or the link that people open; the server of the page unless it is given.
 * @param {typeof fetch} [send]
 * @returns {Server}
 */
export function connect(url = "", send = globalThis.fetch) {
  const { base, fingerprint } = addressOf(url);

  /** @param {string} path @param {Uint8Array<ArrayBuffer> | string | null} body @returns {Promise<Response>} */
  async function ask(path, body) {
    /** @type {RequestInit} */
    const request = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" };
    if (body !== null) Object.assign(request, { method: "POST", body, headers: { "content-type": "application/json" } });
    let answered;
    try {
      answered = await send(`${base}${path}`, request);
    } catch {
      throw unreached();
    }
    if (!answered.ok) throw new DeviceError("server", RULES[answered.status] ?? "could not do what was asked; try again later");
    return answered;
  }

  return {
    async survey(expected) {
      const known = expected?.fingerprint ?? fingerprint;
      return readSurvey(await limited(await ask("v1/survey", null)), { fingerprint: known });
    },
    async report(bytes) {
      await ask("v1/reports", bytes);
    },
    async issue(asked) {
      const said = new TextDecoder().decode(await limited(await ask("v1/tokens", JSON.stringify(asked))));
      const [, signature] = /^\{"signature": ?"([A-Za-z0-9_-]+)"\}\s*$/.exec(said) ?? [];
      return signature ?? "";
    },
  };
}

/**
 * @param {string} url
 * @returns {{base: string, fingerprint: string | undefined}} Where endpoints begin, and the key that the link names.
 */
function addressOf(url) {
  const base = (/** @type {string} */ path) => (path === "" || path.endsWith("/") ? path : `${path}/`);
  if (!/^[a-z]+:/i.test(url)) return { base: base(url), fingerprint: undefined };
  let parts;
  try {
    parts = new URL(url);
  } catch {
    throw new DeviceError("url", "must be the address of a survey, such as https://example.org");
  }
  // Without TLS, anybody on the way could read and change what is sent.
  const near = parts.protocol === "http:" && /^(localhost|127\.[0-9.]+|\[::1\]|.+\.onion)$/.test(parts.hostname);
  if (parts.protocol !== "https:" && !near) throw new DeviceError("url", "must begin with https://, unless it is of this machine");
  if (parts.username + parts.password !== "") throw new DeviceError("url", "must not have a name or a password in it");
  const fingerprint = new URLSearchParams(parts.hash.slice(1)).get("k") ?? undefined;
  return { base: base(parts.origin + parts.pathname), fingerprint };
}

/** @param {Response} answered @returns {Promise<Uint8Array<ArrayBuffer>>} Its bytes, which must not be too many. */
async function limited(answered) {
  const parts = [];
  let length = 0;
  try {
    for (const reader = /** @type {ReadableStream} */ (answered.body).getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return joined(parts);
      parts.push(value);
      length += value.length;
      if (length > MOST_BYTES) break;
    }
  } catch {
    throw unreached();
  }
  throw new DeviceError("server", "must not answer at such length");
}

const unreached = () => new DeviceError("server", "cannot be reached; try again, which never counts twice");
