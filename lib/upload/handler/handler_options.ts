import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkFormOptions, type SaveFormOptions } from "../form/form_options.ts";
import { requireKnown } from "../../options/mod.ts";
import { type InnerOptions, knownOptions, requireType } from "../save_options.ts";
import { type AllowedOrigins, allowedOrigins } from "./cross_site.ts";
import { type UploadLogEntry, warnOfFailures } from "./log.ts";
import { MediaRanges } from "./media_ranges.ts";

/**
 * A file that is to be named.
 *
 * @example A folder for each user, whom the server in front names
 * ```ts
 * import { createUploadHandler, type UploadInfo } from "@millrace/streams/upload";
 * import { mkdir } from "node:fs/promises";
 *
 * await mkdir("uploads/ada");
 * const name = ({ headers, path }: UploadInfo): string => `${headers.get("x-user")}/${path}`;
 * const uploads = createUploadHandler({ directory: "uploads", name });
 * const headers = { "x-user": "ada" };
 * const request = new Request("http://localhost/note.txt", { method: "PUT", headers, body: "all of it" });
 * console.log((await (await uploads.fetch(request)).json()).files[0].name); // ada/note.txt
 * ```
 */
export interface UploadInfo {
  /** `PUT` or `POST`. */
  readonly method: string;
  /** The path of the URL below `basePath`, decoded; `""` if there is none. It may be any text, also with `..` in it. */
  readonly path: string;
  /** The name of the form's field. Only of files in forms. */
  readonly field?: string;
  /** The name that the file has at the sender: any text. Only of files in forms. */
  readonly filename?: string;
  /** The media type that the sender gives the file, with its parameters. */
  readonly contentType: string;
  /** The fields of the request. */
  readonly headers: Headers;
}

/**
 * Options of {@linkcode createUploadHandler}. Those of forms hold for forms only, the others for all uploads.
 *
 * @example Pictures only, and nobody overwrites anything
 * ```ts
 * import { createUploadHandler, type UploadHandlerOptions } from "@millrace/streams/upload";
 *
 * const options: UploadHandlerOptions = { directory: "uploads", maxBytes: 5_000_000, accept: "image/*" };
 * const uploads = createUploadHandler(options);
 * const headers = { "content-type": "text/plain" };
 * const response = await uploads.fetch(new Request("http://localhost/a.txt", { method: "PUT", headers, body: "no" }));
 * console.log(response.status, (await response.json()).code); // 415 UNSUPPORTED
 * ```
 */
export interface UploadHandlerOptions
  extends Omit<SaveFormOptions, "root" | "signal" | "expectedBytes" | "contentType"> {
  /** The folder that files are stored in. It is made if it is missing. */
  directory: string | URL;
  /**
   * What precedes names in the paths of URLs; requests for other paths are not answered, or with 404.
   *
   * @default "/"
   */
  basePath?: string;
  /**
   * Gives each file its name: a path below the folder, with slashes, whose folders must be there. Undefined refuses it:
   * with 404, or, in a form, by skipping it. An `UploadError` that it throws is answered with its status, anything
   * else with 500.
   *
   * @default the URL's path for PUT; for POST a random UUID with the extension that the file of a form has at the
   * sender, unless `accept` is given, or that of the type
   */
  name?: (upload: UploadInfo) => string | undefined | Promise<string | undefined>;
  /**
   * The media types to accept, as in `Accept`: `"image/*"`, or `["text/csv", "application/json"]`. Others are answered
   * with 415; a file without one counts as `application/octet-stream`. Default: all.
   */
  accept?: string | readonly string[];
  /**
   * Whether pages of other sites may have a visitor's browser upload: of all, or of those origins only, such as
   * `["https://app.example"]`. Without it they are answered with 403, as browsers tell them by `Sec-Fetch-Site` and
   * `Origin`; programs other than browsers tell neither, and may upload.
   *
   * @default false
   */
  allowCrossSite?: boolean | readonly string[];
  /**
   * Most bytes of a body to receive.
   *
   * @default 1_073_741_824
   */
  maxBytes?: number;
  /**
   * Most ms to wait for the next byte.
   *
   * @default 30_000
   */
  idleTimeout?: number;
  /**
   * Fewest bytes a second that a sender may send, on the average of each 30 s, or of `idleTimeout` if that is longer.
   *
   * @default 1024; 0 for no limit
   */
  minRate?: number;
  /**
   * Told of every answer, and of each sender who left, with status 499. What it throws does not change the answer, and
   * is printed by `console.warn`.
   *
   * @default a line by `console.warn` for 499 and from 500 on
   */
  log?: (entry: UploadLogEntry) => void;
}

/** {@linkcode UploadHandlerOptions} with their defaults, checked. */
export interface Settings {
  /** An absolute path. */
  readonly directory: string;
  /** Begins and ends with a slash. */
  readonly basePath: string;
  readonly name: UploadHandlerOptions["name"];
  /** Undefined: all. */
  readonly accept: MediaRanges | undefined;
  readonly allowedOrigins: AllowedOrigins;
  /** How bodies and forms are stored. */
  readonly save: SaveFormOptions & InnerOptions;
  readonly log: (entry: UploadLogEntry) => void;
}

const known = {
  directory: true,
  basePath: true,
  name: true,
  accept: true,
  allowCrossSite: true,
  log: true,
  ...knownOptions,
};

const GIBIBYTE = 2 ** 30;

/**
 * The settings that `options` ask for. Makes the folder.
 *
 * @throws {TypeError | RangeError} if an option is not what it should be.
 * @throws {Error} if the folder is missing and cannot be made.
 */
export function settingsOf(options: UploadHandlerOptions): Settings {
  requireKnown(options, known, "createUploadHandler()");
  const { directory: folder, basePath = "/", name, accept, allowCrossSite, log = warnOfFailures, ...others } = options;
  requireType("name", name, "function");
  requireType("log", log, "function");
  const directory = directoryOf(folder);
  // A script might pass more than its types say.
  const ours = {
    root: directory,
    leavesBody: true,
    signal: undefined,
    expectedBytes: undefined,
    contentType: undefined,
  };
  const given = withoutUndefined(others);
  const save = { maxBytes: GIBIBYTE, idleTimeout: 30_000, minRate: 1024, ...given, ...ours } as
    & SaveFormOptions
    & InnerOptions;
  checkFormOptions(save);
  const settings = {
    directory,
    basePath: basePathOf(basePath),
    name,
    accept: accept === undefined ? undefined : new MediaRanges(accept),
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
