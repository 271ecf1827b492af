import { fieldValue } from "../semantics/mod.ts";
import {
  bool,
  hasMembers,
  integer,
  type Member,
  number,
  quoted,
  schema,
  type SchemaOf,
  signal,
  text,
  wrongType,
} from "../streams/internal.ts";

/**
 * The properties of an object.
 *
 * @example The size of an object
 * ```ts
 * import type { S3Object } from "@millrace/streams/s3";
 *
 * const found: S3Object = { key: "a.mp4", size: 12, etag: '"9b2c…"', lastModified: new Date() };
 * console.log(found.size); // 12
 * ```
 */
export interface S3Object extends S3Stored {
  /** The time at which it was stored. */
  readonly lastModified: Date;
  /** The media type, if the store reports it: not in listings. */
  readonly contentType?: string;
  /** The SHA-256 in base64, if the store has it; for uploads in parts, of the parts' SHA-256, `-` and their number. */
  readonly sha256?: string;
  /** The version, in a bucket that keeps versions; not in listings. */
  readonly versionId?: string;
  /** The `metadata` of the object; not in listings. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * The result of storing an object.
 *
 * @example The entity tag of what was stored
 * ```ts
 * import type { S3Stored } from "@millrace/streams/s3";
 *
 * const stored: S3Stored = { key: "a.mp4", size: 12, etag: '"9b2c…"' };
 * console.log(stored.etag); // "9b2c…"
 * ```
 */
export interface S3Stored {
  /** The object's name in the bucket. */
  readonly key: string;
  /** The object's size in bytes. */
  readonly size: number;
  /** The entity tag, in quotes. */
  readonly etag: string;
}

/**
 * The options of storing an object.
 *
 * @example A page that browsers ask for again after a minute
 * ```ts
 * import type { S3PutOptions } from "@millrace/streams/s3";
 *
 * const options: S3PutOptions = { contentType: "text/html", cacheControl: "max-age=60", overwrite: false };
 * console.log(options.cacheControl); // max-age=60
 * ```
 */
export interface S3PutOptions {
  /**
   * The media type.
   *
   * @default the store's default, usually `binary/octet-stream`
   */
  contentType?: string;
  /** The field `Cache-Control` of responses. */
  cacheControl?: string;
  /** The field `Content-Disposition` of responses. */
  contentDisposition?: string;
  /** The field `Content-Encoding` of responses. */
  contentEncoding?: string;
  /** Names and values that are stored with the object. */
  metadata?: Readonly<Record<string, string>>;
  /**
   * Whether an existing object of the key is replaced. `false` is the condition `If-None-Match: *`, which some stores
   * do not support: Garage 2 stores the object nevertheless.
   *
   * @default true
   */
  overwrite?: boolean;
  /** The entity tag that the replaced object must have, as `If-Match`, which some stores do not support. */
  ifMatch?: string;
  /** Aborts the operation. */
  signal?: AbortSignal;
}

/**
 * The options of writing an object as a stream.
 *
 * @example At most two parts at a time
 * ```ts
 * import type { S3WritableOptions } from "@millrace/streams/s3";
 *
 * const options: S3WritableOptions = { contentType: "video/mp4", concurrency: 2 };
 * console.log(options.concurrency); // 2
 * ```
 */
export interface S3WritableOptions extends S3PutOptions {
  /**
   * The number of bytes that will be written, from which the size of parts is computed. Without it, parts grow in
   * objects of more than 62.5 GiB, which R2 does not accept.
   */
  size?: number;
  /**
   * The maximum number of the object's parts sent in parallel.
   *
   * @default 4
   */
  concurrency?: number;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Valid values of fields that signatures keep unchanged: no spaces at the ends, and no double spaces. */
const VALUE = /^(?! )(?!.* {2})[\x20-\x7e]*(?<! )$/;

export function signedField(): Member<string, undefined> {
  return text(undefined, "printable ASCII", (value) => VALUE.test(value));
}

function putMembers(): SchemaOf<S3PutOptions, "overwrite">["members"] {
  return {
    contentType: fieldValue(),
    cacheControl: signedField(),
    contentDisposition: signedField(),
    contentEncoding: signedField(),
    metadata: { fallback: undefined, expected: "an object of names and texts", check: checkedMetadata },
    overwrite: bool(true),
    ifMatch: signedField(),
    signal: signal(),
  };
}

function checkedMetadata(given: unknown, path: string): Readonly<Record<string, string>> {
  // A Map, Headers or a promise has no own members, which would be dropped silently.
  if (!hasMembers(given)) throw wrongType(path, "an object of names and texts", given);
  const names = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    if (names.size === names.add(name.toLowerCase()).size) throw new TypeError(`${path} has ${quoted(name)} twice`);
    if (!TOKEN.test(name)) throw new TypeError(`${quoted(name)} can be no name of ${path}`);
    if (typeof value !== "string" || !VALUE.test(value)) throw wrongType(`${path}.${name}`, "printable ASCII", value);
  }
  return { ...given } as Record<string, string>;
}

export const putOptions: SchemaOf<S3PutOptions, "overwrite"> = /* @__PURE__ */ schema("put()", putMembers);
export const copyOptions: SchemaOf<S3PutOptions, "overwrite"> = /* @__PURE__ */ schema("copy()", putMembers);
export const joinOptions: SchemaOf<S3PutOptions, "overwrite"> = /* @__PURE__ */ schema("join()", putMembers);

type WritableSchema = SchemaOf<S3WritableOptions, "overwrite" | "concurrency">;

function writableMembers(): WritableSchema["members"] {
  return { ...putMembers(), size: integer(0, Infinity), concurrency: number(1, Infinity, 4) };
}

export const writableOptions: WritableSchema = /* @__PURE__ */ schema("writable()", writableMembers);
export const resumeOptions: WritableSchema = /* @__PURE__ */ schema("resume()", writableMembers);

export type S3WritableSettings = ReturnType<typeof writableOptions>;

export function settingsOf<S extends ReturnType<typeof putOptions>>(options: (given: object) => S, given: object): S {
  const settings = options(given);
  if (settings.ifMatch === undefined || settings.overwrite) return settings;
  throw new TypeError("ifMatch is no option where overwrite is false");
}

export function fieldsOf(options: S3PutOptions): Record<string, string> {
  const { contentType, cacheControl, contentDisposition, contentEncoding, metadata = {} } = options;
  return {
    ...(contentType !== undefined && { "content-type": contentType }),
    ...(cacheControl !== undefined && { "cache-control": cacheControl }),
    ...(contentDisposition !== undefined && { "content-disposition": contentDisposition }),
    ...(contentEncoding !== undefined && { "content-encoding": contentEncoding }),
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name.toLowerCase()}`, value])),
  };
}

export function conditionsOf({ overwrite, ifMatch }: S3PutOptions): Record<string, string> {
  if (overwrite === false) return { "if-none-match": "*" };
  return ifMatch === undefined ? {} : { "if-match": ifMatch };
}
