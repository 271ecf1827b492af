import type { DeltaFormat, VariantFormat } from "../precompress/mod.ts";
import type { RunDetails } from "../precompress/internal.ts";
import { formatBytes } from "../quantities/mod.ts";
import type { FileState } from "./site_file.ts";

/** The outcome for a file in two or three words. */
export const noteOf: Readonly<Record<FileState, string>> = {
  compressed: "compressed",
  unchanged: "as before",
  failed: "problem",
  unworthy: "saves too little",
  small: "too small",
  unwanted: "not selected",
  compressedByName: "compressed already",
  dense: "looks compressed",
  beside: "form of another file",
};

/** Explains to a reader why files have no variants, by their state; undefined if they have some. */
export function reasonOf(state: FileState, { settings }: RunDetails): string | undefined {
  switch (state) {
    case "small":
      return `smaller than ${formatBytes(settings.minSize)}`;
    case "compressedByName":
      return "compressed in themselves, by their extension";
    case "dense":
      return "compressed or encrypted, by their content";
    case "unworthy":
      return `no variant saves ${percent(settings.minSaving)}`;
    case "unwanted":
      return "not selected by include and exclude";
    case "beside":
      return "compressed forms that stand beside their originals";
    case "compressed":
    case "unchanged":
    case "failed":
      return undefined;
  }
}

/** A format's name in a table. */
export function formatName(format: VariantFormat | DeltaFormat): string {
  return format.startsWith("site-") ? `${format.slice("site-".length)} (site)` : format;
}

/** A share as people read it. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A difference of bytes with its sign. */
export function signedBytes(bytes: number): string {
  return bytes === 0 ? "±0 B" : `${bytes < 0 ? "−" : "+"}${formatBytes(Math.abs(bytes))}`;
}

/** A number of files or the like, in groups of three digits. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
