/** Draws by public weights: an answer's set is one whole number, unranked. */
import { ascending, Draw } from "./partition.js";
import { bitLength, bitsOfOne, doubleText, drawBelow, wholeWeights } from "./whole.js";

/** Members of a set are equally likely up to one part in this many, as fitted weights are rounded doubles. */
const CLOSENESS = 20_000_000n;

/** The weights of a value's sets sum to one up to one part in this many. */
const OFF_ONE = 100_000_000n;

const MOST_GROUPS = 32;
const PRIME = 2n ** 61n - 1n;

/** A set has the product of its values' weights; an answer's sets are drawn in proportion, by unranking. */
export class WeightedDraw extends Draw {
  /** @param {string} kind @param {number} l @param {readonly number[]} weights */
  constructor(kind, l, weights) {
    super(kind, true, weights.length, l);
    const whole = wholeWeights(weights);
    if (whole === null) throw new RangeError("weights");
    /** @type {bigint[]} */
    this.whole = whole;
    this.weights = [...weights];
    /** @type {bigint[]} */
    this.totals = [];
  }

  /** Twice the words of a number below the greatest total, so that a rejected draw seldom asks again. */
  get firstWords() {
    const greatest = this.totals.reduce((a, b) => (a > b ? a : b));
    return 4 * Math.ceil(bitLength(greatest) / 64);
  }

  /** @param {number} _code @param {bigint} _rank @returns {number[]} The set at a rank below the answer's total. */
  setAt(_code, _rank) {
    throw new TypeError("setAt");
  }

  /** @param {number} code @param {readonly bigint[]} words */
  sample(code, words) {
    const rank = drawBelow(this.totals[code], words);
    return rank === null ? null : this.setAt(code, rank);
  }

  /** Whether every set is equally likely from each of its members, and every value has a set. */
  get isBalanced() {
    const products = this.totals.map((total, code) => this.whole[code] * total);
    const most = products.reduce((a, b) => (a > b ? a : b));
    const least = products.reduce((a, b) => (a < b ? a : b));
    return least > 0n && (most - least) * CLOSENESS <= most;
  }

  /** Whether the weights of the sets of each value sum to one, as a collector needs them. */
  get isNormalized() {
    const one = 1n << BigInt(Math.max(0, this.l * bitsOfOne(this.weights)));
    return this.totals.every((total, code) => {
      const off = this.whole[code] * total - one;
      return (off < 0n ? -off : off) * OFF_ONE <= one;
    });
  }

  /** @returns {(number | string)[]} */
  structure() {
    return this.weights.map(doubleText);
  }
}

/** Values stand on a row of nodes; a node may share a set with every node from `firstAfter[node]` on. */
export class ChainDraw extends WeightedDraw {
  /** @type {number[]} */ #nodeOf;
  /** @type {number[]} */ #firstAfter;
  /** @type {number[]} */ #before;
  /** @type {number[][]} */ #members;
  /** @type {bigint[]} */ #heights;
  /** @type {bigint[][]} */ #left;
  /** @type {bigint[][]} */ #right;

  /**
   * @param {number} l
   * @param {readonly number[]} nodeOf
   * @param {readonly number[]} firstAfter
   * @param {readonly number[]} weights
   */
  constructor(l, nodeOf, firstAfter, weights) {
    super("chain", l, weights);
    this.#nodeOf = [...nodeOf];
    this.#firstAfter = [...firstAfter];
    const size = firstAfter.length;
    this.#members = firstAfter.map(() => []);
    nodeOf.forEach((node, code) => this.#members[node].push(code));
    this.#before = firstAfter.map((_, node) => firstAfter.filter((first) => first <= node).length);
    this.#heights = this.#members.map((codes) => codes.reduce((sum, code) => sum + this.whole[code], 0n));
    // left[k][i] is the weight of k members among the nodes before i, right[k][i] among the nodes from i on.
    this.#left = [new Array(size + 1).fill(1n)];
    this.#right = [new Array(size + 1).fill(1n)];
    for (let k = 1; k < l; k += 1) {
      const left = new Array(size + 1).fill(0n);
      const right = new Array(size + 1).fill(0n);
      for (let i = 0; i < size; i += 1) {
        left[i + 1] = left[i] + this.#heights[i] * this.#left[k - 1][this.#before[i]];
      }
      for (let i = size - 1; i >= 0; i -= 1) {
        right[i] = right[i + 1] + this.#heights[i] * this.#right[k - 1][this.#firstAfter[i]];
      }
      this.#left.push(left);
      this.#right.push(right);
    }
    const totals = firstAfter.map((_, node) => {
      let total = 0n;
      for (let k = 0; k < l; k += 1) total += this.#with(k, node);
      return total;
    });
    this.totals = nodeOf.map((node) => totals[node]);
  }

  /** @param {number} code @param {bigint} rank */
  setAt(code, rank) {
    const node = this.#nodeOf[code];
    let k = 0;
    for (let part = this.#with(k, node); rank >= part; part = this.#with(k, node)) {
      rank -= part;
      k += 1;
    }
    const rightWeight = this.#right[this.l - 1 - k][this.#firstAfter[node]];
    const members = [code];
    this.#walk(members, this.#before[node] - 1, rank / rightWeight, k, this.#left, this.#before, -1);
    this.#walk(members, this.#firstAfter[node], rank % rightWeight, this.l - 1 - k, this.#right, this.#firstAfter, 1);
    return members.sort((a, b) => a - b);
  }

  /** @param {readonly number[]} codes */
  admits(codes) {
    if (codes.length !== this.l || !ascending(codes)) return false;
    if (codes[0] < 0 || codes[codes.length - 1] >= this.nValues) return false;
    const nodes = codes.map((code) => this.#nodeOf[code]).sort((a, b) => a - b);
    return nodes.every((node, at) => at === 0 || this.#firstAfter[nodes[at - 1]] <= node);
  }

  /**
   * Whether every two nodes beside each other can take each other's place in some set, and values that exclude each
   * other are fewer than one in `l`.
   */
  get isRecoverable() {
    const size = this.#firstAfter.length;
    const mostLeft = new Array(size + 1).fill(0);
    const mostRight = new Array(size + 1).fill(0);
    for (let i = 0; i < size; i += 1) mostLeft[i + 1] = Math.max(mostLeft[i], 1 + mostLeft[this.#before[i]]);
    for (let i = size - 1; i >= 0; i -= 1) mostRight[i] = Math.max(mostRight[i + 1], 1 + mostRight[this.#firstAfter[i]]);
    for (let i = 0; i + 1 < size; i += 1) {
      if (mostLeft[this.#before[i]] + mostRight[this.#firstAfter[i + 1]] < this.l - 1) return false;
    }
    const members = (/** @type {number} */ first, /** @type {number} */ after) =>
      this.#members.slice(first, after).reduce((sum, codes) => sum + codes.length, 0);
    return this.#firstAfter.every((after, node) => members(node, after) * this.l < this.nValues);
  }

  structure() {
    return [this.#firstAfter.length, ...this.#nodeOf, ...this.#firstAfter, ...super.structure()];
  }

  /** @param {number} k @param {number} node @returns {bigint} The weight of the sets with k members left of a node. */
  #with(k, node) {
    return this.#left[k][this.#before[node]] * this.#right[this.l - 1 - k][this.#firstAfter[node]];
  }

  /**
   * Add all members of one side, from the answer outwards.
   *
   * @param {number[]} members
   * @param {number} node
   * @param {bigint} rank
   * @param {number} more
   * @param {bigint[][]} tables
   * @param {number[]} ends
   * @param {number} step
   */
  #walk(members, node, rank, more, tables, ends, step) {
    for (; more > 0; more -= 1) {
      const rests = tables[more - 1];
      let rest = rests[ends[node]];
      for (let here = this.#heights[node] * rest; rank >= here; here = this.#heights[node] * rest) {
        rank -= here;
        node += step;
        rest = rests[ends[node]];
      }
      let within = rank / rest;
      rank %= rest;
      for (const code of this.#members[node]) {
        if (within < this.whole[code]) {
          members.push(code);
          break;
        }
        within -= this.whole[code];
      }
      node = step < 0 ? ends[node] - 1 : ends[node];
    }
  }
}

/** One of the listed sets with the answer, in proportion to their weights. */
export class ListedDraw extends WeightedDraw {
  /** @type {number[][]} */ #sets;
  /** @type {Set<string>} */ #known;
  /** @type {number[][][]} */ #setsOf;
  /** @type {bigint[][]} */ #ends;

  /** @param {readonly (readonly number[])[]} sets @param {readonly number[]} weights */
  constructor(sets, weights) {
    super("listed", sets[0].length, weights);
    this.#sets = sets.map((one) => [...one]);
    this.#known = new Set(this.#sets.map(String));
    this.#setsOf = weights.map(() => []);
    for (const one of this.#sets) for (const code of one) this.#setsOf[code].push(one);
    this.#ends = this.#setsOf.map((ofCode, code) => {
      let sum = 0n;
      return ofCode.map((one) => {
        sum += one.reduce((product, other) => (other === code ? product : product * this.whole[other]), 1n);
        return sum;
      });
    });
    this.totals = this.#ends.map((ends) => ends[ends.length - 1] ?? 0n);
  }

  /** @param {number} code @param {bigint} rank */
  setAt(code, rank) {
    const ends = this.#ends[code];
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rank < ends[middle]) high = middle;
      else low = middle + 1;
    }
    return [...this.#setsOf[code][low]];
  }

  /** @param {readonly number[]} codes */
  admits(codes) {
    return this.#known.has(String(codes));
  }

  get nSets() {
    return this.#sets.length;
  }

  /**
   * Whether no other shares give the same counts of sets. Values that can take each other's place in a set have the same
   * coefficient in any combination that every set gives the sum zero, so only combinations of groups of them are left.
   */
  get isRecoverable() {
    const groupOf = exchanged(this.#sets, this.nValues);
    const size = new Set(groupOf).size;
    if (size === 1) return true;
    if (size > MOST_GROUPS) return false;
    const rows = new Map();
    for (const one of this.#sets) {
      const groups = one.map((code) => groupOf[code]).sort((a, b) => a - b);
      rows.set(String(groups), groups);
    }
    return rankOf([...rows.values()]) === size;
  }

  structure() {
    return [this.#sets.length, ...this.#sets.flat(), ...super.structure()];
  }
}

/** @param {number[][]} sets @param {number} size @returns {number[]} A value that stands for those that can replace it. */
function exchanged(sets, size) {
  const standing = Array.from({ length: size }, (_, code) => code);
  const find = (/** @type {number} */ code) => {
    while (standing[code] !== code) code = standing[code] = standing[standing[code]];
    return code;
  };
  const beside = new Map();
  for (const one of sets) {
    for (const code of one) {
      const others = String(one.filter((other) => other !== code));
      if (beside.has(others)) standing[find(code)] = find(beside.get(others));
      else beside.set(others, code);
    }
  }
  return standing.map((_, code) => find(code));
}

/** @param {number[][]} rows Each counts how often it has a column. @returns {number} Their rank, modulo a great prime. */
function rankOf(rows) {
  /** @type {Map<number, Map<number, bigint>>} */
  const pivots = new Map();
  for (const columns of rows) {
    /** @type {Map<number, bigint>} */
    const row = new Map();
    const add = (/** @type {number} */ column, /** @type {bigint} */ more) =>
      row.set(column, ((((row.get(column) ?? 0n) + more) % PRIME) + PRIME) % PRIME);
    for (const column of columns) add(column, 1n);
    for (const [column, pivot] of pivots) {
      const factor = row.get(column) ?? 0n;
      if (factor > 0n) for (const [place, number] of pivot) add(place, -factor * number);
    }
    const lead = [...row].find(([, number]) => number > 0n);
    if (lead === undefined) continue;
    const inverse = modularInverse(lead[1]);
    pivots.set(lead[0], new Map([...row].map(([place, number]) => [place, (number * inverse) % PRIME])));
  }
  return pivots.size;
}

/** @param {bigint} number @returns {bigint} Its inverse modulo the prime (Fermat). */
function modularInverse(number) {
  let result = 1n;
  for (let [square, rest] = [number, PRIME - 2n]; rest > 0n; rest >>= 1n, square = (square * square) % PRIME) {
    if (rest & 1n) result = (result * square) % PRIME;
  }
  return result;
}
