import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { samples } from "./samples.ts";

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
