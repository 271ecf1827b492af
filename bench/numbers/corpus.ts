import { corpusFile } from "../corpus_folder.ts";
import { LONGEST_LINE, writeLine } from "./number_text.ts";
import { primes } from "./primes.ts";

/** Returns the path of a file of the first `count` primes, one a line; it is made if it is not there. */
export function primesFile(count: number): Promise<string> {
  return corpusFile(`primes-${count}.txt`, lines(count));
}

/** Yields the lines in pieces of up to a MiB, in one buffer. */
function* lines(count: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(2 ** 20);
  let used = 0;
  for (const prime of primes(count)) {
    used = writeLine(buffer, used, prime);
    if (used <= buffer.length - LONGEST_LINE) continue;
    yield buffer.subarray(0, used);
    used = 0;
  }
  yield buffer.subarray(0, used);
}
