import { type BodySource, fieldOf } from "./body_source.ts";
import type { DigestAlgorithm } from "../semantics/mod.ts";
import { parseDigestField } from "./digest_fields.ts";
import { UploadError } from "./upload_error.ts";

/** The fields that digests come in. */
export const DIGEST_FIELDS: readonly string[] = ["Content-Digest", "Repr-Digest"];

type Digests = ReadonlyMap<string, ReadonlyMap<DigestAlgorithm, string>>;

/** Trailers as `node:http` and `node:http2` have them, at the end of the body. */
type Trailers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The digest fields that the sender of a request announces for its trailer section, which follows the body. Only those
 * are looked at: what they are made of has to be known before the first byte. A response's sender announces nothing to
 * a server.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-6.6.2}
 */
export function announcedTrailerDigests(source: BodySource): string[] {
  if (source instanceof Response) return [];
  const names = (fieldOf(source, "trailer") ?? "").toLowerCase().split(/[ \t]*,[ \t]*/);
  return DIGEST_FIELDS.filter((name) => names.includes(name.toLowerCase()));
}

/**
 * What gives the digests in the trailer section of a body, at its end.
 *
 * @param announced The fields that the sender announces for the trailer section.
 * @param header The digests that came before the body.
 * @returns undefined if nothing is announced, or what is announced for trailers that cannot be seen has come before.
 * @throws {UploadError} `TRAILER_DIGEST` if a digest would come in trailers that nobody can see: a `Request` has none,
 * those of `node:http` and `node:http2` do.
 */
export function trailerDigestsOf(
  source: BodySource,
  announced: readonly string[],
  header: Digests,
): (() => Digests) | undefined {
  const required = announced.filter((name) => !header.has(name));
  const canBeSeen = (source as { trailers?: unknown } | undefined | null)?.trailers !== undefined;
  if (canBeSeen) return announced.length > 0 ? () => digestsIn(source, required) : undefined;
  if (required.length === 0) return undefined;
  const message = `The ${required[0]} of the body is announced for its trailers, which this server cannot see: ` +
    "send it in the header, or announce none";
  throw new UploadError("TRAILER_DIGEST", message);
}

/**
 * The digests that came after the body, by the field that has them.
 *
 * @throws {UploadError} `BAD_DIGEST` if a field is malformed or, of those that are required, missing: whoever announces a
 * digest wants it checked, and proxies may drop trailers.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-6.5}
 */
function digestsIn(source: BodySource, required: readonly string[]): Digests {
  const { trailers } = source as unknown as { readonly trailers: Trailers };
  const found = new Map<string, ReadonlyMap<DigestAlgorithm, string>>();
  for (const name of DIGEST_FIELDS) {
    const value = trailers[name.toLowerCase()];
    if (value !== undefined) found.set(name, parseDigestField(name, Array.isArray(value) ? value.join(", ") : value));
  }
  const missing = required.find((name) => !found.has(name));
  if (missing === undefined) return found;
  const message = `The ${missing} that the sender announced for the trailers did not come: a proxy may have dropped it`;
  throw new UploadError("BAD_DIGEST", message);
}
