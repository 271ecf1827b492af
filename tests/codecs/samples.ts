import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { concatenated, noise, sourceText } from "../support/bytes.ts";

/** Named inputs of every kind that codecs treat in their own way. */
export const samples: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "no bytes": new Uint8Array(0),
  "one byte": new Uint8Array([42]),
  "one repeated byte": new Uint8Array(70_000).fill(7),
  "a sentence": new TextEncoder().encode("The mill turns as long as the water runs, and the water runs all day.\n"),
  "source text": sourceText(150_000),
  "noise": noise(100_000),
  "text between noise": concatenated([
    noise(30_000, 2),
    sourceText(60_000, 3),
    noise(30_000, 4),
    sourceText(60_000, 3),
  ]),
};

/**
 * The samples that a level of a format is tried with: at its first, middle and last level all of them, at the others
 * those of text and noise; in a long run all at every level. On Bun and Deno the middle level is enough: the codecs'
 * modules, and golden_test.ts, are the same everywhere.
 */
export function samplesAt(level: number, { min, max }: { readonly min: number; readonly max: number }): typeof samples {
  const middle = Math.floor((min + max) / 2);
  if (isLong || (runtime === "node" ? [min, middle, max] : [middle]).includes(level)) return samples;
  return {
    "one byte": samples["one byte"],
    "text between noise": samples["text between noise"].subarray(20_000, 80_000),
  };
}
