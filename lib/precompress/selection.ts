import { HINT, type Matcher, matcherOf } from "../globs/mod.ts";
import { wrongType } from "../streams/internal.ts";
import { type PrecompressOptions, precompressOptions, type Settings, settingsOf } from "./options.ts";
import type { FileRecord } from "./records.ts";
import type { FoundFile } from "./walk.ts";

/** The paths that the options `include`, `exclude` and `immutable` select. */
export interface Selection {
  readonly isWanted: (path: string) => boolean;
  readonly isExcluded: Matcher;
  /** Returns the verdict of the option `immutable`. */
  readonly told: Told;
  /** Returns warnings about the patterns that no path has matched so far. */
  readonly warnings: () => string[];
}

export async function selectionOf({ include, exclude, immutable }: Settings): Promise<Selection> {
  const isIncluded: Matcher = include.length > 0 ? await matcherOf("include", include) : () => true;
  const isExcluded = await matcherOf("exclude", exclude);
  const told = await toldBy(immutable);
  const isWanted = (path: string): boolean => {
    const isOut = isExcluded(path); // notes the match, also of a path that is not included
    return isIncluded(path) && !isOut;
  };
  const all: Pick<Matcher, "warnings">[] = [isIncluded, isExcluded, told];
  return { isWanted, isExcluded, told, warnings: () => all.flatMap(({ warnings }) => warnings?.() ?? []) };
}

/** The error of a pattern that matches no file of the folder. */
export class UnmatchedError extends Error {}

/** Requires that `include` matches a file: otherwise every variant would be removed. Tests all files. */
export function requireMatch(
  files: readonly FoundFile[],
  { isWanted }: Selection,
  { include }: Settings,
  source: string,
): void {
  const wanted = files.filter(({ path }) => isWanted(path));
  if (include.length === 0 || wanted.length > 0) return;
  throw new UnmatchedError(`no file in ${source} is to be compressed by include ${include.join(", ")}: ${HINT}`);
}

/** Returns whether the content of a file never changes under its name; undefined if no run had the option `immutable`. */
export type Immutability = (path: string, sha256: string) => boolean | undefined;

/** Selects the files that the option matches; without it, those of earlier runs, if they are unchanged. */
export function immutabilityOf(
  told: Told,
  known: readonly ReadonlyMap<string, FileRecord>[],
): Immutability {
  return (path, sha256) => {
    const isSame = (record?: FileRecord): boolean => record?.immutable !== undefined && record.sha256 === sha256;
    return told(path) ?? known.map((records) => records.get(path)).find(isSame)?.immutable;
  };
}

/** A verdict of the option `immutable` about a path. */
type Told = ((path: string) => boolean | undefined) & Pick<Matcher, "warnings">;

export async function toldBy(immutable: PrecompressOptions["immutable"]): Promise<Told> {
  if (immutable === undefined) return () => undefined;
  if (typeof immutable !== "function") return await matcherOf("immutable", immutable);
  return (path) => {
    const verdict = immutable(path);
    if (typeof verdict === "boolean" || verdict === undefined) return verdict; // a promise would count as true
    throw wrongType(`what immutable() gives for ${path}`, "true, false or undefined", verdict);
  };
}

/** Checks options without reading any file. */
export async function requireSound(options: PrecompressOptions): Promise<void> {
  await selectionOf(settingsOf(precompressOptions(options), 1));
}
