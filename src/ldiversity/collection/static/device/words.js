/** The random words of a device: a pseudo-random function of its secret, the question and, where needed, the answer. */
import { digest, joined, utf8 } from "./bytes.js";

const SECRET_BYTES = 32;
const TOKEN_BYTES = 16;

/**
 * The secret of a device, from which all its draws and tokens follow. It is a key that no script can read out.
 *
 * A question's key is HKDF-SHA256 of the secret. Its words are the key stream of AES-256 in counter mode, eight bytes
 * each; the first eight bytes of the counter are zero, or the answer's code plus one where a draw needs it.
 */
export class DeviceSecret {
  /** @param {CryptoKey} key A key for HKDF that cannot be read out. */
  constructor(key) {
    if (key.algorithm.name !== "HKDF" || key.extractable) throw new TypeError("secret");
    /** @readonly */
    this.key = key;
  }

  /** @returns {Promise<DeviceSecret>} A new one; its bytes are forgotten at once. */
  static async fresh() {
    const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
    const secret = await DeviceSecret.from(bytes);
    bytes.fill(0);
    return secret;
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes 32 random bytes. @returns {Promise<DeviceSecret>} */
  static async from(bytes) {
    if (bytes.length !== SECRET_BYTES) throw new TypeError("secret");
    return new DeviceSecret(await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey", "deriveBits"]));
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} context
   * @param {number | null} answer The code where the draw is keyed by the answer.
   * @param {number} n
   * @returns {Promise<bigint[]>} The first `n` words for a question.
   */
  async words(context, answer, n) {
    const rule = derivation("device-draw", await digest(context));
    const key = await crypto.subtle.deriveKey(rule, this.key, { name: "AES-CTR", length: 256 }, false, ["encrypt"]);
    const counter = new Uint8Array(16);
    new DataView(counter.buffer).setBigUint64(0, answer === null ? 0n : BigInt(answer) + 1n);
    const stream = await crypto.subtle.encrypt({ name: "AES-CTR", counter, length: 64 }, key, new Uint8Array(8 * n));
    const view = new DataView(stream);
    return Array.from({ length: n }, (_, at) => view.getBigUint64(8 * at));
  }

  /**
   * @param {import("./draw.js").Draw} draw
   * @param {string} name
   * @param {readonly string[]} values
   * @param {number} code
   * @returns {Promise<number[]>} The set of this device for an answer; the same forever.
   */
  async hide(draw, name, values, code) {
    const context = draw.context(name, values);
    for (let n = draw.firstWords; ; n *= 2) {
      const found = draw.sample(code, await this.words(context, draw.keyedByAnswer ? code : null, n));
      if (found !== null) return found;
    }
  }

  /** @param {string} surveyId @param {number} part @returns {Promise<Uint8Array<ArrayBuffer>>} The token of a report. */
  token(surveyId, part) {
    return this.derive("device-token", utf8(`${surveyId}/${part}`), TOKEN_BYTES);
  }

  /**
   * @param {string} purpose
   * @param {Uint8Array<ArrayBuffer>} context
   * @param {number} length
   * @returns {Promise<Uint8Array<ArrayBuffer>>} Bytes for one purpose, which tell nothing of any other.
   */
  async derive(purpose, context, length) {
    return new Uint8Array(await crypto.subtle.deriveBits(derivation(purpose, context), this.key, 8 * length));
  }
}

/** @param {string} purpose @param {Uint8Array<ArrayBuffer>} context */
function derivation(purpose, context) {
  const info = joined([utf8(`ldiversity/1/${purpose}\0`), context]);
  return { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info };
}
