/** Blind signatures (RFC 9474, RSABSSA with SHA-384): the collector signs a token without seeing it. */
import { bigToBytes, bytesToBig, digest, joined } from "./bytes.js";
import { bitLength } from "./whole.js";

const HASH = "SHA-384";
const HASH_BYTES = 48;
const PREFIX_BYTES = 32;
const FIRST_EXPONENT = 65537;
const LEAST_BITS = 2048;
const MOST_BITS = 4096;

/**
 * @typedef {object} PublicKey
 * @property {bigint} n
 * @property {bigint} e
 */

/**
 * @param {Uint8Array} modulus The highest byte first.
 * @param {number} [part] The part of the survey that a token is for.
 * @returns {PublicKey | null} Null if the number cannot be the modulus of a good key.
 */
export function publicKey(modulus, part = 0) {
  const n = bytesToBig(modulus);
  return bitLength(n) < LEAST_BITS || bitLength(n) > MOST_BITS || n % 2n === 0n ? null : { n, e: BigInt(exponent(part)) };
}

/**
 * The collector does not see what it signs, so the exponent alone says for which part a token is.
 *
 * @param {number} part
 * @returns {number} 65537 for the first part, and the next prime for each further one.
 */
export function exponent(part) {
  let found = FIRST_EXPONENT;
  for (let more = part; more > 0; more -= 1) {
    do found += 2;
    while (!isPrime(found));
  }
  return found;
}

/** @param {number} odd @returns {boolean} */
function isPrime(odd) {
  for (let factor = 3; factor * factor <= odd; factor += 2) if (odd % factor === 0) return false;
  return true;
}

/**
 * The variants that end in "Randomized" put 32 random bytes before the message.
 *
 * @param {Uint8Array} message
 * @param {Uint8Array} [prefix] Random unless it is given.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function prepare(message, prefix = crypto.getRandomValues(new Uint8Array(PREFIX_BYTES))) {
  if (prefix.length !== PREFIX_BYTES) throw new RangeError("prefix");
  return joined([prefix, message]);
}

/**
 * @param {PublicKey} key
 * @param {Uint8Array<ArrayBuffer>} prepared
 * @param {Uint8Array<ArrayBuffer>} salt 48 random bytes, or none in the variants with "PSSZERO".
 * @param {bigint} factor Random, from 1 to n - 1.
 * @returns {Promise<{blinded: Uint8Array<ArrayBuffer>, inverse: bigint}>} What is sent, and what takes the factor away.
 */
export async function blind(key, prepared, salt, factor) {
  const bits = bitLength(key.n);
  const message = bytesToBig(await encode(prepared, bits - 1, salt));
  const inverse = inverseOf(factor, key.n);
  if (inverse === null || inverseOf(message, key.n) === null) throw new RangeError("blinding");
  const blinded = (message * power(factor, key.e, key.n)) % key.n;
  return { blinded: bigToBytes(blinded, Math.ceil(bits / 8)), inverse };
}

/**
 * @param {PublicKey} key
 * @param {Uint8Array<ArrayBuffer>} prepared
 * @param {Uint8Array} blindSignature
 * @param {bigint} inverse
 * @param {number} [saltBytes]
 * @returns {Promise<Uint8Array<ArrayBuffer> | null>} The signature of the prepared message; null if it does not hold.
 */
export async function finalize(key, prepared, blindSignature, inverse, saltBytes = HASH_BYTES) {
  const length = Math.ceil(bitLength(key.n) / 8);
  if (blindSignature.length !== length || bytesToBig(blindSignature) >= key.n) return null;
  const signature = bigToBytes((bytesToBig(blindSignature) * inverse) % key.n, length);
  return (await verifies(key, prepared, signature, saltBytes)) ? signature : null;
}

/**
 * @param {PublicKey} key
 * @param {Uint8Array<ArrayBuffer>} prepared
 * @param {Uint8Array} signature
 * @param {number} [saltBytes]
 * @returns {Promise<boolean>} Whether it is the key's RSASSA-PSS signature of the message (RFC 8017, 8.1.2 and 9.1.2).
 */
export async function verifies(key, prepared, signature, saltBytes = HASH_BYTES) {
  const bits = bitLength(key.n);
  const number = bytesToBig(signature);
  if (signature.length !== Math.ceil(bits / 8) || number >= key.n) return false;
  const length = Math.ceil((bits - 1) / 8);
  const opened = power(number, key.e, key.n);
  if (bitLength(opened) > bits - 1) return false;
  const encoded = bigToBytes(opened, length);
  const hash = encoded.slice(length - HASH_BYTES - 1, length - 1);
  const masked = encoded.slice(0, length - HASH_BYTES - 1);
  const block = xor(masked, await mask(hash, masked.length));
  block[0] &= 0xff >> (8 * length - (bits - 1));
  const salt = block.slice(block.length - saltBytes);
  const again = await encode(prepared, bits - 1, salt);
  return again.every((byte, at) => byte === encoded[at]);
}

/**
 * EMSA-PSS-ENCODE with SHA-384 (RFC 8017, 9.1.1).
 *
 * @param {Uint8Array<ArrayBuffer>} message
 * @param {number} bits
 * @param {Uint8Array} salt
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function encode(message, bits, salt) {
  const length = Math.ceil(bits / 8);
  const hash = await digest(joined([new Uint8Array(8), await digest(message, HASH), salt]), HASH);
  const zeros = new Uint8Array(length - salt.length - HASH_BYTES - 2);
  const block = joined([zeros, Uint8Array.of(1), salt]);
  const masked = xor(block, await mask(hash, block.length));
  masked[0] &= 0xff >> (8 * length - bits);
  return joined([masked, hash, Uint8Array.of(0xbc)]);
}

/** @param {Uint8Array} seed @param {number} length @returns {Promise<Uint8Array>} MGF1 (RFC 8017, B.2.1). */
async function mask(seed, length) {
  const parts = [];
  for (let counter = 0; counter * HASH_BYTES < length; counter += 1) {
    parts.push(await digest(joined([seed, bigToBytes(BigInt(counter), 4)]), HASH));
  }
  return joined(parts).slice(0, length);
}

/** @param {Uint8Array} one @param {Uint8Array} other @returns {Uint8Array<ArrayBuffer>} */
const xor = (one, other) => Uint8Array.from(one, (byte, at) => byte ^ other[at]);

/** @param {bigint} base @param {bigint} exponent @param {bigint} modulus @returns {bigint} */
export function power(base, exponent, modulus) {
  let result = 1n;
  for (let square = base % modulus; exponent > 0n; exponent >>= 1n, square = (square * square) % modulus) {
    if (exponent & 1n) result = (result * square) % modulus;
  }
  return result;
}

/** @param {bigint} number @param {bigint} modulus @returns {bigint | null} Null if they share a factor. */
export function inverseOf(number, modulus) {
  let [a, b, x, y] = [((number % modulus) + modulus) % modulus, modulus, 1n, 0n];
  while (b > 0n) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return a === 1n ? ((x % modulus) + modulus) % modulus : null;
}
