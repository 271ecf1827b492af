import fc from "fast-check";
import { type Coding, type KnownFile, MODIFIED } from "./known_tree.ts";
import {
  type Expected,
  failed,
  type FieldLines,
  notAcceptable,
  ok,
  partial,
  unchanged,
  unsatisfiable,
} from "./rfc_case.ts";

const BEFORE = "Sun, 05 May 2024 07:08:09 GMT";
const AFTER = "Tuesday, 07-May-24 07:08:09 GMT";

/** An entity tag in a field: of a coding of the file, or of none. */
interface Tag {
  readonly of: Coding | "none";
  readonly isWeak: boolean;
}

type Tags = readonly Tag[] | "*";

/** A request for a file, in parts that an answer can be derived from. */
export interface Combination {
  readonly method: "GET" | "HEAD";
  readonly path: string;
  /** Weights from 0 to 1; undefined: no Accept-Encoding. */
  readonly weights: ReadonlyMap<Coding | "*" | "deflate", number> | undefined;
  readonly dictionary: "former" | "other" | undefined;
  readonly ifMatch: Tags | undefined;
  readonly ifNoneMatch: Tags | undefined;
  readonly ifModifiedSince: string | undefined;
  readonly ifUnmodifiedSince: string | undefined;
  readonly range: readonly (readonly [first: number, last: number])[] | undefined;
  readonly ifRange: Tag | string | undefined;
}

const codings = ["identity", "br", "zstd", "gzip", "dcb", "dcz"] as const;
/** Returns `value` in `cases` of four cases, and undefined otherwise. */
function optional<T>(value: fc.Arbitrary<T>, cases: 1 | 2 | 3): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: cases, arbitrary: value }, { weight: 4 - cases, arbitrary: fc.constant(undefined) });
}

const tag = fc.record({ of: fc.constantFrom(...codings, "none" as const), isWeak: fc.boolean() });
const tags = fc.oneof(fc.constant("*" as const), fc.array(tag, { minLength: 1, maxLength: 3 }));
const date = fc.constantFrom(BEFORE, MODIFIED, AFTER, "a while ago");
const weights = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...codings, "*" as const, "deflate" as const), fc.constantFrom(0, 0.3, 0.7, 1)),
  { selector: ([name]) => name, maxLength: 6 },
).map((members) => new Map(members));
const part = fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 3 })).map(([first, more]) => [first, first + more] as const);

/** Requests of all kinds that are well-formed, except for dates. */
export const combinations: fc.Arbitrary<Combination> = fc.record({
  method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
  path: fc.constantFrom("app.js", "large.js", "assets/main-3f9a1c0b.js", "ten.txt"),
  weights: optional(weights, 3),
  dictionary: optional(fc.constantFrom("former", "other"), 2),
  ifMatch: optional(tags, 1),
  ifNoneMatch: optional(tags, 1),
  ifModifiedSince: optional(date, 1),
  ifUnmodifiedSince: optional(date, 1),
  range: optional(fc.array(part, { minLength: 1, maxLength: 3 }), 2),
  ifRange: optional(fc.oneof(tag, date), 1),
});

/** Returns the request's fields, with `<br>` and the like in them. */
export function fieldsOf(request: Combination, { coded, dictionary: former }: KnownFile): FieldLines {
  const written = ({ of, isWeak }: Tag) =>
    (isWeak ? "W/" : "") + (of !== "none" && coded.has(of) ? `<${of}>` : '"none"');
  const list = (tags: Tags) => tags === "*" ? tags : tags.map(written).join(", ");
  const { weights, dictionary, ifMatch, ifNoneMatch, range, ifRange } = request;
  const fields = {
    "accept-encoding": weights && [...weights].map(([name, weight]) => `${name};q=${weight}`).join(", "),
    "available-dictionary": dictionary &&
      (former && dictionary === "former" ? ":<dictionary>:" : `:${"A".repeat(43)}=:`),
    "if-match": ifMatch && list(ifMatch),
    "if-none-match": ifNoneMatch && list(ifNoneMatch),
    "if-modified-since": request.ifModifiedSince,
    "if-unmodified-since": request.ifUnmodifiedSince,
    "range": range && `bytes=${range.map(([first, last]) => `${first}-${last}`).join(", ")}`,
    "if-range": typeof ifRange === "object" ? written(ifRange) : ifRange,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
}

/** Derives the response step by step from RFC 9110, sections 12.5.3, 13.2.2 and 14.2. */
export function expectedOf(request: Combination, file: KnownFile): Expected {
  const chosen = chosenCoding(request, file);
  if (chosen === undefined) return notAcceptable;
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, range } = request;
  if (ifMatch) {
    if (ifMatch !== "*" && !ifMatch.some(({ of, isWeak }) => of === chosen && !isWeak)) return failed;
  } else if (ifUnmodifiedSince === BEFORE) return failed;
  if (ifNoneMatch) {
    const owned = ownedCoding(request, ifNoneMatch, chosen, file);
    if (owned) return unchanged(owned);
  } else if (ifModifiedSince === MODIFIED || ifModifiedSince === AFTER) return unchanged(chosen);
  const ranged = request.method === "HEAD" ? undefined : rangedCoding(request, chosen, file);
  return range === undefined || ranged === undefined ? ok(chosen) : rangesOf(range, ranged, file);
}

function weightOf({ weights }: Combination, coding: Coding): number {
  if (weights === undefined) return coding === "identity" ? 1 : 0;
  const isDelta = coding === "dcb" || coding === "dcz";
  // An identity that is not mentioned is acceptable, and liked less than all that is.
  return weights.get(coding) ?? (isDelta ? 0 : weights.get("*") ?? (coding === "identity" ? 0.001 : 0));
}

/** Returns the codings that the file is there in, the most welcome first where weights are the same. */
function present({ coded }: KnownFile): Coding[] {
  return (["dcb", "dcz", "br", "zstd", "gzip", "identity"] as const).filter((coding) => coded.has(coding));
}

function chosenCoding(request: Combination, file: KnownFile): Coding | undefined {
  // A part of a delta is useless alone, and browsers cannot decode what HEAD gets of one.
  const hasDelta = request.dictionary === "former" && request.range === undefined && request.method === "GET";
  return present(file)
    .filter((coding) => weightOf(request, coding) > 0 && (hasDelta || !coding.startsWith("dc")))
    .sort((a, b) => weightOf(request, b) - weightOf(request, a))[0];
}

/** Returns the coding that the tags name: the chosen one first, then other accepted variants, then deltas that apply. */
function ownedCoding(request: Combination, tags: Tags, chosen: Coding, file: KnownFile): Coding | undefined {
  if (tags === "*") return chosen;
  const accepted = present(file).filter((coding) => weightOf(request, coding) > 0);
  const [deltas, variants] = [true, false].map((are) => accepted.filter((coding) => coding.startsWith("dc") === are));
  const owned = request.dictionary === "former" ? deltas : [];
  return [chosen, ...variants, ...owned].find((coding) => tags.some(({ of }) => of === coding));
}

/** Returns the coding that a range is of: the one that `If-Range` names among those accepted, but a delta. */
function rangedCoding(request: Combination, chosen: Coding, file: KnownFile): Coding | undefined {
  const { ifRange } = request;
  if (ifRange === undefined) return chosen;
  if (typeof ifRange !== "object") return ifRange === MODIFIED && file.coded.size === 1 ? chosen : undefined;
  const owned = ifRange.isWeak ? undefined : ownedCoding(request, [ifRange], chosen, file);
  return owned?.startsWith("dc") ? undefined : owned;
}

/** Ranges that share bytes or touch are one. These are short: a byte at a time will do. */
function rangesOf(range: NonNullable<Combination["range"]>, coding: Coding, { coded }: KnownFile): Expected {
  const { length } = coded.get(coding)!.bytes;
  const asked = new Set(
    range.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i)),
  );
  const isThere = (byte: number) => asked.has(byte) && byte < length;
  const parts = new Map<number, readonly [number, number]>();
  for (const [start] of range.filter(([first]) => isThere(first))) {
    let [first, last] = [start, start];
    while (isThere(first - 1)) first--;
    while (isThere(last + 1)) last++;
    if (!parts.has(first)) parts.set(first, [first, last]);
  }
  return parts.size === 0 ? unsatisfiable(coding) : partial(coding, [...parts.values()]);
}
