import { extname, resolve } from "node:path";
import { essenceOf, MediaRanges, typeOfExtension } from "../../semantics/mod.ts";
import type { FormSettings } from "../form/form_options.ts";
import { type InnerOptions, requireDecode } from "../body/upload_options.ts";
import { refuseUnused } from "../../streams/internal.ts";
import { Sessions } from "../session/sessions.ts";
import { BucketStorage, DiskStorage, type Storage } from "./storage.ts";
import { resumableOptions, type UploadHandlerOptions, uploadHandlerOptions } from "./handler_options.ts";
import { type AllowedOrigins, allowedOrigins, type UploadLogEntry } from "./incoming.ts";

/** {@linkcode UploadHandlerOptions} with their defaults, checked. */
export interface Settings extends Pick<UploadHandlerOptions, "name" | "onComplete"> {
  readonly storage: Storage;
  /** The base path, which begins and ends with a slash. */
  readonly basePath: string;
  /** The public path, which ends with a slash; undefined if it is the base path, after the path that a router removed. */
  readonly publicPath: string | undefined;
  readonly accept: MediaRanges | undefined;
  readonly dotfiles: boolean;
  /** The accepted extensions in lower case, each with its dot; undefined for all. */
  readonly extensions: readonly string[] | undefined;
  readonly allowedOrigins: AllowedOrigins;
  readonly save: FormSettings & InnerOptions;
  readonly log: (entry: UploadLogEntry) => void;
  readonly activity: Activity;
  readonly sessions: Sessions | undefined;
}

/** Computes the settings of `options`, and creates the folder. @throws {Error} if it is missing and cannot be created. */
export function settingsOf(options: UploadHandlerOptions): Settings {
  const given = uploadHandlerOptions.check(options);
  requireDecode(given);
  if (given.storage !== undefined) {
    refuseUnused(given, ["mode", "flush"], "is for files, and the storage is a bucket", uploadHandlerOptions());
  }
  const { directory: folder, storage: bucket, basePath, publicPath, name, log, ...rest } = uploadHandlerOptions(given);
  const { dotfiles, extensions, accept, allowCrossSite, resumable, onComplete, ...others } = rest;
  if (bucket !== undefined && folder !== undefined) throw new TypeError("directory and storage exclude each other");
  if (bucket === undefined && folder === undefined) {
    throw new TypeError("createUploadHandler() needs the option directory or storage: a path, or an S3Bucket");
  }
  const directory = folder === undefined ? undefined : resolve(String(folder)); // URLs were converted by the schema
  if (directory?.includes("\0")) {
    throw new TypeError(`directory ${JSON.stringify(directory)} has a NUL in it: name the folder by its path`);
  }
  if (extensions?.length === 0) throw new TypeError('extensions is empty: name one such as "png"');
  const ranges = accept === undefined ? undefined : new MediaRanges(accept);
  const save: FormSettings & InnerOptions = {
    ...others,
    ...(directory !== undefined && { root: directory }),
    leavesBody: true,
    typeOf: (given, filename) => typeOf(ranges, given, filename, "text/plain"),
  };
  const limits = resumable === true ? resumableOptions() : resumable;
  const storage = directory === undefined ? new BucketStorage(bucket!) : new DiskStorage(directory, save);
  return {
    storage,
    basePath: `/${basePath}/`.replace(/\/{2,}/g, "/"),
    publicPath: publicPath?.replace(/\/*$/, "/"),
    name,
    dotfiles,
    extensions: extensions?.map((extension) => `.${extension.replace(/^\./, "").toLowerCase()}`),
    accept: ranges,
    allowedOrigins: allowedOrigins(allowCrossSite),
    save,
    log,
    onComplete,
    activity: new Activity(),
    sessions: limits ? new Sessions(storage.sessions(limits.maxAge), limits) : undefined,
  };
}

/** Types without information about a file; curl sends the second one with all data of `--data-binary`. */
const UNKNOWN: readonly string[] = ["application/octet-stream", "application/x-www-form-urlencoded"];

/** Returns the effective type of a file: the sender's, or with `accept`, if that has no information, its extension's. */
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

/** The requests in progress of a handler, and whether it accepts more of them. */
export class Activity {
  /** Whether the handler is closed: requests are refused, and connections close with their responses. */
  isOver = false;
  readonly #requests = new Set<Promise<unknown>>();

  async during<T>(use: () => Promise<T>): Promise<T> {
    const request = use();
    this.#requests.add(request);
    return await request.finally(() => this.#requests.delete(request));
  }

  /** Refuses further requests; resolves when all accepted ones have responses. */
  async end(): Promise<void> {
    this.isOver = true;
    await Promise.allSettled(this.#requests);
  }
}
