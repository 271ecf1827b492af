import type { LeftAlone } from "../precompress/internal.ts";
import type { DeltaFormat, VariantFormat } from "../precompress/mod.ts";

/** The outcome for a file: it got variants in this run, had them before it, failed, or has none, and why. */
export type FileState = "compressed" | "unchanged" | "failed" | "unworthy" | LeftAlone;

/** The difference of a file to what was there before. */
export type Change = "same" | "changed" | "new";

/** A file as a report shows it. */
export interface SiteFile {
  readonly path: string;
  /** The kind of file, as in `JavaScript`. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** The sizes of its variants and deltas, in bytes. */
  readonly sizes: Readonly<Partial<Record<VariantFormat | DeltaFormat, number>>>;
  readonly state: FileState;
  /** Whether it never changes under its name: the run was told so, or the name holds a hash. */
  readonly isImmutable: boolean;
  /** Undefined if there is nothing to compare with. */
  readonly change: Change | undefined;
}

type Sizes = Pick<SiteFile, "size" | "sizes">;

/** The bytes that a client without any dictionary gets: of the smallest variant, or of the file itself. */
export function sentSize({ size, sizes }: Sizes): number {
  return Math.min(size, sizes.brotli ?? Infinity, sizes.zstd ?? Infinity, sizes.gzip ?? Infinity);
}

/** The bytes that a client gets who has the file's former version. */
export function updateSize(file: Sizes): number {
  return Math.min(sentSize(file), file.sizes.dcb ?? Infinity, file.sizes.dcz ?? Infinity);
}

/** Adds up numbers. */
export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
