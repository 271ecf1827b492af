import { requireFieldValue } from "../semantics/mod.ts";
import { described, requireKnown } from "../streams/internal.ts";

/**
 * The facts about an object.
 *
 * @example The size of an object
 * ```ts
 * import type { S3Object } from "@millrace/streams/s3";
 *
 * const told = ({ key, size }: S3Object): string => `${key}: ${size} bytes`;
 * console.log(told({ key: "a.mp4", size: 12, etag: '"9b2c…"', lastModified: new Date() })); // a.mp4: 12 bytes
 * ```
 */
export interface S3Object {
  /** Its name in the bucket. */
  readonly key: string;
  /** How many bytes it has. */
  readonly size: number;
  /** Its entity tag, in quotes. */
  readonly etag: string;
  /** When it was stored. */
  readonly lastModified: Date;
  /** Its media type, where the store tells it: not in listings. */
  readonly contentType?: string;
  /** The SHA-256 of it in base64, or of the SHA-256 of its parts, with `-` and their number; where the store has it. */
  readonly sha256?: string;
  /** The `metadata` that it was stored with; not in listings. */
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
  /** Its name in the bucket. */
  readonly key: string;
  /** How many bytes it has. */
  readonly size: number;
  /** Its entity tag, in quotes. */
  readonly etag: string;
}

/**
 * How an object is stored.
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
  /** The media type. Default: what the store takes for none, mostly `binary/octet-stream`. */
  contentType?: string;
  /** The field `Cache-Control` of responses. Default: none. */
  cacheControl?: string;
  /** The field `Content-Disposition` of responses. Default: none. */
  contentDisposition?: string;
  /** The field `Content-Encoding` of responses. Default: none. */
  contentEncoding?: string;
  /** Names and values that are kept with the object. Default: none. */
  metadata?: Readonly<Record<string, string>>;
  /**
   * Whether an object of that key is replaced. `false` is the condition `If-None-Match: *`, which some stores don't know:
   * Garage 2 stores the object all the same.
   *
   * @default true
   */
  overwrite?: boolean;
  /** The entity tag that the object to be replaced must have, as `If-Match`; some stores don't know that. Default: any. */
  ifMatch?: string;
  /** Aborts the operation. */
  signal?: AbortSignal;
}

/**
 * How an object is written as a stream.
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
   * How many parts of it are sent at a time.
   *
   * @default 4
   */
  concurrency?: number;
}

const known: Readonly<Record<keyof S3WritableOptions, true>> = {
  contentType: true,
  cacheControl: true,
  contentDisposition: true,
  contentEncoding: true,
  metadata: true,
  overwrite: true,
  ifMatch: true,
  signal: true,
  concurrency: true,
};

/** Names that fields can have. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Values that fields can have and signatures keep: no spaces at the ends, none twice. */
const VALUE = /^(?! )(?!.* {2})[\x20-\x7e]*(?<! )$/;

/** Options that are fields of responses and of what is signed. */
const SIGNED = ["cacheControl", "contentDisposition", "contentEncoding", "ifMatch"] as const;

/** Sees that options are ones. */
export function checkWritableOptions(options: S3WritableOptions): void {
  requireKnown(options, known, "an object");
  const { concurrency = 4, overwrite = true, metadata = {}, ifMatch } = options;
  if (typeof overwrite !== "boolean") throw new TypeError(`overwrite must be a boolean, not ${described(overwrite)}`);
  if (typeof concurrency !== "number") {
    throw new TypeError(`concurrency must be a number, not ${described(concurrency)}`);
  }
  if (!(concurrency >= 1)) throw new RangeError(`concurrency must be a number from 1 on, not ${concurrency}`);
  if (ifMatch !== undefined && !overwrite) throw new TypeError("ifMatch is no option where overwrite is false");
  if (options.contentType !== undefined) requireFieldValue("contentType", options.contentType);
  for (const name of SIGNED) {
    const value: unknown = options[name];
    if (value === undefined || (typeof value === "string" && VALUE.test(value))) continue;
    throw new TypeError(`${name} must be printable ASCII, not ${described(value)}`);
  }
  for (const [name, value] of Object.entries(metadata)) {
    if (!TOKEN.test(name)) throw new TypeError(`${JSON.stringify(name)} can be no name of metadata`);
    if (typeof value !== "string" || !VALUE.test(value)) {
      throw new TypeError(`metadata.${name} must be printable ASCII, not ${described(value)}`);
    }
  }
}

/** The fields that an object is stored with. */
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

/** The conditions that an object is stored under. */
export function conditionsOf({ overwrite = true, ifMatch }: S3PutOptions): Record<string, string> {
  if (!overwrite) return { "if-none-match": "*" };
  return ifMatch === undefined ? {} : { "if-match": ifMatch };
}
