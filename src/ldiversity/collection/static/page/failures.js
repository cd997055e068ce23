/** One sentence for each thing that can go wrong, with a way out. None of them repeats what was answered. */

/** @typedef {{ sentence: string, again: boolean }} Failure Whether trying again can help. */

const STORAGE =
  "This window does not let the page keep a key, and without one it cannot hide the same answer in the same set again. " +
  "Open the page in an ordinary window, not in a private one.";
const NOT_SECURE =
  "This page works only over https, because browsers allow encryption only there. " +
  "Ask the collector for an address that begins with https.";
const NO_SIGNATURES =
  "This browser is too old to check the collector's signature. " +
  "Use Chrome or Edge 137, Firefox 129, Safari 17, or a later one.";
const UNREACHED = "The server cannot be reached. Check your connection and try again; nothing is counted twice.";
const CLOSED = "The survey is closed and takes no more answers. Nothing was kept of yours.";
const BUSY = "Many people are answering right now. Wait a minute and try again; nothing is counted twice.";
const DOWN = "The server cannot store answers at the moment. Try again in a minute; nothing is counted twice.";
const REFUSED = "The server refused what was sent, and kept nothing of it. Reload the page and answer again, or tell the collector.";
const NOT_INVITED =
  "The server does not know this invitation, or it was used on another device. Go back and check its 22 letters.";
const ANSWERED = "Another window of this browser has answered something like this, or erased the key, in the meantime. Nothing was sent. Reload the page.";
const FAULT = "The page has a fault, so nothing was sent. Reload it, or tell the collector.";

/** @returns {Promise<string>} Why this browser cannot hide an answer; empty if it can. */
export async function inability() {
  if (!globalThis.isSecureContext || globalThis.crypto?.subtle === undefined) return NOT_SECURE;
  if (globalThis.indexedDB === undefined || globalThis.indexedDB === null) return STORAGE;
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  } catch {
    return NO_SIGNATURES;
  }
  return "";
}

/**
 * @param {unknown} error What the device module raised.
 * @param {number} status Of the server's last answer; 0 if there was none.
 * @param {boolean} invited Whether the survey wants invitations: then a refusal is most likely about that.
 * @returns {Failure}
 */
export function failure(error, status, invited) {
  const field = /** @type {{field?: string}} */ (error)?.field;
  if (field === "storage") return { sentence: STORAGE, again: false };
  if (field === "survey") return { sentence: untrusted(/** @type {Error} */ (error)), again: false };
  if (field === "send") return { sentence: ANSWERED, again: false };
  if (field !== "server") return { sentence: FAULT, again: false };
  if (status === 410) return { sentence: CLOSED, again: false };
  if (status === 429) return { sentence: BUSY, again: true };
  if (status >= 500) return { sentence: DOWN, again: true };
  return status >= 400 ? { sentence: invited ? NOT_INVITED : REFUSED, again: false } : { sentence: UNREACHED, again: true };
}

/** @param {Error} error Its message is a rule that the survey broke, and repeats nothing of the survey. */
function untrusted(error) {
  return `This survey cannot be trusted, so nothing of it is used. ${error.message.replace(/^survey:/, "A survey")}`;
}
