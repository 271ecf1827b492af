import { batchChecks } from "./batches.ts";
import type { Check } from "./check.ts";
import { codecChecks } from "./codecs.ts";
import { fetchChecks } from "./fetched.ts";
import { goldenChecks } from "./golden.ts";
import { streamChecks } from "./streams.ts";

/** The table's name for each group of checks, which load the same parts of the codecs. */
export type Group = "Streams" | "Batches and text" | "A fetch" | "Codecs" | "The same bytes everywhere";

/** All checks, in the order in which they run. */
export const groups: Readonly<Record<Group, readonly Check[]>> = {
  "Streams": streamChecks,
  "Batches and text": batchChecks,
  "A fetch": fetchChecks,
  "Codecs": codecChecks,
  "The same bytes everywhere": goldenChecks,
};
