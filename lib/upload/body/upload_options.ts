import { pathOption, type Undone } from "../../files/internal.ts";
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
   * The maximum number of bytes to receive, and to store. More bytes are an {@linkcode UploadError} `TOO_LARGE`, before
   * the first byte if the sender announces the length.
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
   * The maximum wait for the next byte in ms, then an {@linkcode UploadError} `TIMEOUT`.
   *
   * @default Infinity
   */
  idleTimeout?: number;
  /**
   * The minimum bytes a second from the sender, on the average of each 30 s, or of `idleTimeout` if that is longer. A
   * lower rate is an {@linkcode UploadError} `TIMEOUT`. Times of backpressure from a slow destination do not count, nor
   * does an incomplete last period. For an encoded body, the received bytes count.
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
  /** Aborts the upload, which rejects with the signal's reason and leaves no file. */
  signal?: AbortSignal;
  /**
   * Called with the bytes received so far, and the announced total if any, as bytes arrive and at the end. An exception
   * aborts the upload.
   */
  onProgress?: (progress: { readonly bytes: number; readonly expectedBytes: number | undefined }) => void;
  /**
   * Whether the request's `Content-Encoding` is undone (`gzip`, `deflate`, `br`, `zstd`, also several); an unknown
   * coding is an {@linkcode UploadError} `UNSUPPORTED`. If false, bytes are stored as received.
   *
   * @default false
   */
  decode?: boolean;
  /**
   * The maximum bytes of a body after `decode`; more is an {@linkcode UploadError} `TOO_LARGE`.
   *
   * @default `maxBytes`, or 1 GiB if that is Infinity
   */
  maxDecodedBytes?: number;
  /**
   * The folder that destinations are relative to and must not leave by `..`, absolute paths or links. Required for
   * names that the sender influences. A `..` removes the part before it, as in a URL, even if that is a link.
   *
   * @default none: any path is allowed
   */
  root?: string | URL;
  /**
   * Whether an existing file of the name is replaced; otherwise it is an {@linkcode UploadError} `EXISTS`.
   *
   * @default false
   */
  overwrite?: boolean;
  /**
   * The permission bits of the file.
   *
   * @default those of new files of the process
   */
  mode?: number;
  /**
   * Whether the file and its name are flushed to the disk before the upload is reported as stored, so that it survives
   * a power failure.
   *
   * @default false
   */
  flush?: boolean;
  /** The algorithm of a digest to compute of the stored bytes. */
  digest?: "sha-256" | "sha-512";
}

/** Options for this library's handlers only. */
export interface InnerOptions {
  /** Whether a failed upload's body is left to the caller: servers receive all of a cancelled one, at full speed. */
  readonly leavesBody?: boolean;
  /** Whether the chunks of the body have no other owner, so that their memory can be freed at once. */
  readonly ownsChunks?: boolean;
  /** The window in ms over which `minRate` is averaged, if not the documented one. */
  readonly rateWindow?: number;
  /** Returns the type of a form's file by its name and the type that the sender gives, if any. */
  readonly typeOf?: (given: string | undefined, filename: string) => string;
  /** Called with the outcomes of undoing the files of a failed form, in the order of the files. */
  readonly onUndone?: (outcomes: readonly Undone[]) => void;
}

export function bodyMembers(): SchemaOf<
  SaveBodyOptions,
  "maxBytes" | "idleTimeout" | "minRate" | "timeout" | "decode" | "overwrite" | "flush"
>["members"] {
  return {
    maxBytes: integer(0, Infinity, Infinity),
    expectedBytes: integer(0, Number.MAX_SAFE_INTEGER),
    idleTimeout: timeLimit(Infinity),
    minRate: number(0, Number.MAX_SAFE_INTEGER, 0),
    timeout: timeLimit(Infinity),
    signal: signal(),
    onProgress: func<NonNullable<SaveBodyOptions["onProgress"]>>(),
    decode: bool(false),
    maxDecodedBytes: integer(0, Infinity),
    root: pathOption(),
    overwrite: bool(false),
    mode: integer(0, 0o7777),
    flush: bool(false),
    digest: oneOf<DigestAlgorithm>(ALGORITHMS),
  };
}

export const saveBodyOptions: SchemaOf<SaveBodyOptions> = /* @__PURE__ */ schema("saveBody()", bodyMembers);

/** @throws {TypeError} if `maxDecodedBytes` is given without `decode`. */
export function requireDecode(given: SaveBodyOptions): void {
  if (!given.decode) refuseUnused(given, ["maxDecodedBytes"], "needs decode: true: else maxBytes is the limit");
}

/** Returns a schema member for a time limit in ms, or Infinity. */
export function timeLimit<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  const expected = `a number of ms above 0 and up to ${MAX_TIMER_DELAY}, or Infinity`;
  const accepts = (value: unknown): boolean => {
    return typeof value === "number" && (value > 0 && value <= MAX_TIMER_DELAY || value === Infinity);
  };
  return member<number, D>(expected, accepts, fallback, true);
}
