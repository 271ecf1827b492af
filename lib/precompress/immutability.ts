import { matcherOf } from "../globs/mod.ts";
import type { PrecompressOptions } from "./options.ts";
import type { FileRecord } from "./records.ts";

/** Tells whether the content of a file never changes under its name; undefined if nobody said so of any file. */
export type Immutability = (path: string, sha256: string) => boolean | undefined;

/**
 * The files that the option names; where it says nothing, those that runs before were told of, if they did not change.
 *
 * @param told The option, by {@linkcode toldBy}.
 * @param known What runs before recorded, the folder that is read first.
 */
export function immutabilityOf(
  told: (path: string) => boolean | undefined,
  known: readonly ReadonlyMap<string, FileRecord>[],
): Immutability {
  return (path, sha256) => told(path) ?? recorded(path, sha256, known);
}

/** The option as a function. */
export async function toldBy(
  immutable: PrecompressOptions["immutable"],
): Promise<(path: string) => boolean | undefined> {
  if (immutable === undefined) return () => undefined;
  if (typeof immutable === "function") return immutable;
  return await matcherOf("immutable", immutable);
}

function recorded(
  path: string,
  sha256: string,
  known: readonly ReadonlyMap<string, FileRecord>[],
): boolean | undefined {
  const isSame = (record?: FileRecord): boolean => record?.immutable !== undefined && record.sha256 === sha256;
  return known.map((records) => records.get(path)).find(isSame)?.immutable;
}
