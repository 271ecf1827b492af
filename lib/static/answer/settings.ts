import { matcherOf } from "../../globs/mod.ts";
import { hashedNames, type HashedPart, likelyHash } from "../../names/mod.ts";
import { isUndoable, requireFieldValue, type StoredCoding, storedCodings } from "../../semantics/mod.ts";
import { requireKnown } from "../../streams/internal.ts";
import type { SiteDictionary, Warn } from "../scan/representation.ts";
import { type CrossOrigin, crossOriginOf } from "./custom_fields.ts";
import { type PrecompressedCoding, printable, type StaticHandlerOptions, type StaticWarning } from "./options.ts";

/** {@linkcode StaticHandlerOptions} with their defaults, checked. */
export interface Settings {
  readonly index: string | undefined;
  readonly cleanUrls: boolean;
  readonly fallback: StaticHandlerOptions["fallback"];
  readonly notFound: string;
  readonly dotfiles: boolean;
  readonly headers: StaticHandlerOptions["headers"];
  /** Undefined: no other origin may read anything. */
  readonly cors: CrossOrigin | undefined;
  /** Whether `headers` or `cacheControl` is a function. */
  readonly hasCallbacks: boolean;
  /** Undefined: by the names of a tree, see `settingsFor()`. */
  readonly isImmutable: ((path: string) => boolean) | undefined;
  readonly cacheControl: (path: string) => string | undefined;
  /** Begins and ends with a slash. */
  readonly basePath: string;
  /** Undefined: the smallest first. */
  readonly precompressed: readonly PrecompressedCoding[] | undefined;
  readonly dictionaries: boolean;
  readonly memoryLimit: number;
  readonly reprDigest: boolean;
  readonly previous: string | true | undefined;
  readonly warn: Warn;
}

const known: Readonly<Record<keyof StaticHandlerOptions, true>> = {
  index: true,
  cleanUrls: true,
  fallback: true,
  notFound: true,
  dotfiles: true,
  headers: true,
  cors: true,
  immutable: true,
  cacheControl: true,
  basePath: true,
  precompressed: true,
  dictionaries: true,
  memoryLimit: true,
  reprDigest: true,
  previous: true,
  watch: true,
  onWarning: true,
};

const MEMORY_LIMIT = 64 * 1024 * 1024;
const codings: readonly PrecompressedCoding[] = (Object.keys(storedCodings) as StoredCoding[]).filter((coding) =>
  isUndoable(coding)
);

/**
 * The settings that `options` ask for.
 *
 * @throws {TypeError | RangeError} if an option is not what it should be.
 */
export async function settingsOf(options: StaticHandlerOptions): Promise<Settings> {
  requireKnown(options, known, "createStaticHandler()");
  const { cacheControl, memoryLimit = MEMORY_LIMIT, onWarning = warnOnConsole } = options;
  if (typeof memoryLimit !== "number" || !(memoryLimit >= 0)) {
    throw new RangeError(`memoryLimit ${memoryLimit} is out of range: use a number of bytes from 0`);
  }
  for (const coding of listOf(options.precompressed)) {
    if (!codings.includes(coding)) throw new TypeError(`unknown coding "${coding}": use ${codings.join(", ")}`);
  }
  if (typeof cacheControl !== "function" && cacheControl !== undefined) {
    requireFieldValue("cacheControl", cacheControl);
  }
  const warn = warningTo(onWarning);
  return {
    index: options.index === false ? undefined : nameOf("index", options.index ?? "index.html"),
    cleanUrls: options.cleanUrls ?? false,
    fallback: fallbackOf(options.fallback),
    notFound: pathOf("notFound", options.notFound ?? "404.html"),
    dotfiles: options.dotfiles ?? false,
    headers: options.headers,
    cors: crossOriginOf(options.cors, warn),
    hasCallbacks: typeof cacheControl === "function" || options.headers !== undefined,
    isImmutable: await patternOf(options.immutable),
    cacheControl: typeof cacheControl === "function" ? cacheControl : () => cacheControl,
    basePath: basePathOf(options.basePath ?? "/"),
    precompressed: options.precompressed,
    dictionaries: options.dictionaries ?? true,
    memoryLimit,
    reprDigest: options.reprDigest ?? false,
    previous: options.previous,
    warn,
  };
}

function listOf<Item>(items: readonly Item[] = []): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw new TypeError(`precompressed ${items} is no list: use one such as ["br", "gzip"]`);
}

function nameOf(option: string, name: string): string {
  if (typeof name === "string" && !["", ".", ".."].includes(name) && !name.includes("/")) return name;
  throw new TypeError(`${option} "${name}" is not a file name: use one such as index.html`);
}

function pathOf(option: string, path: string): string {
  const inner = String(path).replace(/^\/+/, "");
  if (inner !== "" && !inner.split("/").includes("..")) return inner;
  throw new TypeError(`${option} "${path}" is not a path below the folder: use one such as 404.html`);
}

function fallbackOf(fallback: StaticHandlerOptions["fallback"]): Settings["fallback"] {
  if (fallback === undefined || typeof fallback === "function") return fallback;
  if (typeof fallback === "string") return pathOf("fallback", fallback);
  throw new TypeError(`fallback ${fallback} is not what it should be: use a path below the folder, or a function`);
}

function basePathOf(path: string): string {
  if (!/[?#\\]|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(path)) return `/${path}/`.replace(/\/{2,}/g, "/");
  throw new TypeError(`basePath "${path}" is not a path: use one such as /docs/`);
}

async function patternOf(pattern: StaticHandlerOptions["immutable"]): Promise<Settings["isImmutable"]> {
  if (pattern === false) return () => false;
  if (pattern === undefined) return undefined;
  if (typeof pattern === "string") return await matcherOf("immutable", [pattern]);
  if (!(pattern instanceof RegExp)) {
    throw new TypeError(`immutable ${pattern} is no pattern: use a regular expression, a glob, or false`);
  }
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

function warnOnConsole({ path, message }: StaticWarning): void {
  console.warn(printable(`${path}: ${message}`));
}

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
