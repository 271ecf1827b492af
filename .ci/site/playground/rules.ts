import { DensityProbe, isCompressedByName, LARGE_FILE } from "../../../lib/precompress/content.ts";
import type { Given } from "./tasks.ts";

/** Defaults of the command: files below are left alone, and variants that save less are not kept. */
const MIN_SIZE = 1024;
const MIN_SAVING = 0.05;
/** The share of the plain variant that a delta must stay below. */
const DELTA_SHARE = 0.9;

/** Returns the reason why the command leaves a file alone, or the playground does; undefined if neither does. */
export function whyLeftAlone({ name, bytes }: Given): string | undefined {
  if (isCompressedByName(name)) return "it is compressed in itself";
  if (bytes.length < MIN_SIZE) return `it has less than ${MIN_SIZE} bytes`;
  if (bytes.length > LARGE_FILE) return "it has more than 16 MiB, which only the command takes";
  const probe = new DensityProbe();
  probe.add(bytes);
  return probe.isDense ? "it is compressed or encrypted" : undefined;
}

/** Returns the bytes that a visitor loads: those of a variant if the command keeps it, otherwise those of the file. */
export function sentSize(size: number, variant: number): number {
  return variant <= Math.floor(size * (1 - MIN_SAVING)) ? variant : size;
}

/** Whether the command keeps a delta in addition to the variant without one. */
export function keepsDelta(sent: number, delta: number): boolean {
  return delta <= Math.floor(sent * DELTA_SHARE);
}
