import { type SkipReason, withoutHash } from "../precompress/internal.ts";
import type { DeltaFormat, FileRecord, VariantFormat } from "../precompress/mod.ts";

/** The outcome for a file: it got variants in this run, had them already, failed, or has none, with the reason. */
export type FileState = "compressed" | "unchanged" | "failed" | "unworthy" | SkipReason;

/** The difference between a file and its former version. */
export type Change = "same" | "changed" | "new";

export interface SiteFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  /** The sizes in bytes of the file's variants and deltas. */
  readonly sizes: Readonly<Partial<Record<VariantFormat | DeltaFormat, number>>>;
  readonly state: FileState;
  /** Whether the file is immutable, by the run's option or a hash in its name. */
  readonly isImmutable: boolean;
  /** The change since the former version; undefined without a comparison. */
  readonly change: Change | undefined;
}

/** Returns the bytes for a client without a dictionary: those of the smallest variant, or of the file itself. */
export function sentSize({ size, sizes }: SiteFile): number {
  return Math.min(size, sizes.brotli ?? Infinity, sizes.zstd ?? Infinity, sizes.gzip ?? Infinity);
}

export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

export interface Former {
  readonly name: string;
  /** Whether the files were deployed, so that visitors have them; otherwise a run found them. */
  readonly isDeploy: boolean;
  readonly records: ReadonlyMap<string, FileRecord>;
}

export interface ComparedFile {
  readonly path: string;
  readonly change: Change;
  /** The former path; undefined for a new file. */
  readonly formerPath: string | undefined;
  /** The former and present bytes for a client without dictionaries. */
  readonly before: number | undefined;
  readonly now: number;
}

export interface RemovedFile {
  readonly path: string;
  readonly change: "removed";
  readonly before: number;
  readonly now: undefined;
}

/** The differences between a run's files and former ones. */
export interface Changes {
  readonly former: Former;
  readonly byPath: ReadonlyMap<string, ComparedFile>;
  readonly removed: readonly RemovedFile[];
  /** The bytes of all files for clients without dictionaries. */
  readonly total: { readonly before: number; readonly now: number };
}

/** Compares files; a changed hash in the name means the same file with changes. */
export function changesOf(records: ReadonlyMap<string, FileRecord>, former: Former): Changes {
  const gone = new Map([...former.records].filter(([path]) => !records.has(path)));
  const versions = versionsIn(gone.keys());
  const byPath = new Map<string, ComparedFile>();
  for (const [path, record] of records) {
    const formerPath = former.records.has(path) ? path : versions.take(path, record.dictionary?.path);
    if (formerPath !== undefined) gone.delete(formerPath);
    const before = formerPath === undefined ? undefined : former.records.get(formerPath);
    const change = before === undefined ? "new" : before.sha256 === record.sha256 ? "same" : "changed";
    byPath.set(path, { path, change, formerPath, before: before && sentOf(before), now: sentOf(record) });
  }
  const removed = [...gone].sort(([a], [b]) => a < b ? -1 : 1).map(([path, record]): RemovedFile => {
    return { path, change: "removed", before: sentOf(record), now: undefined };
  });
  const totalOf = (files: Former["records"]): number => sum([...files.values()].map(sentOf));
  const total = { before: totalOf(former.records), now: totalOf(records) };
  return { former, byPath, removed, total };
}

/** Lists the files that differ, the largest differences first. */
export function differences({ byPath, removed }: Changes): (ComparedFile | RemovedFile)[] {
  const difference = ({ before = 0, now = 0 }: ComparedFile | RemovedFile): number => Math.abs(now - before);
  return [...[...byPath.values()].filter(({ change }) => change !== "same"), ...removed]
    .sort((a, b) => difference(b) - difference(a) || (a.path < b.path ? -1 : 1));
}

/** Indexes files by their names without the hash; each is taken once, the requested path first. */
function versionsIn(paths: Iterable<string>): { take(path: string, wished?: string): string | undefined } {
  const byPattern = new Map<string, Set<string>>();
  for (const path of paths) {
    const pattern = withoutHash(path);
    if (pattern === path) continue;
    byPattern.set(pattern, (byPattern.get(pattern) ?? new Set()).add(path));
  }
  return {
    take(path, wished) {
      const versions = byPattern.get(withoutHash(path));
      if (!versions) return undefined;
      const [first] = versions;
      const taken = wished !== undefined && versions.has(wished) ? wished : first;
      if (taken !== undefined) versions.delete(taken);
      return taken;
    },
  };
}

function sentOf({ size, variants }: FileRecord): number {
  const { brotli, zstd, gzip } = variants;
  return Math.min(size, ...[brotli, zstd, gzip].map((variant) => variant?.size ?? Infinity));
}
