import { isAbsolute, sep } from "node:path";
import type { DictionaryRecord, FileRecord, VariantRecord } from "./manifest.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";

const states: ReadonlySet<unknown> = new Set(["kept", "found", "unworthy"]);

/**
 * What a manifest or journal says of a file; undefined if it makes no sense. It was read from a file, so anything may be
 * in it, and what it says decides about what is removed.
 */
export function checkedRecord(value: unknown): FileRecord | undefined {
  const record = (value ?? {}) as Partial<Record<keyof FileRecord, unknown>>;
  const { size, sha256, dictionary, siteDictionary, madeOf, found, variants } = record;
  if (!isSize(size) || !isHash(sha256)) return undefined;
  const checked = checkedDictionary(dictionary);
  return {
    size,
    sha256,
    ...(checked && { dictionary: checked }),
    ...(isHash(siteDictionary) && { siteDictionary }),
    ...(isHash(madeOf) && { madeOf }),
    ...(found === true && { found }),
    variants: checkedVariants(variants),
  };
}

/** What a manifest or journal says of a variant; undefined if it makes no sense, or an earlier version did not know. */
export function checkedVariant(value: unknown): VariantRecord | undefined {
  const { state, settings, size, sha256 } = (value ?? {}) as Partial<Record<keyof VariantRecord, unknown>>;
  if (!states.has(state) || typeof settings !== "string") return undefined;
  if (state === "unworthy") return { state, settings };
  if (!isSize(size) || !isHash(sha256)) return undefined;
  return { state: state as VariantRecord["state"], settings, size, sha256 };
}

function checkedVariants(value: unknown): FileRecord["variants"] {
  const variants: Partial<Record<VariantFormat | DeltaFormat, VariantRecord>> = {};
  if (typeof value !== "object" || value === null) return variants;
  for (const [format, each] of Object.entries(value)) {
    const variant = isFormat(format) ? checkedVariant(each) : undefined;
    if (variant) variants[format as VariantFormat | DeltaFormat] = variant;
  }
  return variants;
}

/** Whether `name` is that of a format that there are files of. */
export function isFormat(name: unknown): name is VariantFormat | DeltaFormat {
  return typeof name === "string" && Object.hasOwn(extensions, name);
}

function checkedDictionary(value: unknown): DictionaryRecord | undefined {
  const { path, sha256, match } = (value ?? {}) as Partial<Record<keyof DictionaryRecord, unknown>>;
  return typeof path === "string" && isHash(sha256) && typeof match === "string" ? { path, sha256, match } : undefined;
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** Whether a recorded path stays in the folder: files are removed by these names. */
export function isBelowFolder(path: string): boolean {
  const parts = path.split(sep === "/" ? "/" : /[/\\]/);
  return path !== "" && !isAbsolute(path) && !parts.includes("..") && !path.includes("\0");
}
