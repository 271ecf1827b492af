import { pathOption } from "../../files/internal.ts";
import { ALGORITHMS, type DigestAlgorithm } from "../../semantics/mod.ts";
import {
  bool,
  func,
  integer,
  type Member,
  member,
  number,
  oneOf,
  refuseUnused,
  schema,
  type SchemaOf,
  signal,
} from "../../streams/internal.ts";
import { MAX_TIMER_DELAY } from "../../timers/mod.ts";

/**
 * Options of {@linkcode saveBody}.
 *
 * @example Store what a sender compressed as it was before
 * ```ts
 * import { saveBody, type SaveBodyOptions } from "@millrace/streams/upload";
 * import { gzipSync } from "node:zlib";
 *
 * const options: SaveBodyOptions = { decode: true, maxDecodedBytes: 1_000_000 };
 * const init = { method: "PUT", headers: { "content-encoding": "gzip" }, body: gzipSync("round and round") };
 * console.log((await saveBody(new Request("http://localhost/", init), "uploads/note.txt", options)).bytes); // 15
 * ```
 */
export interface SaveBodyOptions {
  /**
   * The maximum number of bytes to receive, and to store. More is an {@linkcode UploadError} `TOO_LARGE`, before the
   * first byte if the sender says how many there will be.
   *
   * @default Infinity
   */
  maxBytes?: number;
  /**
   * The required number of bytes; another number is an {@linkcode UploadError} `BAD_LENGTH`.
   *
   * @default the `Content-Length` of the request
   */
  expectedBytes?: number;
  /**
   * Whether what was received is held against the request's `Content-Digest` and `Repr-Digest` fields, if it has any
   * (RFC 9530); other bytes are an {@linkcode UploadError} `DIGEST_MISMATCH`. A digest that is announced for the trailers
   * (`Trailer: Content-Digest`) is a `TRAILER_DIGEST` before the body is read.
   *
   * @default true
   */
  verify?: boolean;
  /**
   * The maximum wait for the next byte in ms, then an {@linkcode UploadError} `TIMEOUT`.
   *
   * @default Infinity
   */
  idleTimeout?: number;
  /**
   * The minimum bytes a second from the sender, on the average of each 30 s, or of `idleTimeout` if that is longer.
   * Fewer are an {@linkcode UploadError} `TIMEOUT`. Times in which a slower destination holds the sender back do not
   * count, nor does what is left of the last 30 s. Of a body with a coding, what is received counts.
   *
   * @default 0, no limit
   */
  minRate?: number;
  /**
   * The maximum duration of the whole body in ms, then an {@linkcode UploadError} `TIMEOUT`.
   *
   * @default Infinity
   */
  timeout?: number;
  /** Ends the upload, which is rejected with the signal's reason; nothing is left of it. */
  signal?: AbortSignal;
  /**
   * Called with the bytes received so far, and those that there will be if that was announced, as they come and when all
   * have. What it throws ends the upload.
   */
  onProgress?: (progress: { readonly bytes: number; readonly expectedBytes: number | undefined }) => void;
  /**
   * Whether the request's `Content-Encoding` is undone (`gzip`, `deflate`, `br`, `zstd`, also several); one that is
   * not known is an {@linkcode UploadError} `UNSUPPORTED`. If false, bytes are stored as they come.
   *
   * @default false
   */
  decode?: boolean;
  /**
   * The maximum bytes that `decode` may make of any body; more is an {@linkcode UploadError} `TOO_LARGE`.
   *
   * @default `maxBytes`, or 1 GiB if that is without limit
   */
  maxDecodedBytes?: number;
  /**
   * The folder that destinations are relative to and must not leave, by `..`, absolute paths or links. For names that
   * the sender has a say in. A `..` in them takes the part before it away, as in a URL, be that a link or not.
   *
   * @default none, any path will do
   */
  root?: string | URL;
  /**
   * Whether a file that has the name already is replaced; if not, it is an {@linkcode UploadError} `EXISTS`.
   *
   * @default false
   */
  overwrite?: boolean;
  /**
   * The permission bits of the file.
   *
   * @default what the process gives new files
   */
  mode?: number;
  /**
   * Whether the file and its name are flushed to the disk before the upload counts as done, so that it outlives a loss
   * of power.
   *
   * @default false
   */
  flush?: boolean;
  /** The algorithm of a digest to make of what is stored. */
  digest?: DigestAlgorithm;
}

/** Options that only this library's handlers use. */
export interface InnerOptions {
  /**
   * Whether the body of an upload that fails is left as it is, for the caller to read on, rather than cancelled: servers
   * receive all of a body that is cancelled, as fast as it comes.
   */
  readonly leavesBody?: boolean;
  /** Whether the chunks of the body have no other owner, so that their memory can be given back at once. */
  readonly ownsChunks?: boolean;
  /** The window that `minRate` is averaged over, in ms, if it is not the documented one. */
  readonly rateWindow?: number;
  /** The type that a file of a form counts as, by what its sender gives, if anything, and its name. */
  readonly typeOf?: (given: string | undefined, filename: string) => string;
}

export function bodyMembers(): SchemaOf<
  SaveBodyOptions,
  "maxBytes" | "verify" | "idleTimeout" | "minRate" | "timeout" | "decode" | "overwrite" | "flush"
>["members"] {
  return {
    maxBytes: limit(Infinity),
    expectedBytes: integer(0, Number.MAX_SAFE_INTEGER),
    verify: bool(true),
    idleTimeout: timeLimit(Infinity),
    minRate: rate(0),
    timeout: timeLimit(Infinity),
    signal: signal(),
    onProgress: func<NonNullable<SaveBodyOptions["onProgress"]>>(),
    decode: bool(false),
    maxDecodedBytes: limit(),
    root: pathOption(),
    overwrite: bool(false),
    mode: integer(0, 0o7777),
    flush: bool(false),
    digest: oneOf<DigestAlgorithm>(ALGORITHMS),
  };
}

export const saveBodyOptions: SchemaOf<SaveBodyOptions> = /* @__PURE__ */ schema("saveBody()", bodyMembers);

/** @throws {TypeError} if there is a limit for what `decode` makes, and it makes nothing. */
export function requireDecode(given: SaveBodyOptions): void {
  if (!given.decode) refuseUnused(given, ["maxDecodedBytes"], "needs decode: true: else maxBytes is the limit");
}

export function limit<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  return integer(0, Infinity, fallback);
}

export function rate<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  return number(0, Number.MAX_SAFE_INTEGER, fallback);
}

/** An option that is a time limit in ms, or Infinity. */
export function timeLimit<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  const expected = `a number of ms above 0 and up to ${MAX_TIMER_DELAY}, or Infinity`;
  const accepts = (value: unknown): boolean => {
    return typeof value === "number" && (value > 0 && value <= MAX_TIMER_DELAY || value === Infinity);
  };
  return member<number, D>(expected, accepts, fallback, true);
}
