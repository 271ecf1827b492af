const NEWLINE = 10;
const ZERO = 48;

/** The maximum length of a line in bytes: the numbers are below 2^31. */
export const LONGEST_LINE = 11;

/** Writes `number` as a line of decimal digits to `bytes` from `at` on, and returns where the line ends. */
export function writeLine(bytes: Uint8Array, at: number, number: number): number {
  const end = at + digitsOf(number);
  let rest = number | 0;
  let place = end;
  do {
    const quotient = (rest / 10) | 0;
    bytes[--place] = ZERO + rest - quotient * 10;
    rest = quotient;
  } while (rest > 0);
  bytes[end] = NEWLINE;
  return end + 1;
}

function digitsOf(number: number): number {
  if (number < 100_000) return number < 100 ? (number < 10 ? 1 : 2) : number < 1000 ? 3 : number < 10_000 ? 4 : 5;
  if (number < 10_000_000) return number < 1_000_000 ? 6 : 7;
  return number < 100_000_000 ? 8 : number < 1_000_000_000 ? 9 : 10;
}

/** A parser that folds digits into numbers across chunks, like a good hand-written parser of this file. */
export class NumberParser {
  #number = 0;

  /** Calls `take` with the number of every line that ends in `bytes`. */
  parse(bytes: Uint8Array, take: (number: number) => void): void {
    let number = this.#number;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte !== NEWLINE) {
        number = number * 10 + byte - ZERO;
        continue;
      }
      take(number);
      number = 0;
    }
    this.#number = number;
  }
}
