/** Canonical JSON (RFC 8785): sorted names that occur once, no blanks, and numbers as JavaScript writes them. */

/** The greatest length of a survey, in bytes. */
export const MOST_BYTES = 256_000;

/** How many lists and objects may stand within each other. */
const DEEPEST = 10;

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * @param {Uint8Array} bytes
 * @returns {unknown} What the bytes say; no other reader can understand them differently.
 * @throws {SyntaxError} With the broken rule.
 */
export function readCanonical(bytes) {
  if (bytes.length > MOST_BYTES) throw new SyntaxError(`must be at most ${MOST_BYTES / 1000} kB long`);
  let text, value;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError("must be JSON in UTF-8");
  }
  if (written(value, 0) !== text) throw new SyntaxError("must be canonical JSON (RFC 8785)");
  return value;
}

/** @param {any} value @param {number} depth @returns {string} */
function written(value, depth) {
  if (depth > DEEPEST) throw new SyntaxError(`must be nested at most ${DEEPEST} levels deep`);
  if (Array.isArray(value)) return `[${value.map((part) => written(part, depth + 1)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${written(name, depth)}:${written(value[name], depth + 1)}`).join(",")}}`;
  }
  if (typeof value === "string" && LONE_SURROGATE.test(value)) throw new SyntaxError("must be Unicode");
  if (typeof value === "number" && !isExact(value)) throw new SyntaxError("must have numbers that are exact everywhere");
  return JSON.stringify(value);
}

/** @param {number} number Digits alone are a whole number to other languages, which must be exact. */
const isExact = (number) => Number.isFinite(number) && (!/^-?\d+$/.test(String(number)) || Number.isSafeInteger(number));
