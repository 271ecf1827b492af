import { pathOption } from "../../files/internal.ts";
import type { S3Bucket } from "../../s3/mod.ts";
import {
  anyOf,
  bool,
  func,
  listOf,
  member,
  nested,
  number,
  schema,
  type SchemaOf,
  text,
} from "../../streams/internal.ts";
import { limit, rate, timeLimit } from "../body/upload_options.ts";
import { type SaveFormOptions, saveFormOptions } from "../form/form_options.ts";
import type { SavedBody } from "../sink/save_body.ts";
import { isOrigin } from "./cross_site.ts";
import { type UploadLogEntry, warnOfFailures } from "./incoming.ts";

/**
 * A file that is to be named.
 *
 * @example A folder for each user, whom the server in front names
 * ```ts
 * import type { UploadInfo } from "@millrace/streams/upload";
 *
 * const name = ({ headers, path }: UploadInfo): string => `${headers.get("x-user")}/${path}`;
 * const headers = new Headers({ "x-user": "ada" });
 * console.log(name({ method: "PUT", path: "note.txt", contentType: "text/plain", headers })); // ada/note.txt
 * ```
 */
export interface UploadInfo {
  /** `PUT` or `POST`. */
  readonly method: string;
  /** The path of the URL below `basePath`, decoded; `""` if there is none. It may be any text, also with `..` in it. */
  readonly path: string;
  /** The name of the form's field. Only of files in forms. */
  readonly field?: string;
  /** The name that the file has at the sender: any text. Of files in forms and of resumable uploads. */
  readonly filename?: string;
  /** The metadata that the sender of a tus upload gives the file: any texts. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The media type that the sender gives the file, with its parameters, or that it counts as by `accept`. */
  readonly contentType: string;
  /** The fields of the request. */
  readonly headers: Headers;
}

/**
 * A file that was stored, as `onComplete` gets it.
 *
 * @example Note each file in a list of your own
 * ```ts
 * import { type CompletedUpload, createUploadHandler } from "@millrace/streams/upload";
 *
 * const list: string[] = [];
 * const onComplete = ({ name, bytes }: CompletedUpload): void => void list.push(`${name}: ${bytes}`);
 * const uploads = createUploadHandler({ directory: "uploads", onComplete });
 * await uploads.fetch(new Request("http://localhost/note.txt", { method: "PUT", body: "all of it" }));
 * console.log(list.join()); // note.txt: 9
 * ```
 */
export interface CompletedUpload
  extends SavedBody, Pick<UploadInfo, "contentType" | "field" | "filename" | "metadata"> {
  /** The name under which it is stored, with slashes. */
  readonly name: string;
}

/**
 * The options of resumable uploads.
 *
 * @example Keep unfinished uploads for an hour
 * ```ts
 * import type { ResumableOptions } from "@millrace/streams/upload";
 *
 * const resumable: ResumableOptions = { maxAge: 3_600_000 };
 * console.log(resumable.maxAge); // 3600000
 * ```
 */
export interface ResumableOptions {
  /**
   * The time that an unfinished upload is kept after its last byte, and the response to a finished one, in ms.
   *
   * @default 86_400_000, a day
   */
  maxAge?: number;
  /**
   * The maximum number of uploads that are unfinished at a time, about; another one is answered with 503.
   *
   * @default 10_000
   */
  maxUnfinished?: number;
}

/**
 * Options of {@linkcode createUploadHandler}. Those of forms hold for forms only, the others for all uploads.
 *
 * @example Pictures only, without overwriting
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
  /** The folder that files are stored in. It is made if it is missing. This or `storage` there must be. */
  directory?: string | URL;
  /**
   * The bucket that files are stored in, under their names. Folders need not be there, `mode` and `flush` are refused,
   * and files have the entity tags of their objects.
   */
  storage?: S3Bucket;
  /**
   * The path before names in URLs; requests for other paths are passed on to the next handler, or get a 404.
   *
   * @default "/"
   */
  basePath?: string;
  /**
   * The path before names in `Location`, or a URL, as senders reach it through a proxy that takes a part of it off, such
   * as `"/api/uploads/"` or `"https://uploads.example/"`.
   *
   * @default `basePath`, behind what a router such as Express took off
   */
  publicPath?: string;
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
   * with 415. A file whose sender gives no type, `application/octet-stream` or `application/x-www-form-urlencoded`, as
   * curl does, counts as what its name's extension says.
   *
   * @default all
   */
  accept?: string | readonly string[];
  /**
   * Whether names may begin with a dot, or lead through a folder whose name does, such as `.htaccess` and
   * `.ssh/authorized_keys`. Without it they are answered with 400, those that `name` gives too.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * The extensions that names may have, such as `["png", "pdf"]`, in capitals too: the name under which a file is
   * stored, and the one that a file of a form has at the sender. Others, and names without one, are answered with 415.
   * The last extension counts: `x.php.png` is a `png`; `tar.gz` asks for both.
   *
   * @default all
   */
  extensions?: readonly string[];
  /**
   * Whether pages of other sites may have a visitor's browser upload: of all, or of those origins only, such as
   * `["https://app.example"]`. Without it they are answered with 403, as browsers tell them by `Sec-Fetch-Site` and
   * `Origin`; programs other than browsers tell neither, and may upload. With `resumable`, answers have the fields of CORS;
   * an origin in a list may send cookies.
   *
   * @default false
   */
  allowCrossSite?: boolean | readonly string[];
  /**
   * The maximum number of bytes of a body to receive; more is answered with 413.
   *
   * @default 1_073_741_824
   */
  maxBytes?: number;
  /**
   * The maximum wait for the next byte in ms; a sender that takes longer is answered with 408, and cut.
   *
   * @default 30_000
   */
  idleTimeout?: number;
  /**
   * The minimum bytes a second from a sender, on the average of each 30 s, or of `idleTimeout` if that is longer. A
   * sender of fewer is answered with 408, and cut.
   *
   * @default 1024; 0 for no limit
   */
  minRate?: number;
  /**
   * Whether uploads that were cut can go on where they stopped, by tus 1.0.0 and by Resumable Uploads for HTTP. What has
   * come is kept in `.millrace-uploads` below the folder.
   *
   * @default false
   */
  resumable?: boolean | ResumableOptions;
  /**
   * Called with each file once it is stored, before its sender is answered. If it throws, the sender gets the status of
   * an `UploadError`, otherwise 500; the file stays. After a kill of the server it may be called twice.
   */
  onComplete?: (upload: CompletedUpload) => void | Promise<void>;
  /**
   * Called with every answer, and for each sender who left, with status 499. What it throws does not change the answer,
   * and is printed by `console.warn`.
   *
   * @default a line by `console.warn` for 499 and from 500 on
   */
  log?: (entry: UploadLogEntry) => void;
}

/** A path, or a URL without a query, as a header field may have it. */
const PUBLIC_PATH = /^(?:https?:\/\/[^/?#\s\\]+)?\/(?!\/)[!$-.0-;=@-[\]^-~/%]*$/i;
const DAY = 24 * 60 * 60 * 1000;
/** An extension as users write it, with or without its dot: `png`, `.png`, `tar.gz`. */
const EXTENSION = /^\.?[^\s./\\*?]+(?:\.[^\s./\\*?]+)*$/;

export const resumableOptions: SchemaOf<ResumableOptions, keyof ResumableOptions> = /* @__PURE__ */ schema(
  "createUploadHandler()",
  () => ({ maxAge: number(1000, Number.MAX_SAFE_INTEGER, DAY), maxUnfinished: number(1, Infinity, 10_000) }),
);

/** The limits are for unknown senders. */
export const uploadHandlerOptions: SchemaOf<
  UploadHandlerOptions & { resumable?: boolean | Required<ResumableOptions> },
  Exclude<
    keyof UploadHandlerOptions,
    | "directory"
    | "storage"
    | "publicPath"
    | "name"
    | "accept"
    | "extensions"
    | "onComplete"
    | "onProgress"
    | "maxDecodedBytes"
    | "mode"
    | "digest"
  >
> = /* @__PURE__ */ schema("createUploadHandler()", () => {
  const { root: _root, signal: _signal, expectedBytes: _bytes, contentType: _type, ...saving } =
    saveFormOptions.members;
  return {
    directory: pathOption(),
    storage: member<S3Bucket>("an S3Bucket of @millrace/streams/s3", isBucket),
    basePath: text("/", 'a path such as "/files/"', (path) => !/[?#\\]|\/\//.test(path)),
    publicPath: text(undefined, 'a path or a URL such as "/api/uploads/"', (path) => PUBLIC_PATH.test(path)),
    name: func<NonNullable<UploadHandlerOptions["name"]>>(),
    accept: anyOf([text(), listOf(text(), "a list of media types")]),
    dotfiles: bool(false),
    extensions: listOf(
      text(undefined, 'an extension such as "png"', (extension) => EXTENSION.test(extension)),
      'a list of extensions such as ["png", "pdf"]',
    ),
    allowCrossSite: anyOf([
      bool(),
      listOf(
        text(undefined, 'an origin such as "https://app.example"', isOrigin),
        'a list of origins such as "https://app.example"',
      ),
    ], false),
    ...saving,
    maxBytes: limit(2 ** 30),
    idleTimeout: timeLimit(30_000),
    minRate: rate(1024),
    resumable: anyOf([bool(), nested(resumableOptions)], false),
    onComplete: func<NonNullable<UploadHandlerOptions["onComplete"]>>(),
    log: func<NonNullable<UploadHandlerOptions["log"]>>(warnOfFailures),
  };
});

function isBucket(value: unknown): boolean {
  const { writable, join } = Object(value) as { writable?: unknown; join?: unknown };
  return typeof writable === "function" && typeof join === "function";
}
