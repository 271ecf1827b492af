import { createHash, type Hash } from "node:crypto";
import { type DigestAlgorithm, formatDigest, parseDigests } from "../../semantics/mod.ts";
import { type BodySource, fieldOf } from "./body_source.ts";
import { UploadError } from "./upload_error.ts";
import type { SaveBodyOptions } from "./upload_options.ts";

export class Digester {
  readonly #hashes: ReadonlyMap<DigestAlgorithm, Hash>;

  constructor(algorithms: Iterable<DigestAlgorithm>) {
    this.#hashes = new Map(Array.from(algorithms, (name) => [name, createHash(name.replace("-", ""))]));
  }

  update(pieces: readonly Uint8Array[]): void {
    for (const hash of this.#hashes.values()) pieces.forEach((piece) => hash.update(piece));
  }

  finish(): Map<DigestAlgorithm, string> {
    return new Map(Array.from(this.#hashes, ([algorithm, hash]) => [algorithm, hash.digest("base64")]));
  }
}

/** @throws {UploadError} `DIGEST_MISMATCH` if a digest of the received bytes differs from the one in `field`. */
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
  readonly digests: ReadonlyMap<string, ReadonlyMap<DigestAlgorithm, string>>;
}

/** Returns the announcements in header fields and options. @throws {UploadError} if an announcement is malformed, missing, or exceeds a limit. */
export function announcedOf(source: BodySource, options: SaveBodyOptions): Announced {
  const { maxBytes = Infinity } = options;
  // The fields of a response with a content coding describe its encoded bytes, although it yields decoded ones.
  const isDecoded = source instanceof Response && source.headers.has("content-encoding");
  const field = (name: string): string | undefined => isDecoded ? undefined : fieldOf(source, name);
  const expectedBytes = options.expectedBytes ?? contentLength(field("content-length"));
  if (expectedBytes !== undefined && expectedBytes > maxBytes) {
    throw new UploadError("TOO_LARGE", `The body has ${expectedBytes} bytes, and at most ${maxBytes} are accepted`);
  }
  const digests = new Map<string, ReadonlyMap<DigestAlgorithm, string>>();
  for (const name of DIGEST_FIELDS) {
    const value = field(name.toLowerCase());
    if (value !== undefined) digests.set(name, parseDigestField(name, value));
  }
  // Not every server can read trailers.
  const trailers = source instanceof Response ? "" : fieldOf(source, "trailer") ?? "";
  const names = trailers.toLowerCase().split(/[ \t]*,[ \t]*/);
  const announced = DIGEST_FIELDS.find((name) => names.includes(name.toLowerCase()) && !digests.has(name));
  if (announced !== undefined) {
    const message = `The ${announced} of the body is announced for its trailers, which are not read: ` +
      "send it in the header, or announce none";
    throw new UploadError("TRAILER_DIGEST", message);
  }
  return { expectedBytes, digests };
}

function contentLength(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const length = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(length)) return length;
  throw new UploadError("BAD_LENGTH", `Content-Length is ${JSON.stringify(value)}, which is no number of bytes`);
}

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

/** @throws {UploadError} `BAD_DIGEST` if the value of the field is malformed or a digest of the wrong length. */
export function parseDigestField(name: string, value: string): Map<DigestAlgorithm, string> {
  try {
    return parseDigests(value);
  } catch (cause) {
    throw new UploadError("BAD_DIGEST", `${name} is malformed: ${(cause as SyntaxError).message}`, { cause });
  }
}
