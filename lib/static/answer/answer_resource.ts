import {
  ifMatchHolds,
  ifModifiedSinceHolds,
  ifNoneMatchLists,
  ifRangeNames,
  ifUnmodifiedSinceHolds,
  multipartByteRanges,
  parseRange,
} from "../../semantics/mod.ts";
import { type Answer, fieldsFor, only, type RequestFields, valueOf, without } from "./answer.ts";
import { contentTypeOf } from "./fields.ts";
import type { Resource } from "./resource.ts";
import { CANNOT_BE_OPENED, type Variant } from "./variant.ts";

/** The outcome of a request's preconditions: it continues, fails (412), or the client has the variant (304). */
export type Verdict = "go on" | "failed" | Variant;

/** Evaluates preconditions in the order of RFC 9110, section 13.2.2. */
export function evaluate(request: RequestFields, chosen: Variant): Verdict {
  const { resource } = chosen;
  const { lastModified } = resource; // conditions on a date are skipped without a date
  const ifMatch = request.get("if-match");
  if (isThere(ifMatch)) {
    if (!ifMatchHolds(ifMatch, chosen.tag)) return "failed";
  } else {
    const since = request.get("if-unmodified-since");
    if (isThere(since) && lastModified !== undefined && !ifUnmodifiedSinceHolds(since, lastModified)) return "failed";
  }
  const ifNoneMatch = request.get("if-none-match");
  if (isThere(ifNoneMatch)) return ownedVariant(request, ifNoneMatch, chosen) ?? "go on";
  const since = request.get("if-modified-since");
  if (!isThere(since) || lastModified === undefined) return "go on";
  return ifModifiedSinceHolds(since, lastModified) ? "go on" : chosen;
}

/**
 * Returns the variant that `Range` applies to, by `If-Range` (RFC 9110, 13.1.5): the chosen one, or another one that the
 * client accepts and has in part. Chromium asks for the rest of a plain file with the codings of a whole one. A date is
 * weak if it is recent, or shared by several variants.
 */
function rangedVariant(request: RequestFields, chosen: Variant): Variant | undefined {
  const field = request.get("if-range");
  if (!isThere(field)) return chosen;
  const { resource } = chosen;
  const isOfOneVariant = resource.variants.length === 1 && resource.deltas.length === 0;
  const { lastModified } = resource;
  const isStrong = isOfOneVariant && lastModified !== undefined && Date.now() - lastModified > 1000;
  if (ifRangeNames(field, chosen.tag, isStrong ? lastModified : undefined)) return chosen;
  const owned = isOfOneVariant ? undefined : resource.owned(request, (tag) => ifRangeNames(field, tag, undefined));
  return owned?.representation.dictionary === undefined ? owned : undefined; // a part of a delta is useless
}

/** Returns the variant that the client has, by `field`, among those that it accepts. */
function ownedVariant(request: RequestFields, field: string, chosen: Variant): Variant | undefined {
  if (ifNoneMatchLists(field, chosen.tag)) return chosen;
  const { resource } = chosen;
  if (resource.variants.length + resource.deltas.length === 1) return undefined;
  return resource.owned(request, (tag) => ifNoneMatchLists(field, tag));
}

function isThere(field: string | null | undefined): field is string {
  return field !== null && field !== undefined;
}

/** Returns the ranges of `variant` for `field`; a 416 (RFC 9110, 14); `"ignored"`; or undefined if the file has changed. */
export function answerRange(field: string, variant: Variant): Answer | "ignored" | undefined {
  const { size } = variant.representation;
  const ranges = parseRange(field, size);
  if (ranges === undefined) return "ignored";
  if (ranges === "unsatisfiable") {
    const { resource } = variant;
    const fields = ["Content-Range", `bytes */${size}`, "Accept-Ranges", "bytes", ...only(resource.fields(), "Vary")];
    return resource.general().text(416, `The file has no such range: it has ${size} bytes`, fields);
  }
  if (ranges.length === 1) {
    const [{ start, end }] = ranges;
    const own = ["Content-Range", `bytes ${start}-${end - 1}/${size}`, "Content-Length", String(end - start)];
    return variant.answer(206, [...fieldsFor("part", variant.fields()), ...own], ranges);
  }
  const type = valueOf(variant.fields(), "Content-Type") ?? contentTypeOf(variant.resource.file.path);
  const { contentType, length, parts, tail } = multipartByteRanges(ranges, size, type);
  const own = ["Content-Type", contentType, "Content-Length", String(length)];
  const body = [...parts.flatMap(({ head, range }) => [head, range]), tail];
  return variant.answer(206, [...without(fieldsFor("part", variant.fields()), ["content-type"]), ...own], body);
}

/** Called when a variant's file differs from the scan. */
export type OnFault = (variant: Variant) => void;

/** Answers a GET or HEAD request for a file. Returns undefined if a file of the previous deploy no longer exists. */
export function answerResource(
  resource: Resource,
  method: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  while (!resource.hasChanged) {
    const chosen = resource.choose(request, method);
    if (chosen === undefined) {
      const vary = valueOf(resource.fields(), "Vary") ?? "Accept-Encoding";
      const text = "Not Acceptable: the file is in none of the accepted content codings";
      return resource.general().text(406, text, ["Vary", vary]);
    }
    const answer = answerVariant(chosen, method, request, onFault);
    if (answer) return answer;
  }
  if (resource.isFormer) return undefined;
  return resource.unavailable("The file is being replaced");
}

/** Returns the answer for a file that cannot be opened now: too many files are open, or another program denies sharing it. */
export function answerBusy(resource: Resource, request: RequestFields): Answer {
  return resource.general().permit(resource.unavailable(CANNOT_BE_OPENED), request);
}

/** Returns the answer. If the file has changed, calls `onFault`, which excludes the variant, and returns undefined. */
function answerVariant(
  chosen: Variant,
  method: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  const verdict = evaluate(request, chosen);
  const { resource, tag } = chosen;
  if (verdict === "failed") {
    return resource.general().text(412, "Precondition Failed", ["ETag", tag, ...only(resource.fields(), "Vary")]);
  }
  if (verdict !== "go on") return verdict.notModified();
  // HEAD has no ranges (RFC 9110 section 14.2).
  const range = method === "GET" ? request.get("range") : undefined;
  const ranged = range ? rangedVariant(request, chosen) : undefined;
  const part = ranged ? answerRange(range!, ranged) : "ignored";
  const answer = part === "ignored" ? chosen.whole() : part;
  if (!answer) onFault(part === "ignored" ? chosen : ranged!);
  return answer;
}
