import { mkdir, open, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { corpusFolder } from "../corpus_folder.ts";
import { LONGEST_LINE, writeLine } from "./number_text.ts";
import { primes } from "./primes.ts";

/** The path of a file of the first `count` primes, one a line; it is made if it is not there. */
export async function primesFile(count: number): Promise<string> {
  const path = join(corpusFolder, `primes-${count}.txt`);
  if (await stat(path).catch(() => undefined)) return path;
  await mkdir(corpusFolder, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const file = await open(unfinished, "w");
  const buffer = new Uint8Array(2 ** 20);
  let used = 0;
  for (const prime of primes(count)) {
    used = writeLine(buffer, used, prime);
    if (used <= buffer.length - LONGEST_LINE) continue;
    await file.writeFile(buffer.subarray(0, used));
    used = 0;
  }
  await file.writeFile(buffer.subarray(0, used));
  await file.close();
  await rename(unfinished, path);
  return path;
}
