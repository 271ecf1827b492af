import process from "node:process";
import { HINT, matcherOf } from "../../globs/mod.ts";
import { hashedNames, type HashedPart, likelyHash } from "../../names/mod.ts";
import type { SiteDictionary, Warn } from "../scan/representation.ts";
import { type CrossOrigin, crossOriginOf, requireDirectives } from "./custom_fields.ts";
import { type StaticHandlerOptions, staticHandlerOptions, type StaticWarning } from "./options.ts";

type Checked = ReturnType<typeof staticHandlerOptions>;

/** {@linkcode StaticHandlerOptions} with their defaults, checked. */
export interface Settings extends Omit<Checked, "index" | "cors" | "immutable" | "cacheControl" | "onWarning"> {
  readonly index: string | undefined;
  /** The policy for pages of other origins; undefined if they may not read responses. */
  readonly cors: CrossOrigin | undefined;
  /** Whether `headers` or `cacheControl` is a function. */
  readonly hasCallbacks: boolean;
  /** Whether a path's file is immutable; undefined if the names of a tree decide, see `settingsFor()`. */
  readonly isImmutable: ((path: string) => boolean) | undefined;
  readonly cacheControl: (path: string) => string | undefined;
  /** The base path, which begins and ends with a slash. */
  readonly basePath: string;
  readonly warn: Warn;
  /** Returns warnings about options that name no file among the given paths. */
  readonly unused: (paths: () => Iterable<string>) => string[];
}

export async function settingsOf(options: StaticHandlerOptions): Promise<Settings> {
  const { index, fallback, notFound, cors, immutable, cacheControl, basePath, onWarning, ...others } =
    staticHandlerOptions(options);
  const warn = warningTo(onWarning);
  const isImmutable = await patternOf(immutable);
  if (typeof cacheControl === "string") requireDirectives("cacheControl", cacheControl);
  return {
    ...others,
    index: index === false ? undefined : index,
    fallback: typeof fallback === "string" ? relative(fallback) : fallback,
    notFound: relative(notFound),
    cors: crossOriginOf(cors, warn),
    hasCallbacks: typeof cacheControl === "function" || others.headers !== undefined,
    isImmutable,
    cacheControl: typeof cacheControl === "function" ? cacheControl : () => cacheControl,
    basePath: `/${decoded(basePath)}/`.replace(/\/{2,}/g, "/"),
    warn,
    unused(paths) {
      const isNone = (test: (path: string) => boolean): boolean => !Iterator.from(paths()).some(test);
      const [pattern, hint] = immutable instanceof RegExp ? [immutable, ""] : [`"${immutable}"`, `: ${HINT}`];
      const isMissing = (name = "") => name !== "" && isNone((path) => `/${path}`.endsWith(`/${relative(name)}`));
      return [
        ...immutable && isNone(isImmutable!) ? [`immutable ${pattern} matches no file${hint}`] : [],
        ...isMissing(options.index || "") ? [`index "${options.index}" is the name of no file`] : [],
        ...isMissing(options.notFound) ? [`notFound "${options.notFound}" is no file`] : [],
      ];
    },
  };
}

/** Decodes a path to the form that requests have; returns a path that is not encoded unchanged. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Normalizes a path below the folder: single slashes, no `./`. On Windows, backslashes are separators, too. */
function relative(path: string): string {
  return (process.platform === "win32" ? path.replaceAll("\\", "/") : path).replace(/(^|\/)(?:\.?\/)+/g, "$1");
}

async function patternOf(pattern: StaticHandlerOptions["immutable"]): Promise<Settings["isImmutable"]> {
  if (pattern === false) return () => false;
  if (pattern === undefined) return undefined;
  if (typeof pattern === "string") return await matcherOf("immutable", [pattern]);
  return (path) => {
    pattern.lastIndex = 0; // a pattern with the g flag would continue at its last match
    return pattern.test(path);
  };
}

/** Wraps `onWarning`: its errors are printed, so that the steps after a warning run. */
function warningTo(onWarning: (warning: StaticWarning) => void): Warn {
  return (path, message) => {
    try {
      onWarning({ path, message });
    } catch (error) {
      console.error(error);
    }
  };
}

/** The settings for the files of one tree, whose names together show which of them are immutable. */
export interface TreeSettings extends Settings {
  readonly isImmutable: (path: string) => boolean;
  /** Finds the hash in the name of a file, by its path below the folder. */
  readonly hashIn: (path: string) => HashedPart | undefined;
  /** The dictionary of the site that pages offer; undefined if there is none. */
  readonly siteDictionary: SiteDictionary | undefined;
  /** Returns the `Link` of a page to that dictionary; empty if browsers would not keep it. */
  readonly dictionaryLink: () => string;
}

/** The files of a tree, as far as immutability depends on them. */
interface NamedFiles {
  paths(): Iterable<string>;
  /** Whether the manifest records a file as immutable; undefined if it does so for none. */
  readonly recordedImmutable: ((path: string) => boolean) | undefined;
}

/** Combines the settings for a tree. The option takes precedence over the manifest, and the manifest over names. */
export function settingsFor(
  tree: NamedFiles,
  settings: Settings,
  added: Pick<TreeSettings, "siteDictionary" | "dictionaryLink">,
): TreeSettings {
  const byName = hashedNames(tree.paths());
  const recorded = settings.isImmutable ?? tree.recordedImmutable;
  // A dictionary's name contains its hash, and browsers use only dictionaries that they may keep.
  const isImmutable = (path: string): boolean => {
    return path === added.siteDictionary?.path || (recorded ? recorded(path) : byName(path) !== undefined);
  };
  if (!recorded) return { ...settings, ...added, isImmutable, hashIn: byName };
  // An immutable file has another name in each version: the hash in it differs.
  const hashIn = (path: string) => byName(path) ?? (recorded(path) ? likelyHash(path) : undefined);
  return { ...settings, ...added, isImmutable, hashIn };
}
