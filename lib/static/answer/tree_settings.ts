import { hashedNames, type HashedPart, likelyHash } from "../../names/mod.ts";
import type { Settings } from "./settings.ts";

/** The settings as they are for the files of one tree, whose names tell together which of them never change. */
export interface TreeSettings extends Settings {
  readonly isImmutable: (path: string) => boolean;
  /** Finds the hash in the name of a file of the tree, by its path below the folder. */
  readonly hashIn: (path: string) => HashedPart | undefined;
}

/** The settings for a tree with these `paths`, which are read at the first question about one of them. */
export function settingsFor(paths: Iterable<string>, settings: Settings): TreeSettings {
  const byName = hashedNames(paths);
  const { isImmutable } = settings;
  if (!isImmutable) return { ...settings, isImmutable: (path) => byName(path) !== undefined, hashIn: byName };
  // A file of which the option says that it never changes has another name in each version: its hash is what differs.
  const hashIn = (path: string) => byName(path) ?? (isImmutable(path) ? likelyHash(path) : undefined);
  return { ...settings, isImmutable, hashIn };
}
