import type { VariantKind } from "./variant_kinds.ts";

/** The content of a file, as a manifest records it. */
export interface RecordedContent {
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal, as far as its length tells: whoever reads the digits sees the rest. */
  readonly sha256: string;
}

/** Digits of a SHA-256 in hexadecimal. */
const DIGITS = 64;
/** The states of variants that are there and decode to their file. */
const isThere: ReadonlySet<unknown> = new Set(["kept", "found"]);

/** Returns the content in a manifest's record, read from a file and so unchecked; undefined if it makes no sense. */
export function recordedContent(record: unknown): RecordedContent | undefined {
  const size = ownValue(record, "size");
  const sha256 = hashIn(record);
  if (sha256 === undefined || !Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  return { size: size as number, sha256 };
}

/** Returns the content that a file's record gives for a variant that is to be there. */
export function recordedVariant(record: unknown, { format }: VariantKind): RecordedContent | undefined {
  const variant = ownValue(ownValue(record, "variants"), format);
  return isThere.has(ownValue(variant, "state")) ? recordedContent(variant) : undefined;
}

/** Whether a record is that of the dictionary of the site. */
export function isOfSiteDictionary(record: unknown): boolean {
  return typeof ownValue(record, "madeOf") === "string";
}

/** Whether the content of a file never changes under its name, by its record; undefined if that does not say. */
export function recordedImmutable(record: unknown): boolean | undefined {
  const immutable = ownValue(record, "immutable");
  return typeof immutable === "boolean" ? immutable : undefined;
}

/** The SHA-256 of a dictionary that a file has deltas against, in base64. */
export function recordedDictionary(record: unknown, of: "former" | "site"): string | undefined {
  const hex = of === "former" ? hashIn(ownValue(record, "dictionary")) : hashAt(record, "siteDictionary");
  const hash = hex === undefined ? undefined : Buffer.from(hex, "hex");
  return hash?.length === DIGITS / 2 ? hash.toString("base64") : undefined;
}

function hashIn(record: unknown): string | undefined {
  return hashAt(record, "sha256");
}

function hashAt(record: unknown, key: string): string | undefined {
  const hex = ownValue(record, key);
  return typeof hex === "string" && hex.length === DIGITS ? hex : undefined;
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Record<string, unknown>)[key];
}
