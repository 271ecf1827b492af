import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { requireKnown } from "../../options/mod.ts";
import { checkFormOptions, type SaveFormOptions } from "../form/form_options.ts";
import { type InnerOptions, knownOptions, requireType } from "../save_options.ts";
import { type AllowedOrigins, allowedOrigins } from "./cross_site.ts";
import { Extensions } from "./extensions.ts";
import type { UploadHandlerOptions } from "./handler_options.ts";
import { type UploadLogEntry, warnOfFailures } from "./log.ts";
import { MediaRanges } from "../../semantics/mod.ts";
import { typeOf } from "./type_of.ts";

/** {@linkcode UploadHandlerOptions} with their defaults, checked. */
export interface Settings {
  /** An absolute path. */
  readonly directory: string;
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
}

/** Options of single bodies and forms, which a handler cannot have. */
const { root: _root, signal: _signal, expectedBytes: _bytes, contentType: _type, ...commonOptions } = knownOptions;

const known: Readonly<Record<keyof UploadHandlerOptions, true>> = {
  directory: true,
  basePath: true,
  name: true,
  dotfiles: true,
  extensions: true,
  accept: true,
  allowCrossSite: true,
  log: true,
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
  const { directory: folder, basePath = "/", name, log = warnOfFailures, ...rest } = options;
  const { dotfiles = false, extensions, accept, allowCrossSite, ...others } = rest;
  requireType("name", name, "function");
  requireType("log", log, "function");
  requireType("dotfiles", dotfiles, "boolean");
  const directory = directoryOf(folder);
  const ranges = accept === undefined ? undefined : new MediaRanges(accept);
  const save: SaveFormOptions & InnerOptions = {
    ...defaults,
    ...withoutUndefined(others),
    root: directory,
    leavesBody: true,
    typeOf: (given, filename) => typeOf(ranges, given, filename, "text/plain"),
  };
  checkFormOptions(save);
  const settings = {
    directory,
    basePath: basePathOf(basePath),
    name,
    dotfiles,
    extensions: extensions === undefined ? undefined : new Extensions(extensions),
    accept: ranges,
    allowedOrigins: allowedOrigins(allowCrossSite),
    save,
    log,
  };
  makeDirectory(directory);
  return settings;
}

function directoryOf(directory: unknown): string {
  const path = directory instanceof URL && directory.protocol === "file:" ? fileURLToPath(directory) : directory;
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return resolve(path);
  throw new TypeError(`directory must be a path or a file: URL, not ${JSON.stringify(path) ?? String(path)}`);
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot make the directory ${directory} for uploads: ${reason}`, { cause });
  }
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
