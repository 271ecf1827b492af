import { matcherOf } from "../globs/mod.ts";
import { wrongType } from "../streams/internal.ts";
import { type PrecompressOptions, precompressOptions, type Settings, settingsOf } from "./options.ts";
import type { FileRecord } from "./records.ts";
import type { FoundFile } from "./walk.ts";

/** The paths that `include` and `exclude` select. */
export interface Selection {
  readonly isWanted: (path: string) => boolean;
  readonly isExcluded: (path: string) => boolean;
}

export async function selectionOf({ include, exclude }: Settings): Promise<Selection> {
  const isIncluded = include.length > 0 ? await matcherOf("include", include) : () => true;
  const isExcluded = await matcherOf("exclude", exclude);
  return { isWanted: (path) => isIncluded(path) && !isExcluded(path), isExcluded };
}

/** Requires that `include` matches a file: otherwise every variant would be removed. */
export function requireMatch(
  files: readonly FoundFile[],
  { isWanted }: Selection,
  { include }: Settings,
  source: string,
): void {
  if (include.length === 0 || files.some(({ path }) => isWanted(path))) return;
  const hint = "a pattern is for the whole path below the folder, as in assets/*.js or **/*.js";
  throw new Error(`no file in ${source} is to be compressed by include ${include.join(", ")}: ${hint}`);
}

/** Returns whether the content of a file never changes under its name; undefined if no run had the option `immutable`. */
export type Immutability = (path: string, sha256: string) => boolean | undefined;

/** Selects the files that the option matches; without it, those of earlier runs, if they are unchanged. */
export function immutabilityOf(
  told: (path: string) => boolean | undefined,
  known: readonly ReadonlyMap<string, FileRecord>[],
): Immutability {
  return (path, sha256) => {
    const isSame = (record?: FileRecord): boolean => record?.immutable !== undefined && record.sha256 === sha256;
    return told(path) ?? known.map((records) => records.get(path)).find(isSame)?.immutable;
  };
}

export async function toldBy(
  immutable: PrecompressOptions["immutable"],
): Promise<(path: string) => boolean | undefined> {
  if (immutable === undefined) return () => undefined;
  if (typeof immutable === "function") return (path) => requireVerdict(path, immutable(path));
  return await matcherOf("immutable", immutable);
}

/**
 * @throws {TypeError} if the verdict is neither true, false nor undefined: a promise, for example, would count as true.
 */
function requireVerdict(path: string, verdict: unknown): boolean | undefined {
  if (typeof verdict === "boolean" || verdict === undefined) return verdict;
  throw wrongType(`what immutable() gives for ${path}`, "true, false or undefined", verdict);
}

/** Checks options without reading any file. */
export async function requireSound(options: PrecompressOptions): Promise<void> {
  const checked = precompressOptions(options);
  await selectionOf(settingsOf(checked, 1));
  await toldBy(checked.immutable);
}
