import { codingNamed, type ContentCoding, isUndoable, type StoredCoding, storedCodings } from "./content_coding.ts";
import { trimmed } from "./fields.ts";

/**
 * The weight of each stored content coding, from 0 for not acceptable to 1000: the `q` of RFC 9110, section 12.4.2,
 * times 1000. Unless named, `identity` has 0.5, below all named codings, and a coding with a dictionary 0.
 */
export type AcceptedCodings = Readonly<Record<StoredCoding | "identity", number>>;

/** The weight of `identity` if no member of the field matches it: acceptable (12.5.3), with the lowest preference. */
const UNMENTIONED_IDENTITY = 0.5;

/** The weights without the field: any coding would be acceptable, but only identity is used. */
const NO_FIELD: AcceptedCodings = withWeights(1000, () => 0);

/** The number of cached fields. Browsers send only a few different ones; others leave with the older half. */
const MAX_CACHED_FIELDS = 256;
const MAX_CACHED_LENGTH = 256;
let recent = new Map<string, AcceptedCodings>();
let older = new Map<string, AcceptedCodings>();

/** A member: a coding or `*`, and its weight as a number of at most three decimals (12.4.2), in any case. */
const MEMBER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64})(?:[ \t]*;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/;

/** The maximum length of a member: longer ones name no stored coding and are skipped, which keeps the time linear. */
const MAX_MEMBER_LENGTH = 256;

/** Parses `Accept-Encoding`, its lines joined with commas; malformed members are skipped (RFC 9110, 12.5.3). */
export function acceptedCodings(field: string | null | undefined): AcceptedCodings {
  if (field === null || field === undefined) return NO_FIELD;
  return recent.get(field) ?? notRecent(field);
}

/** Keeps at most twice {@linkcode MAX_CACHED_FIELDS} results: those in use, and some former ones. */
function notRecent(field: string): AcceptedCodings {
  const accepted = older.get(field) ?? parsed(field);
  if (field.length > MAX_CACHED_LENGTH) return accepted;
  if (recent.size >= MAX_CACHED_FIELDS) {
    older = recent;
    recent = new Map();
  }
  recent.set(field, accepted);
  return accepted;
}

function parsed(field: string): AcceptedCodings {
  const weights: Weights = {};
  for (let start = 0; start <= field.length;) {
    const comma = field.indexOf(",", start);
    const end = comma < 0 ? field.length : comma;
    readMember(field, start, end, weights);
    start = end + 1;
  }
  const rest = weights["*"] ?? 0;
  return withWeights(
    weights.identity ?? weights["*"] ?? UNMENTIONED_IDENTITY,
    (coding) => weights[coding] ?? (isUndoable(coding) ? rest : 0),
  );
}

function withWeights(identity: number, weightOf: (coding: StoredCoding) => number): AcceptedCodings {
  const accepted = { identity } as Record<StoredCoding | "identity", number>;
  for (const coding of Object.keys(storedCodings) as StoredCoding[]) accepted[coding] = weightOf(coding);
  return accepted;
}

type Weights = Partial<Record<ContentCoding | "*", number>>;

function readMember(field: string, from: number, to: number, weights: Weights): void {
  const member = trimmed(field, from, to);
  const match = member.length > MAX_MEMBER_LENGTH ? null : MEMBER.exec(member);
  if (match === null) return;
  const coding = match[1] === "*" ? "*" : codingNamed(match[1]);
  if (coding === undefined) return;
  weights[coding] ??= match[2] === undefined ? 1000 : Math.round(Number(match[2]) * 1000);
}
