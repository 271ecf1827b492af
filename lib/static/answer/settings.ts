import { matcherOf } from "../../globs/mod.ts";
import { hashedNames, type HashedPart, likelyHash } from "../../names/mod.ts";
import type { SiteDictionary, Warn } from "../scan/representation.ts";
import { type CrossOrigin, crossOriginOf } from "./custom_fields.ts";
import { type StaticHandlerOptions, staticHandlerOptions, type StaticWarning } from "./options.ts";

type Checked = ReturnType<typeof staticHandlerOptions>;

/** {@linkcode StaticHandlerOptions} with their defaults, checked. */
export interface Settings extends Omit<Checked, "index" | "cors" | "immutable" | "cacheControl" | "onWarning"> {
  readonly index: string | undefined;
  /** Undefined: no other origin may read anything. */
  readonly cors: CrossOrigin | undefined;
  /** Whether `headers` or `cacheControl` is a function. */
  readonly hasCallbacks: boolean;
  /** Undefined: decided by the names of a tree, see `settingsFor()`. */
  readonly isImmutable: ((path: string) => boolean) | undefined;
  readonly cacheControl: (path: string) => string | undefined;
  /** Begins and ends with a slash. */
  readonly basePath: string;
  readonly warn: Warn;
}

export async function settingsOf(options: StaticHandlerOptions): Promise<Settings> {
  const { index, fallback, notFound, cors, immutable, cacheControl, basePath, onWarning, ...others } =
    staticHandlerOptions(options);
  const warn = warningTo(onWarning);
  return {
    ...others,
    index: index === false ? undefined : index,
    fallback: typeof fallback === "string" ? relative(fallback) : fallback,
    notFound: relative(notFound),
    cors: crossOriginOf(cors, warn),
    hasCallbacks: typeof cacheControl === "function" || others.headers !== undefined,
    isImmutable: await patternOf(immutable),
    cacheControl: typeof cacheControl === "function" ? cacheControl : () => cacheControl,
    basePath: `/${decoded(basePath)}/`.replace(/\/{2,}/g, "/"),
    warn,
  };
}

/** Returns the decoded form of a path, which requests have; the path itself if it is not encoded. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function relative(path: string): string {
  return path.replace(/^\/+/, "");
}

async function patternOf(pattern: StaticHandlerOptions["immutable"]): Promise<Settings["isImmutable"]> {
  if (pattern === false) return () => false;
  if (pattern === undefined) return undefined;
  if (typeof pattern === "string") return await matcherOf("immutable", [pattern]);
  return (path) => {
    pattern.lastIndex = 0; // one with the g flag would go on where it last matched
    return pattern.test(path);
  };
}

/** Wraps `onWarning`: its errors are printed, since the work after a failure has to be done. */
function warningTo(onWarning: (warning: StaticWarning) => void): Warn {
  return (path, message) => {
    try {
      onWarning({ path, message });
    } catch (error) {
      console.error(error);
    }
  };
}

/** The settings for the files of one tree, whose names together show which of them never change. */
export interface TreeSettings extends Settings {
  readonly isImmutable: (path: string) => boolean;
  /** Finds the hash in the name of a file of the tree, by its path below the folder. */
  readonly hashIn: (path: string) => HashedPart | undefined;
  /** The dictionary of the site that pages offer; undefined if there is none. */
  readonly siteDictionary: SiteDictionary | undefined;
  /** The `Link` of a page to that dictionary; empty if browsers would not keep it. */
  readonly dictionaryLink: () => string;
}

/** The files of a tree, as their immutability depends on them. */
interface NamedFiles {
  paths(): Iterable<string>;
  /** Undefined if no manifest records any file. */
  readonly recordedImmutable: ((path: string) => boolean) | undefined;
}

/** Combines the settings for a tree. The option comes before the manifest, and the manifest before names. */
export function settingsFor(
  tree: NamedFiles,
  settings: Settings,
  added: Pick<TreeSettings, "siteDictionary" | "dictionaryLink">,
): TreeSettings {
  const byName = hashedNames(tree.paths());
  const recorded = settings.isImmutable ?? tree.recordedImmutable;
  // The name of a dictionary has its hash, and browsers use only dictionaries that they may keep.
  const isImmutable = (path: string): boolean => {
    return path === added.siteDictionary?.path || (recorded ? recorded(path) : byName(path) !== undefined);
  };
  if (!recorded) return { ...settings, ...added, isImmutable, hashIn: byName };
  // A file that never changes has another name in each version, which differs by its hash.
  const hashIn = (path: string) => byName(path) ?? (recorded(path) ? likelyHash(path) : undefined);
  return { ...settings, ...added, isImmutable, hashIn };
}
