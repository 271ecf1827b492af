import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import type { FileSeries } from "../file_series.ts";
import { packedFormats } from "./series_packer.ts";
import type { SeriesEntry } from "./series_record.ts";

const LINE_FEED = 10;

/** Returns the largest number of any file that has a name of the series, be it whose it may; 0 if there is none. */
export function lastNumber(series: FileSeries): number {
  let last = 0;
  for (const name of readdirSync(series.directory)) {
    const packed = packedFormats.find(({ extension }) => name.endsWith(`.${extension}`));
    const plain = packed === undefined ? name : name.slice(0, -packed.extension.length - 1);
    last = Math.max(last, series.numberOf(name) ?? 0, series.numberOf(plain) ?? 0);
  }
  return last;
}

/** Whether a file was left by a stream that was closed, or ends with a line; else half of something may be its end. */
export function isWhole(path: string, size: number, { end }: SeriesEntry): boolean {
  if (size === 0 || size === end) return true;
  const descriptor = openSync(path, "r");
  try {
    const last = new Uint8Array(1);
    readSync(descriptor, last, 0, 1, fstatSync(descriptor).size - 1);
    return last[0] === LINE_FEED;
  } finally {
    closeSync(descriptor);
  }
}
