/** What all draws have in common, and the draws by partitions. */
import { utf8 } from "./bytes.js";

const OUTCOMES_PER_WORD = 2 ** 32;

/** A rule that hides one of `nValues` answers in a set of `l`. */
export class Draw {
  /**
   * @param {string} kind Its name in the context of keyed draws.
   * @param {boolean} keyedByAnswer Whether the words must be other ones for each answer.
   * @param {number} nValues
   * @param {number} l
   */
  constructor(kind, keyedByAnswer, nValues, l) {
    this.kind = kind;
    this.keyedByAnswer = keyedByAnswer;
    this.nValues = nValues;
    this.l = l;
  }

  /** @returns {number} How many words are usually enough; a caller doubles them where `sample` returns null. */
  get firstWords() {
    throw new TypeError("firstWords");
  }

  /**
   * @param {number} _code
   * @param {readonly bigint[]} _words
   * @returns {number[] | null} The set in ascending order; null if the words were too few.
   */
  sample(_code, _words) {
    throw new TypeError("sample");
  }

  /** @param {readonly number[]} _codes @returns {boolean} Whether a device can send this set. */
  admits(_codes) {
    throw new TypeError("admits");
  }

  /** @returns {boolean} Whether the shares of all answers follow from how often sets are published. */
  get isRecoverable() {
    throw new TypeError("isRecoverable");
  }

  /** @returns {(number | string)[]} Everything besides values and `l` that decides which set words draw. */
  structure() {
    throw new TypeError("structure");
  }

  /**
   * What the words of a device depend on besides its secret: the question, and not the survey.
   *
   * @param {string} name
   * @param {readonly string[]} values
   * @returns {Uint8Array<ArrayBuffer>}
   */
  context(name, values) {
    const parts = ["ldiversity-device/1", name, values.length, ...values, this.kind, this.l, ...this.structure()];
    return utf8(parts.map(netstring).join(""));
  }
}

/** @param {number | string} part @returns {string} The text with its length in bytes before it. */
function netstring(part) {
  // A list of sets has tens of thousands of numbers, which are one byte a digit.
  const length = typeof part === "number" ? String(part).length : utf8(part).length;
  return `${length}:${part},`;
}

/** @param {readonly number[]} codes @returns {boolean} Whether they are whole numbers in ascending order. */
export const ascending = (codes) => codes.every((code, at) => Number.isInteger(code) && (at === 0 || codes[at - 1] < code));

/** Words choose a partition of all values into sets, and an answer gets its set: two sets are equal or disjoint. */
export class PartitionDraw extends Draw {
  /** @type {number[][]} */ #grid;
  /** @type {Map<number, number>} */ #rowOf = new Map();
  /** @type {{bounds: bigint[], refused: bigint}[]} */ #chunks;

  /** @param {number} l @param {readonly (readonly number[])[]} grid No two values of a row may share a set. */
  constructor(l, grid) {
    super("partition", false, grid.length * grid[0].length, l);
    this.#grid = grid.map((row) => [...row]);
    this.#grid.forEach((row, at) => row.forEach((code) => this.#rowOf.set(code, at)));
    this.#chunks = this.#cut(this.#bounds());
  }

  get firstWords() {
    return this.#chunks.length + 2;
  }

  /** How many values are left over in each partition; above zero, two sets of a device may overlap. */
  get leftOver() {
    return this.nValues % this.l;
  }

  /** @param {number} code @param {readonly bigint[]} words */
  sample(code, words) {
    const stream = words[Symbol.iterator]();
    for (;;) {
      const numbers = this.#numbers(stream);
      if (numbers === null) return null;
      const dealt = this.#deal(numbers);
      const at = dealt.indexOf(code);
      if (at < this.nValues - this.leftOver) {
        const first = at - (at % this.l);
        return dealt.slice(first, first + this.l).sort((a, b) => a - b);
      }
    }
  }

  /** @param {readonly number[]} codes */
  admits(codes) {
    if (codes.length !== this.l || !ascending(codes)) return false;
    const rows = new Set(codes.map((code) => this.#rowOf.get(code)));
    return rows.size === this.l && !rows.has(undefined);
  }

  /** @returns {bigint} How many sets, all equally likely, a value can be in. */
  get setsPerValue() {
    let ways = 1n;
    for (let k = 1; k < this.l; k += 1) ways = (ways * BigInt(this.#grid.length - k)) / BigInt(k);
    return ways * BigInt(this.#grid[0].length) ** BigInt(this.l - 1);
  }

  /** Otherwise every set has one value of each row. */
  get isRecoverable() {
    return this.#grid.length > this.l;
  }

  structure() {
    return [this.#grid.length, this.#grid[0].length, ...this.#grid.flat()];
  }

  /** @returns {number[]} The bounds of all draws of a partition, in the order in which they are used. */
  #bounds() {
    const rows = this.#grid.length;
    const columns = this.#grid[0].length;
    const bounds = [];
    for (let position = 0; position < this.nValues - this.leftOver; position += 1) {
      if (position < rows) bounds.push(rows - position);
      if (columns > 1) bounds.push(columns - Math.floor(position / rows));
    }
    while (bounds.length > 0 && bounds[bounds.length - 1] === 1) bounds.pop();
    return bounds;
  }

  /** @param {number[]} bounds @returns {{bounds: bigint[], refused: bigint}[]} The draws that share each word. */
  #cut(bounds) {
    /** @type {bigint[][]} */
    const chunks = [[]];
    let product = 1;
    for (const bound of bounds) {
      if (product * bound > OUTCOMES_PER_WORD) {
        chunks.push([]);
        product = 1;
      }
      chunks[chunks.length - 1].push(BigInt(bound));
      product *= bound;
    }
    return chunks.map((chunk) => ({ bounds: chunk, refused: (1n << 64n) % chunk.reduce((a, b) => a * b, 1n) }));
  }

  /** @param {Iterator<bigint>} words @returns {number[] | null} All draws of one partition (Lemire 2019). */
  #numbers(words) {
    const numbers = [];
    for (const { bounds, refused } of this.#chunks) {
      for (;;) {
        const next = words.next();
        if (next.done) return null;
        let word = next.value;
        const before = numbers.length;
        for (const bound of bounds) {
          const wide = word * bound;
          numbers.push(Number(wide >> 64n));
          word = BigInt.asUintN(64, wide);
        }
        if (word >= refused) break;
        numbers.length = before;
      }
    }
    return numbers;
  }

  /** @param {number[]} numbers @returns {number[]} The values in the order of their positions. */
  #deal(numbers) {
    const rows = this.#grid.length;
    const columns = this.#grid[0].length;
    const order = this.#grid.map((_, at) => at);
    const left = this.#grid.map((row) => [...row]);
    const dealt = [];
    let used = 0;
    for (let position = 0; position < this.nValues; position += 1) {
      const at = position % rows;
      const column = (position - at) / rows;
      if (column === 0) {
        const chosen = at + (numbers[used++] ?? 0);
        [order[at], order[chosen]] = [order[chosen], order[at]];
      }
      const row = left[order[at]];
      if (columns > 1) {
        const chosen = column + (numbers[used++] ?? 0);
        [row[column], row[chosen]] = [row[chosen], row[column]];
      }
      dealt.push(row[column]);
    }
    return dealt;
  }
}
