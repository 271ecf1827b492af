/** The number of odd numbers that a word of the sieve represents, two apart. */
const WORD_BITS = 32;
/** The distance between the numbers of two words. */
const WORD_SPAN = 2 * WORD_BITS;
/** Words sieved at a time: they stay in the processor's first cache. */
const SEGMENT = 8 * 1024;

/** A sieve of Eratosthenes over the odd numbers up to a limit, one bit each: 1 for a composite. */
class Sieve {
  readonly #basePrimes: number[] = [];

  /** Prepares to sieve up to `limit`. */
  constructor(limit: number) {
    const root = Math.ceil(Math.sqrt(limit));
    const composite = new Uint8Array(root + 1);
    for (let n = 3; n <= root; n += 2) {
      if (composite[n] === 1) continue;
      this.#basePrimes.push(n);
      for (let multiple = n * n; multiple <= root; multiple += 2 * n) composite[multiple] = 1;
    }
  }

  /** Sieves the odd numbers from `low` + 1 on, one for each bit of `words`. `low` is even. */
  fill(words: Uint32Array, low: number): void {
    words.fill(0);
    if (low === 0) words[0] = 1; // the number 1
    const end = words.length * WORD_BITS;
    const high = low + words.length * WORD_SPAN;
    for (const prime of this.#basePrimes) {
      if (prime * prime > high) return;
      const first = Math.max(prime * prime, Math.ceil((low + 1) / prime) * prime);
      const odd = first % 2 === 0 ? first + prime : first;
      for (let bit = (odd - low - 1) / 2; bit < end; bit += prime) words[bit >> 5] |= 1 << (bit & 31);
    }
  }
}

/** Returns a number that the `count`-th prime does not exceed. */
function boundOf(count: number): number {
  const n = Math.max(count, 6);
  return Math.ceil(n * (Math.log(n) + Math.log(Math.log(n))));
}

/** Returns the sieve of at least `count` primes, for {@linkcode primesIn}. */
export function sieveOf(count: number): Uint32Array {
  const bound = boundOf(count);
  const sieve = new Sieve(bound);
  const words = new Uint32Array(Math.ceil((bound + 1) / WORD_SPAN));
  for (let start = 0; start < words.length; start += SEGMENT) {
    sieve.fill(words.subarray(start, start + SEGMENT), start * WORD_SPAN);
  }
  return words;
}

/** Yields the first `count` primes, one at a time, from a sieve made before. */
export function* primesIn(words: Uint32Array, count: number): Generator<number, void, undefined> {
  let left = count;
  if (left-- > 0) yield 2;
  for (let i = 0; left > 0; i++) {
    for (let rest = ~words[i]; rest !== 0 && left > 0; rest &= rest - 1) {
      left--;
      yield i * WORD_SPAN + 2 * (31 - Math.clz32(rest & -rest)) + 1;
    }
  }
}

/** Yields the first `count` primes, sieved on demand in an amount of memory that does not depend on `count`. */
export function* primes(count: number): Generator<number, void, undefined> {
  const sieve = new Sieve(boundOf(count));
  const words = new Uint32Array(SEGMENT);
  let left = count;
  if (left-- > 0) yield 2;
  for (let low = 0; left > 0; low += SEGMENT * WORD_SPAN) {
    sieve.fill(words, low);
    for (let i = 0; i < SEGMENT; i++) {
      for (let rest = ~words[i]; rest !== 0 && left > 0; rest &= rest - 1) {
        left--;
        yield low + i * WORD_SPAN + 2 * (31 - Math.clz32(rest & -rest)) + 1;
      }
    }
  }
}
