import { basename, join } from "node:path";
import { type Content, readContent } from "./content.ts";
import type { Context } from "./context.ts";
import { isFormOf } from "./form.ts";
import type { DictionaryRecord, VariantRecord } from "./records.ts";
import { FOLDER_IN_THE_WAY, isAlike, type OccupantFile } from "./occupant.ts";
import { type DeltaFormat, isDelta, isSiteDelta, type VariantFormat } from "./options.ts";
import type { Plan, PlannedVariant } from "./plan.ts";
import { type TreeFiles, variantPath } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";

/** A file that variants are planned of. */
interface Original {
  readonly file: FoundFile;
  readonly content: Content;
  /** The format that the variant is of, or is the delta of. */
  readonly plain: VariantFormat;
  /** For a delta: the variant in that format, if it is as it should be. */
  readonly plainRecord?: VariantRecord | undefined;
  readonly dictionary?: DictionaryRecord | undefined;
  /** The SHA-256 of the dictionary of the site, if the file gets deltas against it. */
  readonly siteDictionary?: string | undefined;
}

/** Decides about a variant; undefined if there can be none, which is told. */
export async function planVariant(
  format: VariantFormat | DeltaFormat,
  original: Original,
  tree: TreeFiles,
  plan: Plan,
  context: Context,
): Promise<PlannedVariant | undefined> {
  const { ledger, settings: { force }, target } = context;
  const { file, content } = original;
  const path = variantPath(file.path, format);
  if (target.isCopy && tree.folders.has(path)) {
    ledger.fail(path, new Error(FOLDER_IN_THE_WAY), original);
    return undefined;
  }
  plan.decided.add(await target.placeOf(path));
  const settings = settingsOf(format, original, context);
  const copied = target.isCopy ? tree.beside.get(path) : undefined;
  if (copied && force) return { format, settings, replacesAny: true, isBeside: true };
  if (copied) return await besideOriginal(copied, format, settings, original, context);
  const occupant = await target.look(path);
  // In a copy, a folder may be gone when all that runs put there is.
  if (occupant.kind === "obstacle" && !(target.isCopy && occupant.isFolder)) {
    ledger.fail(path, new Error(occupant.message), original);
    return undefined;
  }
  const before = target.provenance.records.get(file.path);
  const known = before?.sha256 === content.sha256 ? before.variants : {};
  // Whether a delta is worth it depends on the variant that it is instead of.
  const isSame = format === original.plain || areSame(known[original.plain], original.plainRecord);
  const usable = known[format]?.settings === settings && isSame && !force ? known[format] : undefined;
  if (occupant.kind !== "file") {
    return { format, settings, replacesAny: force, ...(usable?.state === "unworthy" && { record: usable }) };
  }
  if (occupant.isOurs) {
    if (usable?.state === "kept" && occupant.sha256 === usable.sha256) {
      if (!isAlike(occupant, file)) plan.alike.set(path, file);
      return { format, settings, replacesAny: false, record: usable };
    }
    // What was made of other content must not be served meanwhile.
    if (usable?.state === "unworthy" || before?.sha256 !== content.sha256) plan.stale.add(path);
    return { format, settings, replacesAny: force, ...(usable?.state === "unworthy" && { record: usable }) };
  }
  if (force) return { format, settings, replacesAny: true };
  return await besideTheirs(occupant, format, { settings, usable }, original, context);
}

/** A variant whose place in the target somebody else's file has. */
async function besideTheirs(
  occupant: OccupantFile,
  format: VariantFormat | DeltaFormat,
  { settings, usable }: { readonly settings: string; readonly usable: VariantRecord | undefined },
  original: Original,
  { ledger, target }: Context,
): Promise<PlannedVariant | undefined> {
  const { file, content } = original;
  const path = variantPath(file.path, format);
  const found: VariantRecord = { state: "found", settings, size: occupant.size, sha256: occupant.sha256 };
  const planned = { format, settings, replacesAny: false };
  if (usable?.state === "found" && usable.sha256 === occupant.sha256) return { ...planned, record: usable };
  const isForm = await isFormOf(join(target.folder, path), format, content);
  if (isForm && (occupant.isLink || usable?.state === "unworthy")) return { ...planned, record: found };
  // Whether a delta is one cannot be told before it is made.
  if (isForm || isDelta(format) && !occupant.isLink) return { ...planned, theirs: { ...occupant, isForm } };
  ledger.fail(path, inTheWay(file.path), original);
  return undefined;
}

/** A variant for which there is a file in the tree that is copied: it takes part in the copy. */
async function besideOriginal(
  beside: FoundFile,
  format: VariantFormat | DeltaFormat,
  settings: string,
  original: Original,
  { ledger, places }: Context,
): Promise<PlannedVariant | undefined> {
  const full = join(places.source, beside.path);
  if (!await isFormOf(full, format, original.content)) {
    ledger.fail(beside.path, inTheWay(original.file.path), original);
    return undefined;
  }
  const { size, sha256 } = await readContent(full);
  return { format, settings, replacesAny: false, record: { state: "found", settings, size, sha256 } };
}

function areSame(a: VariantRecord | undefined, b: VariantRecord | undefined): boolean {
  return a?.state === b?.state && a?.size === b?.size;
}

/** The problem of a file that has the place of a variant. */
export function inTheWay(path: string): Error {
  return new Error(`it is in the way and not made from ${basename(path)}: remove it, exclude that, or use --force`);
}

function settingsOf(
  format: VariantFormat | DeltaFormat,
  { plain, dictionary, siteDictionary }: Original,
  { settings }: Context,
): string {
  const base = `level ${settings.levels[plain]}, saving ${settings.minSaving}`;
  if (format === plain) return base;
  return `${base}, dictionary ${isSiteDelta(format) ? siteDictionary! : dictionary!.sha256}`;
}
