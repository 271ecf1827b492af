import {
  ifMatchHolds,
  ifModifiedSinceHolds,
  ifNoneMatchLists,
  ifRangeNames,
  ifUnmodifiedSinceHolds,
} from "../../semantics/mod.ts";
import type { RequestFields } from "./request_fields.ts";
import type { Variant } from "./variant.ts";

/** The outcome of a request's preconditions: it goes on, fails (412), or the client has that variant (304). */
export type Verdict = "go on" | "failed" | Variant;

/**
 * Evaluates the preconditions of a GET or HEAD request for `chosen`, in the standard's order.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2}
 */
export function evaluate(request: RequestFields, chosen: Variant): Verdict {
  const { resource } = chosen;
  const ifMatch = request.get("if-match");
  if (isThere(ifMatch)) {
    if (!ifMatchHolds(ifMatch, chosen.tag)) return "failed";
  } else {
    const since = request.get("if-unmodified-since");
    if (isThere(since) && !ifUnmodifiedSinceHolds(since, resource.lastModified)) return "failed";
  }
  const ifNoneMatch = request.get("if-none-match");
  if (isThere(ifNoneMatch)) return ownedVariant(request, ifNoneMatch, chosen) ?? "go on";
  const since = request.get("if-modified-since");
  return isThere(since) && !ifModifiedSinceHolds(since, resource.lastModified) ? chosen : "go on";
}

/**
 * Whether a `Range` field counts, by the `If-Range` beside it. A date stands for the bytes of no particular variant, nor
 * does one that a file of the same second may share: neither is a strong validator (RFC 9110 section 8.8.2.2).
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5}
 */
export function ifRangeHolds(request: RequestFields, { resource, tag }: Variant): boolean {
  const field = request.get("if-range");
  if (!isThere(field)) return true;
  const isOfOneVariant = resource.variants.length === 1 && resource.deltas.length === 0;
  const isStrong = isOfOneVariant && Date.now() - resource.lastModified > 1000;
  return ifRangeNames(field, tag, isStrong ? resource.lastModified : undefined);
}

/** Of the variants that the client may be sent, the one that it says it has. */
function ownedVariant(request: RequestFields, field: string, chosen: Variant): Variant | undefined {
  if (ifNoneMatchLists(field, chosen.tag)) return chosen;
  const { resource } = chosen;
  if (resource.variants.length + resource.deltas.length === 1) return undefined;
  return resource.owned(request, (tag) => ifNoneMatchLists(field, tag));
}

function isThere(field: string | null | undefined): field is string {
  return field !== null && field !== undefined;
}
