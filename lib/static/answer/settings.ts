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
  /** Undefined: by the names of a tree, see `settingsFor()`. */
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

/** The path that requests have once they are decoded, if it is encoded; else itself. */
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

/** A warning comes where something fails, and what is left to do there has to be done: errors of `onWarning` are printed. */
function warningTo(onWarning: (warning: StaticWarning) => void): Warn {
  return (path, message) => {
    try {
      onWarning({ path, message });
    } catch (error) {
      console.error(error);
    }
  };
}

/** The settings as they are for the files of one tree, whose names tell together which of them never change. */
export interface TreeSettings extends Settings {
  readonly isImmutable: (path: string) => boolean;
  /** Finds the hash in the name of a file of the tree, by its path below the folder. */
  readonly hashIn: (path: string) => HashedPart | undefined;
  /** The dictionary of the site, which pages offer, or undefined. */
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

/** The settings for a tree. The option comes before the manifest; names count only where neither says anything. */
export function settingsFor(
  tree: NamedFiles,
  settings: Settings,
  added: Pick<TreeSettings, "siteDictionary" | "dictionaryLink">,
): TreeSettings {
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
