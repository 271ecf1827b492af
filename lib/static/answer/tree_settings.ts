import { hashedNames, type HashedPart, likelyHash } from "../../names/mod.ts";
import type { Settings } from "./settings.ts";
import type { SiteDictionary } from "../scan/representation.ts";

/** The settings as they are for the files of one tree, whose names tell together which of them never change. */
export interface TreeSettings extends Settings {
  readonly isImmutable: (path: string) => boolean;
  /** Finds the hash in the name of a file of the tree, by its path below the folder. */
  readonly hashIn: (path: string) => HashedPart | undefined;
  /** The dictionary of the site, which pages offer; undefined if there is none. */
  readonly siteDictionary: SiteDictionary | undefined;
  /** The `Link` of a page to that dictionary; empty if browsers would not keep it. */
  readonly dictionaryLink: () => string;
}

/** The part of {@linkcode TreeSettings} that a table adds. */
type Added = Pick<TreeSettings, "siteDictionary" | "dictionaryLink">;

/** The files of a tree, as their immutability depends on them. */
interface NamedFiles {
  /** All paths. */
  paths(): Iterable<string>;
  /** Undefined: no manifest tells of any file. */
  readonly recordedImmutable: ((path: string) => boolean) | undefined;
}

/**
 * The settings for a tree, whose paths are read at the first question about one of them. The option comes before the
 * manifest, and names count only where neither says anything.
 */
export function settingsFor(tree: NamedFiles, settings: Settings, added: Added): TreeSettings {
  const byName = hashedNames(tree.paths());
  const told = settings.isImmutable ?? tree.recordedImmutable;
  // The name of a dictionary has its hash, and browsers use only what they may keep.
  const isImmutable = (path: string): boolean => {
    return path === added.siteDictionary?.path || (told ? told(path) : byName(path) !== undefined);
  };
  if (!told) return { ...settings, ...added, isImmutable, hashIn: byName };
  // A file that is said never to change has another name in each version: its hash is what differs.
  const hashIn = (path: string) => byName(path) ?? (told(path) ? likelyHash(path) : undefined);
  return { ...settings, ...added, isImmutable, hashIn };
}
