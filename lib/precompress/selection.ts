import { matcherOf } from "../globs/mod.ts";
import type { Settings } from "./options.ts";
import type { FoundFile } from "./walk.ts";

/** The paths that `include` and `exclude` pick. */
export interface Selection {
  /** Whether the file at a path is to be compressed. */
  readonly isWanted: (path: string) => boolean;
  /** Whether `exclude` names a path. */
  readonly isExcluded: (path: string) => boolean;
}

/** The selection that the settings ask for. */
export async function selectionOf({ include, exclude }: Settings): Promise<Selection> {
  const isIncluded = include.length > 0 ? await matcherOf("include", include) : () => true;
  const isExcluded = await matcherOf("exclude", exclude);
  return { isWanted: (path) => isIncluded(path) && !isExcluded(path), isExcluded };
}

/**
 * Sees that `include` picks something: patterns that match nothing are mistaken, and would have every variant removed.
 *
 * @throws {Error} if it does not.
 */
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
