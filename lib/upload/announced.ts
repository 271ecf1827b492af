import { type BodySource, fieldOf, isDecoded } from "./body_source.ts";
import type { DigestAlgorithm } from "../semantics/mod.ts";
import { parseDigestField } from "./digest_fields.ts";
import type { ReceiveOptions } from "./save_options.ts";
import { announcedTrailerDigests, DIGEST_FIELDS, trailerDigestsOf } from "./trailer_digests.ts";
import { UploadError } from "./upload_error.ts";

/** What is known of a body before its first byte. */
export interface Announced {
  /** How many bytes there will be; undefined if nobody said. */
  readonly expectedBytes: number | undefined;
  /** The digests that its bytes must have, by the field that says so. */
  readonly digests: Digests;
  /** What gives, at the end of the body, the digests that follow it; undefined if none are announced. */
  readonly trailerDigests: (() => Digests) | undefined;
}

type Digests = ReadonlyMap<string, ReadonlyMap<DigestAlgorithm, string>>;

/**
 * What the sender and the options say of a body.
 *
 * @throws {UploadError} `BAD_LENGTH`, `BAD_DIGEST`, `TRAILER_DIGEST`, `LENGTH_REQUIRED`, or `TOO_LARGE` if it is not worth
 * to begin.
 */
export function announcedOf(source: BodySource, options: ReceiveOptions): Announced {
  const { maxBytes = Infinity, requireLength = false, verify = true } = options;
  const field = (name: string): string | undefined => isDecoded(source) ? undefined : fieldOf(source, name);
  const expectedBytes = options.expectedBytes ?? contentLength(field("content-length"));
  if (expectedBytes === undefined && requireLength) {
    throw new UploadError("LENGTH_REQUIRED", "The length of the body must be announced: send Content-Length");
  }
  if (expectedBytes !== undefined && expectedBytes > maxBytes) {
    throw new UploadError("TOO_LARGE", `The body has ${expectedBytes} bytes, and at most ${maxBytes} are accepted`);
  }
  const digests = new Map<string, ReadonlyMap<DigestAlgorithm, string>>();
  for (const name of verify ? DIGEST_FIELDS : []) {
    const value = field(name.toLowerCase());
    if (value !== undefined) digests.set(name, parseDigestField(name, value));
  }
  const announced = verify ? announcedTrailerDigests(source) : [];
  return { expectedBytes, digests, trailerDigests: trailerDigestsOf(source, announced, digests) };
}

function contentLength(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const length = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(length)) return length;
  throw new UploadError("BAD_LENGTH", `Content-Length is ${JSON.stringify(value)}, which is no number of bytes`);
}

/**
 * Sees that the body had as many bytes as was said.
 *
 * @throws {UploadError} `BAD_LENGTH` otherwise.
 */
export function requireExpected(bytes: number, { expectedBytes }: Announced): void {
  if (expectedBytes === undefined || bytes === expectedBytes) return;
  const message = bytes < expectedBytes
    ? `The body ended after ${bytes} of the ${expectedBytes} bytes that were announced`
    : `The body has more than the ${expectedBytes} bytes that were announced`;
  throw new UploadError("BAD_LENGTH", message);
}
