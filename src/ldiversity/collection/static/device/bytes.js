/** Bytes and texts, the same in browsers and in Node. */

const ENCODER = new TextEncoder();

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} Its UTF-8 bytes. */
export const utf8 = (text) => /** @type {Uint8Array<ArrayBuffer>} */ (ENCODER.encode(text));

/** @param {Uint8Array} bytes @returns {string} Two letters a byte. */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array<ArrayBuffer>} All of them, one after another.
 */
export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} bytes @returns {string} Base64 in the letters of addresses, without padding. */
export function base64url(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * @param {string} text Base64 with its padding, and without blanks.
 * @returns {Uint8Array<ArrayBuffer> | null} Its bytes; null if it is not base64.
 */
export function fromBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/**
 * @param {string} text Base64 in the letters of addresses, without padding.
 * @returns {Uint8Array<ArrayBuffer> | null} Its bytes; null if the text is not the one way to write them.
 */
export function fromBase64url(text) {
  const padding = "=".repeat((4 - (text.length % 4)) % 4);
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
  return bytes !== null && base64url(bytes) === text ? bytes : null;
}

/** @param {bigint} number @param {number} length @returns {Uint8Array<ArrayBuffer>} The highest byte first. */
export function bigToBytes(number, length) {
  const digits = number.toString(16).padStart(2 * length, "0");
  return Uint8Array.from({ length }, (_, at) => parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}

/** @param {Uint8Array} bytes @returns {bigint} The first byte highest. */
export const bytesToBig = (bytes) => (bytes.length === 0 ? 0n : BigInt(`0x${hex(bytes)}`));

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} [name] @returns {Promise<Uint8Array<ArrayBuffer>>} */
export const digest = async (bytes, name = "SHA-256") => new Uint8Array(await crypto.subtle.digest(name, bytes));
