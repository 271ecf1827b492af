import { type VariantKind, variantKinds } from "./variant_kinds.ts";

/** What the manifest says that a file holds. */
export interface RecordedContent {
  /** In bytes. */
  readonly size: number;
  /** In base64. */
  readonly sha256: string;
}

/** What the manifest says of a file of the tree. */
export interface RecordedFile extends RecordedContent {
  /** The SHA-256 of the former version that its deltas are against, in base64. */
  readonly dictionary: string | undefined;
  /** What its variants hold, those that are to be there, in the order of {@linkcode variantKinds}. */
  readonly variants: readonly (RecordedContent | undefined)[];
}

/** What a record says; undefined if it makes no sense. It was read from a file, so anything may be in it. */
export function recordedFile(record: unknown): RecordedFile | undefined {
  const content = contentOf(record);
  if (!content) return undefined;
  const dictionary = base64(ownValue(ownValue(record, "dictionary"), "sha256"));
  const variants = ownValue(record, "variants");
  const keptOf = ({ format, isDelta }: VariantKind): RecordedContent | undefined => {
    const variant = ownValue(variants, format);
    const isThere = ownValue(variant, "state") === "kept" && !(isDelta && dictionary === undefined);
    return isThere ? contentOf(variant) : undefined;
  };
  return { size: content.size, sha256: content.sha256, dictionary, variants: variantKinds.map(keptOf) };
}

function contentOf(record: unknown): RecordedContent | undefined {
  const size = ownValue(record, "size");
  const sha256 = base64(ownValue(record, "sha256"));
  if (sha256 === undefined || !Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  return { size: size as number, sha256 };
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Record<string, unknown>)[key];
}

const hash = Buffer.alloc(32);

/** A SHA-256 in hexadecimal as base64; undefined if it is none. */
function base64(hex: unknown): string | undefined {
  if (typeof hex !== "string" || hex.length !== 64 || hash.write(hex, "hex") !== 32) return undefined;
  return hash.toString("base64");
}
