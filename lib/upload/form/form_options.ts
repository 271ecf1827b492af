import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastingPath } from "../../files/internal.ts";
import { extensionOfType } from "../../semantics/mod.ts";
import { UploadError } from "../body/upload_error.ts";
import { integer, schema, type SchemaOf, text } from "../../streams/internal.ts";
import { bodyMembers, type SaveBodyOptions } from "../body/upload_options.ts";
import type { BodyDestination } from "../sink/open_sink.ts";

/**
 * A file of a form, as its sender describes it (RFC 7578, section 4).
 *
 * @example Choose a folder by the form's field
 * ```ts
 * import type { FormPart } from "@millrace/streams/upload";
 *
 * const place = ({ name }: FormPart): string => name === "scan" ? "scans/scan.pdf" : "other.bin";
 * console.log(place({ name: "scan", filename: "../../report.pdf", contentType: "text/plain" })); // scans/scan.pdf
 * ```
 */
export interface FormPart {
  /** The name of the form's field. */
  readonly name: string;
  /** The file's name at the sender: any text, such as `../../etc/passwd`. Never use it as a path. */
  readonly filename: string;
  /** The media type that the sender gives the file, with its parameters; `text/plain` if there is none. */
  readonly contentType: string;
}

export function malformed(message: string): UploadError {
  return new UploadError("MALFORMED", `The form is malformed: ${message}`);
}

export function tooLarge(what: string, value: number, unit: string, limit: string): UploadError {
  return new UploadError("TOO_LARGE", `${what} more than the ${value} ${unit} that are accepted (${limit})`);
}

export type FormDestination = string | URL | ResolveDestination;

export type ResolveDestination = (part: FormPart) => BodyDestination | undefined | Promise<BodyDestination | undefined>;

export function destinationResolver(destination: FormDestination, root: SaveFormOptions["root"]): ResolveDestination {
  if (typeof destination === "function") return destination;
  if (typeof destination !== "string" && !(destination instanceof URL)) {
    const message = "a folder's path or file: URL, or a function that gives a destination for each file";
    throw new TypeError(`The destination of a form must be ${message}, not ${String(destination)}`);
  }
  const given = typeof destination === "string" ? destination : fileURLToPath(destination);
  // With a root, relative paths need no fixed working directory.
  const folder = root === undefined ? lastingPath(given || ".") : given;
  return ({ filename, contentType }) => join(folder, randomName(filename, contentType));
}

/** Returns a random UUID with the name's ending among `endings`, or its extension of letters and digits, or that of the type. */
export function randomName(filename: string, contentType: string, endings: readonly string[] = []): string {
  const lower = filename.toLowerCase();
  const own = endings.find((ending) => lower.endsWith(ending)) ?? /\.[\da-z]{1,16}$/.exec(lower)?.[0];
  const extension = own === undefined ? extensionOfType(contentType) : own.slice(1);
  return extension === undefined ? randomUUID() : `${randomUUID()}.${extension}`;
}

/**
 * Options of {@linkcode saveForm}. Options for receiving, such as `maxBytes`, `expectedBytes` and `timeout`, apply to
 * the whole body of the request; `root`, `overwrite`, `mode`, `flush` and `digest` to each file.
 *
 * @example One picture of at most 5 MB, and a few words
 * ```ts
 * import type { SaveFormOptions } from "@millrace/streams/upload";
 *
 * const options: SaveFormOptions = { maxParts: 5, maxFileBytes: 5_000_000, maxFieldBytes: 1000, digest: "sha-256" };
 * console.log(options.maxParts); // 5
 * ```
 */
export interface SaveFormOptions extends SaveBodyOptions {
  /**
   * The maximum number of parts of a form: its files and fields.
   *
   * @default 1000
   */
  maxParts?: number;
  /**
   * The maximum size of one file, in bytes; skipped files are limited only by `maxBytes`.
   *
   * @default Infinity
   */
  maxFileBytes?: number;
  /**
   * The maximum size of the text of one field, in bytes.
   *
   * @default 1_048_576
   */
  maxFieldBytes?: number;
  /**
   * The maximum size of all names and texts of fields together, in bytes, which are kept in memory.
   *
   * @default 16_777_216
   */
  maxFieldsBytes?: number;
  /**
   * The maximum size of the name of a field, and of the name of a file, in bytes.
   *
   * @default 1024
   */
  maxNameBytes?: number;
  /**
   * The maximum size of the header of one part, in bytes, from 1 to 16384.
   *
   * @default 16_384
   */
  maxHeaderBytes?: number;
  /**
   * The `Content-Type` of the body, with its boundary, required if the source is a stream, which has none.
   *
   * @default the `Content-Type` of the request
   */
  contentType?: string;
}

/** The maximum size of a part's header that the parser accepts, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

export type FormDefaults = Exclude<
  keyof SaveFormOptions,
  "expectedBytes" | "signal" | "onProgress" | "maxDecodedBytes" | "root" | "mode" | "digest" | "contentType"
>;

export const saveFormOptions: SchemaOf<SaveFormOptions, FormDefaults> = /* @__PURE__ */ schema("saveForm()", () => ({
  ...bodyMembers(),
  maxParts: integer(0, Infinity, 1000),
  maxFileBytes: integer(0, Infinity, Infinity),
  maxFieldBytes: integer(0, Infinity, 1024 * 1024),
  maxFieldsBytes: integer(0, Infinity, 16 * 1024 * 1024),
  maxNameBytes: integer(0, Infinity, 1024),
  maxHeaderBytes: integer(1, MAX_HEADER_BYTES, MAX_HEADER_BYTES),
  contentType: text(),
}));

export type FormSettings = SaveFormOptions & Pick<ReturnType<typeof saveFormOptions>, FormDefaults>;
