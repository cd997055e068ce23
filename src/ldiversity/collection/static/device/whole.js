/** Whole numbers from public weights and random words: BigInt alone, so that no browser rounds. */

/** The greatest weight may be up to two to this power times the least. */
const MOST_BITS = 64;

const WORD = 64;

/** @param {bigint} number At least zero. @returns {number} How many bits it has. */
export function bitLength(number) {
  if (number === 0n) return 0;
  const digits = number.toString(16);
  return 4 * (digits.length - 1) + 32 - Math.clz32(parseInt(digits[0], 16));
}

/** @param {number} weight @returns {bigint} The 64 bits of a double. */
function doubleBits(weight) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, weight);
  return view.getBigUint64(0);
}

/** @param {number} weight @returns {string} The sixteen hexadecimal digits of a double, the same in every language. */
export const doubleText = (weight) => doubleBits(weight).toString(16).padStart(16, "0");

/**
 * Whole numbers with exactly the ratios of positive doubles: each double is a whole number times a power of two.
 *
 * @param {readonly number[]} weights
 * @returns {bigint[] | null} Null when a weight is not positive and finite, or they differ by more than 64 powers of two.
 */
export function wholeWeights(weights) {
  if (!weights.every((weight) => weight > 0 && weight < Infinity)) return null;
  const parts = weights.map(mantissaAndExponent);
  const exponents = parts.map(([, exponent]) => exponent);
  const least = Math.min(...exponents);
  if (Math.max(...exponents) - least > MOST_BITS) return null;
  return parts.map(([mantissa, exponent]) => mantissa << BigInt(exponent - least));
}

/**
 * @param {readonly number[]} weights Positive doubles.
 * @returns {number} How many bits stand for one in the whole numbers of these weights; below zero if all are huge.
 */
export const bitsOfOne = (weights) => 1075 - Math.min(...weights.map((weight) => mantissaAndExponent(weight)[1]));

/** @param {number} weight @returns {[bigint, number]} A whole number of 53 bits, and its exponent as doubles store it. */
function mantissaAndExponent(weight) {
  const bits = doubleBits(weight);
  const stored = Number(bits >> 52n);
  const fraction = bits & ((1n << 52n) - 1n);
  if (stored > 0) return [fraction | (1n << 52n), stored];
  const missing = 53 - bitLength(fraction);
  return [fraction << BigInt(missing), 1 - missing];
}

/**
 * A whole number below `bound`, each exactly equally likely: words are read from the left, and a number that is not
 * below the bound is rejected.
 *
 * @param {bigint} bound
 * @param {readonly bigint[]} words
 * @returns {bigint | null} Null if the words were too few.
 */
export function drawBelow(bound, words) {
  const bits = bitLength(bound - 1n);
  if (bits === 0) return 0n;
  const each = Math.ceil(bits / WORD);
  const drop = BigInt(WORD * each - bits);
  for (let at = 0; at + each <= words.length; at += each) {
    let number = 0n;
    for (let word = at; word < at + each; word += 1) number = (number << 64n) | words[word];
    number >>= drop;
    if (number < bound) return number;
  }
  return null;
}
