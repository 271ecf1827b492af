import { type BodySource, fieldOf } from "./body_source.ts";
import { type DigestAlgorithm, parseDigestField } from "./digest_fields.ts";

/** The fields that digests come in. */
export const DIGEST_FIELDS: readonly string[] = ["Content-Digest", "Repr-Digest"];

/**
 * Whether the sender announces digests that follow the body, in its trailer section. Only then they are looked at: what
 * they are made of has to be known before the first byte. A `Request` has no trailers, those of `node:http` and
 * `node:http2` do.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-6.6.2}
 */
export function announcesTrailerDigests(source: BodySource): boolean {
  if ((source as { trailers?: unknown } | undefined | null)?.trailers === undefined) return false;
  const names = (fieldOf(source, "trailer") ?? "").toLowerCase().split(/[ \t]*,[ \t]*/);
  return DIGEST_FIELDS.some((name) => names.includes(name.toLowerCase()));
}

/**
 * The digests that came after the body, by the field that has them; to be called at its end. A sender that announces
 * some and has none has none.
 *
 * @throws {UploadError} `BAD_DIGEST` if a field is malformed.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-6.5}
 */
export function trailerDigests(source: BodySource): Map<string, ReadonlyMap<DigestAlgorithm, string>> {
  const { trailers = {} } = source as { trailers?: Record<string, string | string[] | undefined> };
  const found = new Map<string, ReadonlyMap<DigestAlgorithm, string>>();
  for (const name of DIGEST_FIELDS) {
    const value = trailers[name.toLowerCase()];
    if (value !== undefined) found.set(name, parseDigestField(name, Array.isArray(value) ? value.join(", ") : value));
  }
  return found;
}
