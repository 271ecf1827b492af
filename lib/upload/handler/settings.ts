import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { essenceOf, MediaRanges, typeOfExtension } from "../../semantics/mod.ts";
import { described, requireKnown } from "../../streams/internal.ts";
import { checkFormOptions, type SaveFormOptions } from "../form/form_options.ts";
import { type InnerOptions, knownOptions, requireType } from "../body/upload_options.ts";
import { type AllowedOrigins, allowedOrigins } from "./cross_site.ts";
import { type SessionLimits, Sessions } from "../session/sessions.ts";
import { BucketStorage } from "./storage.ts";
import { DiskStorage } from "./storage.ts";
import type { ResumableOptions, UploadHandlerOptions } from "./handler_options.ts";
import { type UploadLogEntry, warnOfFailures } from "./incoming.ts";
import type { Storage } from "./storage.ts";

/** {@linkcode UploadHandlerOptions} with their defaults, checked. */
export interface Settings {
  /** The place where files are stored. */
  readonly storage: Storage;
  /** Begins and ends with a slash. */
  readonly basePath: string;
  readonly name: UploadHandlerOptions["name"];
  /** Undefined: all. */
  readonly accept: MediaRanges | undefined;
  readonly dotfiles: boolean;
  /** Undefined: all. */
  readonly extensions: Extensions | undefined;
  readonly allowedOrigins: AllowedOrigins;
  /** How bodies and forms are stored. */
  readonly save: SaveFormOptions & InnerOptions;
  readonly log: (entry: UploadLogEntry) => void;
  readonly onComplete: UploadHandlerOptions["onComplete"];
  /** Unfinished uploads; undefined if none are kept. */
  readonly sessions: Sessions | undefined;
}

/** Options of single bodies and forms, which a handler cannot have. */
const { root: _root, signal: _signal, expectedBytes: _bytes, contentType: _type, ...commonOptions } = knownOptions;

const known: Readonly<Record<keyof UploadHandlerOptions, true>> = {
  directory: true,
  storage: true,
  basePath: true,
  name: true,
  dotfiles: true,
  extensions: true,
  accept: true,
  allowCrossSite: true,
  log: true,
  resumable: true,
  onComplete: true,
  ...commonOptions,
};

/** Limits for senders whom nobody knows. */
const defaults = { maxBytes: 2 ** 30, idleTimeout: 30_000, minRate: 1024 };

/**
 * The settings that `options` ask for. Makes the folder.
 *
 * @throws {TypeError | RangeError} if an option is not what it should be.
 * @throws {Error} if the folder is missing and cannot be made.
 */
export function settingsOf(options: UploadHandlerOptions): Settings {
  requireKnown(options, known, "createUploadHandler()");
  const { directory: folder, storage: bucket, basePath = "/", name, log = warnOfFailures, ...rest } = options;
  const { dotfiles = false, extensions, accept, allowCrossSite, resumable = false, onComplete, ...others } = rest;
  requireType("name", name, "function");
  requireType("log", log, "function");
  requireType("onComplete", onComplete, "function");
  requireType("dotfiles", dotfiles, "boolean");
  const directory = bucket === undefined ? directoryOf(folder) : undefined;
  if (bucket !== undefined) requireBucket(bucket, folder);
  const ranges = accept === undefined ? undefined : new MediaRanges(accept);
  const save: SaveFormOptions & InnerOptions = {
    ...defaults,
    ...withoutUndefined(others),
    ...(directory !== undefined && { root: directory }),
    leavesBody: true,
    typeOf: (given, filename) => typeOf(ranges, given, filename, "text/plain"),
  };
  checkFormOptions(save);
  const limits = limitsOf(resumable);
  const storage = directory === undefined ? new BucketStorage(bucket!) : new DiskStorage(directory, save);
  return {
    storage,
    basePath: basePathOf(basePath),
    name,
    dotfiles,
    extensions: extensions === undefined ? undefined : new Extensions(extensions),
    accept: ranges,
    allowedOrigins: allowedOrigins(allowCrossSite),
    save,
    log,
    onComplete,
    sessions: limits && new Sessions(storage.sessions(), limits),
  };
}

const resumableOptions: Readonly<Record<keyof ResumableOptions, true>> = { maxAge: true, maxUnfinished: true };
const DAY = 24 * 60 * 60 * 1000;
const MOST_UNFINISHED = 10_000;

/** The limits of unfinished uploads; undefined if none are kept. */
function limitsOf(resumable: unknown): SessionLimits | undefined {
  if (typeof resumable === "boolean") return resumable ? { maxAge: DAY, maxOpen: MOST_UNFINISHED } : undefined;
  if (typeof resumable !== "object" || resumable === null) {
    throw new TypeError(`resumable must be a boolean or options, not ${described(resumable)}`);
  }
  requireKnown(resumable, resumableOptions, "resumable");
  const { maxAge = DAY, maxUnfinished = MOST_UNFINISHED } = resumable as ResumableOptions;
  for (const [name, value] of Object.entries({ maxAge, maxUnfinished })) {
    if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${described(value)}`);
  }
  if (!(maxAge >= 1000 && maxAge < Infinity)) {
    throw new RangeError(`maxAge must be a number of ms from 1000 on, not ${maxAge}`);
  }
  if (!(maxUnfinished >= 1)) throw new RangeError(`maxUnfinished must be a number from 1 on, not ${maxUnfinished}`);
  return { maxAge, maxOpen: maxUnfinished };
}

function directoryOf(directory: unknown): string {
  const path = directory instanceof URL && directory.protocol === "file:" ? fileURLToPath(directory) : directory;
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return resolve(path);
  throw new TypeError(`directory must be a path or a file: URL, not ${JSON.stringify(path) ?? String(path)}`);
}

function requireBucket(bucket: unknown, directory: unknown): void {
  if (directory !== undefined) throw new TypeError("directory and storage exclude each other");
  const { writable, join } = (bucket ?? {}) as { writable?: unknown; join?: unknown };
  if (typeof writable === "function" && typeof join === "function") return;
  throw new TypeError(`storage must be an S3Bucket of @millrace/streams/s3, not ${described(bucket)}`);
}

function basePathOf(path: unknown): string {
  if (typeof path === "string" && !/[?#\\]/.test(path) && !path.includes("//")) {
    return `/${path}/`.replace(/\/{2,}/g, "/");
  }
  throw new TypeError(`basePath must be a path such as "/files/", not ${JSON.stringify(path) ?? String(path)}`);
}

/** An option that is undefined is one that is not given. */
function withoutUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** An extension as users write it, with or without its dot: `png`, `.png`, `tar.gz`. */
const EXTENSION = /^\.?[^\s./\\*?]+(?:\.[^\s./\\*?]+)*$/;
/** How many are named in a message. */
const MOST_SHOWN = 10;

/** The extensions that the names of files may have. */
class Extensions {
  /** In lower case, each with its dot. */
  readonly #endings: readonly string[];

  /** @throws {TypeError} if it is no list, an empty one, or something else than an extension is in it. */
  constructor(extensions: readonly string[]) {
    if (!Array.isArray(extensions) || extensions.length === 0) throw notExtensions(extensions);
    this.#endings = extensions.map((extension: unknown) => {
      if (typeof extension !== "string" || !EXTENSION.test(extension)) throw notExtensions(extension);
      return `.${extension.replace(/^\./, "").toLowerCase()}`;
    });
  }

  /** Whether a file may be called so: its last extension counts, in capitals too. */
  accepts(name: string): boolean {
    const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
    return this.#endings.some((ending) => last.endsWith(ending) && last.length > ending.length);
  }

  /** For messages. */
  toString(): string {
    const shown = this.#endings.slice(0, MOST_SHOWN).join(", ");
    return this.#endings.length > MOST_SHOWN ? `${shown}, …` : shown;
  }
}

function notExtensions(value: unknown): TypeError {
  return new TypeError(`extensions must be a list of extensions, such as ["png", "pdf"], not ${described(value)}`);
}

/** Types from senders that know none; curl sends the second with everything that `--data-binary` uploads. */
const UNKNOWN: readonly string[] = ["application/octet-stream", "application/x-www-form-urlencoded"];

/**
 * The media type that a file counts as: the one that its sender gives. Where only some are accepted, and the sender
 * gives none or one that says nothing, it is that of the name's extension.
 *
 * @param accept The types that are accepted; undefined: all.
 * @param given What the sender says; undefined if nothing.
 * @param name What the sender calls the file.
 * @param otherwise The type of a file of which nothing is known.
 */
export function typeOf(
  accept: MediaRanges | undefined,
  given: string | undefined,
  name: string,
  otherwise: string,
): string {
  const type = given ?? otherwise;
  const isKnown = given !== undefined && !UNKNOWN.includes(essenceOf(given));
  if (accept === undefined || isKnown || accept.accepts(type)) return type;
  return typeOfExtension(extname(name).slice(1).toLowerCase()) ?? type;
}
