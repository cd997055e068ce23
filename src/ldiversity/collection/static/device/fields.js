/** Reading typed fields from JSON: each rule returns the value or refuses it, and never repeats what was there. */
import { DeviceError } from "./errors.js";

/**
 * @template T
 * @typedef {(value: unknown, where: string) => T} Rule
 */

const MARKUP = /<[A-Za-z/!?]|&#?[\p{L}\p{N}_]+;/u;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;
const OTHER_BLANKS = /(?! )[\p{Zs}\u3164\uffa0\u2800]/u;
const IGNORED = /\u034f|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
const MANY_MARKS = /[\p{Mn}\p{Me}]{5}/u;

/** @param {string} where @param {string} rule @returns {DeviceError} */
export const refused = (where, rule) => new DeviceError("survey", `${where} ${rule}`);

/** @param {unknown} value @param {string} where @returns {Record<string, unknown>} */
function asObject(value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused(where, "must be an object");
  return /** @type {Record<string, unknown>} */ (value);
}

/**
 * @template {Record<string, Rule<unknown>>} R
 * @param {R} rules One per field.
 * @param {readonly string[]} [optional] Fields that may be missing, and are then null.
 * @returns {Rule<{[K in keyof R]: ReturnType<R[K]>}>}
 */
export const object = (rules, optional = []) => (value, where) => {
  const given = asObject(value, where);
  if (!Object.keys(given).every((name) => Object.hasOwn(rules, name))) {
    throw refused(where, "must not have unknown fields");
  }
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const [name, rule] of Object.entries(rules)) {
    const inside = where === "it" ? name : `${where}.${name}`;
    const isGiven = Object.hasOwn(given, name);
    if (!isGiven && !optional.includes(name)) throw refused(inside, "must be given");
    found[name] = isGiven ? rule(given[name], inside) : null;
  }
  return /** @type {any} */ (Object.freeze(found));
};

/**
 * @template T
 * @param {Record<string, Rule<T>>} kinds A rule for each value of the field `kind`.
 * @returns {Rule<T>}
 */
export const byKind = (kinds) => (value, where) => {
  const kind = asObject(value, where).kind;
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) throw refused(`${where}.kind`, "must be a known kind");
  return kinds[kind](value, where);
};

/**
 * @template T
 * @param {Rule<T>} rule
 * @param {number} least
 * @param {number} most
 * @returns {Rule<readonly T[]>}
 */
export const list = (rule, least, most) => (value, where) => {
  if (!Array.isArray(value)) throw refused(where, "must be a list");
  if (value.length < least || value.length > most) throw refused(where, `must have ${least} to ${most} entries`);
  return Object.freeze(value.map((one, at) => rule(one, `${where}[${at}]`)));
};

/**
 * @template T
 * @param {Rule<T>} rule
 * @returns {Rule<T | null>}
 */
export const orNull = (rule) => (value, where) => (value === null ? null : rule(value, where));

/**
 * @template {string} T
 * @param {readonly T[]} texts
 * @returns {Rule<T>}
 */
export const oneOf = (...texts) => (value, where) => {
  const found = texts.find((text) => text === value);
  if (found === undefined) throw refused(where, `must be ${texts.join(" or ")}`);
  return found;
};

/** @type {Rule<boolean>} */
export const truth = (value, where) => {
  if (typeof value !== "boolean") throw refused(where, "must be true or false");
  return value;
};

/** @param {number} low @param {number} high @returns {Rule<number>} */
export const whole = (low, high) => (value, where) => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < low || value > high) {
    throw refused(where, `must be a whole number from ${low} to ${high}`);
  }
  return value;
};

/** @param {(number: number) => boolean} holds @param {string} rule @returns {Rule<number>} */
export const double = (holds, rule) => (value, where) => {
  if (typeof value !== "number" || !holds(value)) throw refused(where, rule);
  return value;
};

/** @param {RegExp} pattern @param {string} rule @returns {Rule<string>} */
export const matching = (pattern, rule) => (value, where) => {
  if (typeof value !== "string" || !pattern.test(value)) throw refused(where, rule);
  return value;
};

/** @param {number} most @returns {Rule<string>} Any text that is not too long. */
export const text = (most) => (value, where) => {
  if (typeof value !== "string") throw refused(where, "must be a text");
  if ([...value].length > most) throw refused(where, `must have at most ${most} characters`);
  return value;
};

/**
 * Texts that people read: nothing in them may hide, turn or imitate something else.
 *
 * @param {number} most
 * @param {boolean} [lines] Whether it may have several lines.
 * @returns {Rule<string>}
 */
export const plainText = (most, lines = false) => (value, where) => {
  const said = text(most)(value, where);
  if (said !== said.normalize("NFC")) throw refused(where, "must be in Unicode's composed form (NFC)");
  if (INVISIBLE.test(said.replaceAll("\n", "")) || OTHER_BLANKS.test(said) || IGNORED.test(said)) {
    throw refused(where, "must not have invisible, control or turning characters");
  }
  if (MANY_MARKS.test(said)) throw refused(where, "must have at most 4 marks on a letter");
  if (MARKUP.test(said)) throw refused(where, "must not have markup");
  if (said === "" || said !== said.trim()) throw refused(where, "must not be blank, nor begin or end with blanks");
  if (!lines && said.includes("\n")) throw refused(where, "must be one line");
  return said;
};

/**
 * @param {string} text
 * @returns {string} The text without regard to case: full case folding of Unicode, letter by letter.
 */
export const caseFold = (text) =>
  Array.from(text, (letter) => {
    if (letter === "\u0131") return letter; // The dotless i is a letter of its own.
    return [...letter.toLowerCase().toUpperCase()].map((one) => one.toLowerCase()).join("");
  }).join("");

/** @param {readonly string[]} texts @returns {boolean} Whether no two are alike apart from case, width and blanks. */
export function areDistinct(texts) {
  const alike = (/** @type {string} */ one) => caseFold(one.normalize("NFKC")).split(/\s+/u).filter(Boolean).join(" ");
  return new Set(texts.map(alike)).size === texts.length;
}
