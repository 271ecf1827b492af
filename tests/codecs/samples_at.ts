import type { levels } from "../../lib/codecs/mod.ts";
import { isLong } from "../support/long_run.ts";
import { samples } from "./samples.ts";

type Range = Pick<(typeof levels)["zstd"], "min" | "max">;

/**
 * The samples that a level of a format is tried with: all of them at its middle level, at the others those of text and
 * noise; in a long run all at every level. golden_test.ts compares what all samples become at first and last levels.
 */
export function samplesAt(level: number, { min, max }: Range): typeof samples {
  const middle = Math.floor((min + max) / 2);
  if (isLong || level === middle) return samples;
  return {
    "one byte": samples["one byte"],
    "text between noise": samples["text between noise"].subarray(20_000, 80_000),
  };
}

/** Returns the levels that encoders are tried at: the first, a middle and the last one, or all in a long run. */
export function levelsTried({ min, max }: Range): number[] {
  const all = Array.from({ length: max - min + 1 }, (_, i) => min + i);
  return isLong ? all : [min, Math.floor((min + max) / 2), max];
}
