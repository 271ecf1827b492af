import { pathOption } from "../../files/internal.ts";
import type { S3Bucket } from "../../s3/mod.ts";
import {
  anyOf,
  bool,
  func,
  integer,
  listOf,
  member,
  nested,
  number,
  schema,
  type SchemaOf,
  text,
} from "../../streams/internal.ts";
import { timeLimit } from "../body/upload_options.ts";
import { type FormDefaults, type SaveFormOptions, saveFormOptions } from "../form/form_options.ts";
import type { SavedBody } from "../sink/save_body.ts";
import { ORIGIN, type UploadLogEntry, warnOfFailures } from "./incoming.ts";

/**
 * A file that needs a name.
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
  /** The path of the URL below `basePath`, decoded; `""` if there is none. It may be any text, even with `..`. */
  readonly path: string;
  /** The name of the form's field; only for files of forms. */
  readonly field?: string;
  /** The file's name at the sender: any text. Only for files of forms and resumable uploads. */
  readonly filename?: string;
  /** The metadata of a tus upload by its sender: any texts. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The file's media type by its sender, with its parameters, or the type that applies to it by `accept`. */
  readonly contentType: string;
  /** The header fields of the request. */
  readonly headers: Headers;
}

/**
 * A stored file, the argument of `onComplete`.
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
  /** The name of the stored file, with slashes. */
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
   * The time in ms that an unfinished upload is kept after its last byte, and the response to a finished one.
   *
   * @default 86_400_000, a day
   */
  maxAge?: number;
  /**
   * The approximate maximum number of unfinished uploads; a further one gets a 503.
   *
   * @default 10_000
   */
  maxUnfinished?: number;
}

/**
 * Options of {@linkcode createUploadHandler}. The options of forms apply to forms only, the others to all uploads.
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
  /** The folder that files are stored in, created if missing. Either this or `storage` is required. */
  directory?: string | URL;
  /**
   * The bucket that files are stored in, under their names. Folders need not exist, `mode` and `flush` are refused, and
   * files have the entity tags of their objects.
   */
  storage?: S3Bucket;
  /**
   * The path before names in URLs; requests for other paths go to the next handler, or get a 404.
   *
   * @default "/"
   */
  basePath?: string;
  /**
   * The public path before names in `Location`, or a URL, if a proxy removes a part of the path, such as
   * `"/api/uploads/"` or `"https://uploads.example/"`.
   *
   * @default `basePath`, after the path that a router such as Express removed
   */
  publicPath?: string;
  /**
   * Returns the name of a file: a path below the folder, with slashes, whose folders must exist. Undefined refuses the
   * file: with 404, or by skipping it in a form. A thrown `UploadError` sets the status of the response, other errors
   * cause a 500.
   *
   * @default the URL's path for PUT; for POST a random UUID, with the extension of the file's name in a form unless
   * `accept` is given, otherwise with that of the type
   */
  name?: (upload: UploadInfo) => string | undefined | Promise<string | undefined>;
  /**
   * The media types to accept, as in `Accept`: `"image/*"`, or `["text/csv", "application/json"]`. Others get a 415. If
   * the sender gives no type, `application/octet-stream`, or `application/x-www-form-urlencoded` as curl does, the
   * extension of the file's name determines the type.
   *
   * @default all
   */
  accept?: string | readonly string[];
  /**
   * Whether names may have a part that begins with a dot, such as `.htaccess` and `.ssh/authorized_keys`. If false,
   * they get a 400, even if `name` returned them.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * The extensions that names may have, such as `["png", "pdf"]`, in any case: for the stored name, and for the file's
   * name at its sender, in forms and resumable uploads. Other extensions, and names without one, get a 415. The last extension counts:
   * `x.php.png` is a `png`; `tar.gz` requires both parts.
   *
   * @default all
   */
  extensions?: readonly string[];
  /**
   * Whether pages of other sites may upload through a visitor's browser: `true` for all, or a list of origins such as
   * `["https://app.example"]`. Other pages get a 403, recognized by the fields `Sec-Fetch-Site` and `Origin` of
   * browsers; other programs send neither, and may upload. With `resumable`, responses have CORS fields; listed origins
   * may send cookies.
   *
   * @default false
   */
  allowCrossSite?: boolean | readonly string[];
  /**
   * The maximum bytes of a body; more get a 413.
   *
   * @default 1_073_741_824
   */
  maxBytes?: number;
  /**
   * The maximum wait for the next byte in ms; a slower sender gets a 408, and its connection closes.
   *
   * @default 30_000
   */
  idleTimeout?: number;
  /**
   * The minimum bytes a second from a sender, on the average of each 30 s, or of `idleTimeout` if that is longer. A
   * slower sender gets a 408, and its connection closes.
   *
   * @default 1024; 0 for no limit
   */
  minRate?: number;
  /**
   * Whether interrupted uploads can be resumed, by tus 1.0.0 and by Resumable Uploads for HTTP. Received bytes are kept
   * in `.millrace-uploads` below the folder.
   *
   * @default false
   */
  resumable?: boolean | ResumableOptions;
  /**
   * Called with each stored file, before its sender gets a response. If it throws, the sender gets the status of an
   * `UploadError`, otherwise 500; the file stays, unless the function removes it. After a 500, or a kill of the server,
   * the next request for a resumable upload calls it again if the name still has the upload's file.
   */
  onComplete?: (upload: CompletedUpload) => void | Promise<void>;
  /**
   * Called with every response, and for each sender that left, with status 499. An exception in it does not change the
   * response, and is printed by `console.warn`.
   *
   * @default a line by `console.warn` for 499, 500 and above
   */
  log?: (entry: UploadLogEntry) => void;
}

/** A path, or a URL without a query, in characters that a header field may contain. */
const PUBLIC_PATH = /^(?:https?:\/\/[^/?#\s\\]+)?\/(?!\/)[!$-.0-;=@-[\]^-~/%]*$/i;
const DAY = 24 * 60 * 60 * 1000;
/** An extension, with or without its dot: `png`, `.png`, `tar.gz`. */
const EXTENSION = /^\.?[^\s./\\*?]+(?:\.[^\s./\\*?]+)*$/;

export const resumableOptions: SchemaOf<ResumableOptions, keyof ResumableOptions> = /* @__PURE__ */ schema(
  "createUploadHandler()",
  () => ({ maxAge: number(1000, Number.MAX_SAFE_INTEGER, DAY), maxUnfinished: number(1, Infinity, 10_000) }),
);

/** The schema of the handler's options, whose limits suit unknown senders. */
export const uploadHandlerOptions: SchemaOf<
  UploadHandlerOptions & { resumable?: boolean | Required<ResumableOptions> },
  FormDefaults | "allowCrossSite" | "basePath" | "dotfiles" | "log" | "resumable"
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
        text(undefined, 'an origin such as "https://app.example"', (origin) => ORIGIN.test(origin)),
        'a list of origins such as "https://app.example"',
      ),
    ], false),
    ...saving,
    maxBytes: integer(0, Infinity, 2 ** 30),
    idleTimeout: timeLimit(30_000),
    minRate: number(0, Number.MAX_SAFE_INTEGER, 1024),
    resumable: anyOf([bool(), nested(resumableOptions)], false),
    onComplete: func<NonNullable<UploadHandlerOptions["onComplete"]>>(),
    log: func<NonNullable<UploadHandlerOptions["log"]>>(warnOfFailures),
  };
});

function isBucket(value: unknown): boolean {
  const { writable, join } = Object(value) as { writable?: unknown; join?: unknown };
  return typeof writable === "function" && typeof join === "function";
}
