import { createHash, type Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type DigestAlgorithm, formatDigest, parseDigests } from "../../semantics/mod.ts";
import { type BodySource, fieldOf, isDecoded } from "./body_source.ts";
import { UploadError } from "./upload_error.ts";
import type { SaveBodyOptions } from "./upload_options.ts";

/** Makes digests of bytes that pass, on the calling thread. */
export class Digester {
  readonly #hashes: ReadonlyMap<DigestAlgorithm, Hash>;

  constructor(algorithms: Iterable<DigestAlgorithm>) {
    this.#hashes = new Map(Array.from(algorithms, (name) => [name, createHash(name.replace("-", ""))]));
  }

  /** Takes bytes in; they may be used again afterwards. */
  update(pieces: readonly Uint8Array[]): void {
    for (const hash of this.#hashes.values()) {
      for (const piece of pieces) hash.update(piece);
    }
  }

  finish(): Map<DigestAlgorithm, string> {
    return new Map(Array.from(this.#hashes, ([algorithm, hash]) => [algorithm, hash.digest("base64")]));
  }
}

/**
 * Holds the digests of what was received against those, in base64, that a field announced.
 *
 * @throws {UploadError} `DIGEST_MISMATCH` if one differs.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-2}
 */
export function verifyDigests(
  field: string,
  expected: ReadonlyMap<DigestAlgorithm, string>,
  actual: ReadonlyMap<DigestAlgorithm, string>,
): void {
  for (const [algorithm, base64] of expected) {
    const found = actual.get(algorithm);
    if (found === base64) continue;
    if (found === undefined) throw new TypeError(`cannot verify ${field}: no ${algorithm} digest was made`);
    const [announced, received] = [formatDigest(algorithm, base64), formatDigest(algorithm, found)];
    const message = `The bytes received are not those of ${field}: it says ${announced}, they have ${received}`;
    throw new UploadError("DIGEST_MISMATCH", message);
  }
}

/** The length and digests of a body that are known before its first byte. */
export interface Announced {
  readonly expectedBytes: number | undefined;
  readonly digests: Digests;
  /** Returns the digests in the trailers, at the end of the body; undefined if none are announced. */
  readonly trailerDigests: (() => Digests) | undefined;
}

type Digests = ReadonlyMap<string, ReadonlyMap<DigestAlgorithm, string>>;

/**
 * Returns the length and digests of a body by its header fields and the options.
 *
 * @throws {UploadError} `BAD_LENGTH`, `BAD_DIGEST`, `TRAILER_DIGEST`, `LENGTH_REQUIRED`, or `TOO_LARGE` if the
 * announced length exceeds `maxBytes`.
 */
export function announcedOf(source: BodySource, options: SaveBodyOptions): Announced {
  const { maxBytes = Infinity, requireLength = false, verify = true } = options;
  const field = (name: string): string | undefined => isDecoded(source) ? undefined : fieldOf(source, name);
  const expectedBytes = options.expectedBytes ?? contentLength(field("content-length"));
  if (expectedBytes === undefined && requireLength) {
    throw new UploadError("LENGTH_REQUIRED", "The length of the body must be announced: send Content-Length");
  }
  if (expectedBytes !== undefined && expectedBytes > maxBytes) {
    throw new UploadError("TOO_LARGE", `The body has ${expectedBytes} bytes, and at most ${maxBytes} are accepted`);
  }
  if (!verify) return { expectedBytes, digests: new Map(), trailerDigests: undefined };
  const digests = digestsIn(field);
  return { expectedBytes, digests, trailerDigests: trailerDigestsOf(source, digests) };
}

function contentLength(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const length = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(length)) return length;
  throw new UploadError("BAD_LENGTH", `Content-Length is ${JSON.stringify(value)}, which is no number of bytes`);
}

/** Reports the bytes received so far to `onProgress`. */
export function tellProgress(bytes: number, announced: Announced, options: SaveBodyOptions): void {
  const { maxBytes = Infinity, onProgress } = options;
  const { expectedBytes } = announced;
  if (bytes > maxBytes) {
    throw new UploadError("TOO_LARGE", `The body has more than the ${maxBytes} bytes that are accepted`);
  }
  if (expectedBytes !== undefined && bytes > expectedBytes) requireExpected(bytes, announced);
  onProgress?.({ bytes, expectedBytes });
}

export function requireExpected(bytes: number, { expectedBytes }: Announced): void {
  if (expectedBytes === undefined || bytes === expectedBytes) return;
  const message = bytes < expectedBytes
    ? `The body ended after ${bytes} of the ${expectedBytes} bytes that were announced`
    : `The body has more than the ${expectedBytes} bytes that were announced`;
  throw new UploadError("BAD_LENGTH", message);
}

const DIGEST_FIELDS: readonly string[] = ["Content-Digest", "Repr-Digest"];

function digestsIn(field: (name: string) => string | undefined): Digests {
  const found = new Map<string, ReadonlyMap<DigestAlgorithm, string>>();
  for (const name of DIGEST_FIELDS) {
    const value = field(name.toLowerCase());
    if (value !== undefined) found.set(name, parseDigestField(name, value));
  }
  return found;
}

/**
 * Returns a function that reads the digests in the trailer section of a body, once that has ended; undefined if the
 * sender announces none. `Digester` needs their algorithms before the first byte.
 *
 * @throws {UploadError} `TRAILER_DIGEST` if one is announced for trailers of a `Request`, which cannot be read; by the
 * function, `BAD_DIGEST` if a field is malformed, or missing: proxies may drop trailers.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-6.6.2}
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-6.5}
 */
function trailerDigestsOf(source: BodySource, header: Digests): Announced["trailerDigests"] {
  if (source instanceof Response) return undefined;
  const names = (fieldOf(source, "trailer") ?? "").toLowerCase().split(/[ \t]*,[ \t]*/);
  const announced = DIGEST_FIELDS.filter((name) => names.includes(name.toLowerCase()));
  const required = announced.filter((name) => !header.has(name));
  if (announced.length > 0 && (source as { trailers?: unknown }).trailers !== undefined) {
    return () => {
      const found = digestsIn((name) => fieldOf({ headers: (source as IncomingMessage).trailers } as BodySource, name));
      const missing = required.find((name) => !found.has(name));
      if (missing === undefined) return found;
      const message = "did not come: a proxy may have dropped it";
      throw new UploadError("BAD_DIGEST", `The ${missing} that the sender announced for the trailers ${message}`);
    };
  }
  if (required.length === 0) return undefined;
  const message = `The ${required[0]} of the body is announced for its trailers, which this server cannot see: ` +
    "send it in the header, or announce none";
  throw new UploadError("TRAILER_DIGEST", message);
}

/** @throws {UploadError} `BAD_DIGEST` if the value of the field is malformed or a digest of the wrong length. */
export function parseDigestField(name: string, value: string): Map<DigestAlgorithm, string> {
  try {
    return parseDigests(value);
  } catch (cause) {
    throw new UploadError("BAD_DIGEST", `${name} is malformed: ${(cause as SyntaxError).message}`, { cause });
  }
}
