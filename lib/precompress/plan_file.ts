import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DecompressionStream } from "../codecs/mod.ts";
import { whileUnshared } from "../files/internal.ts";
import { openFileReadable } from "../files/mod.ts";
import { type Content, isCompressedByName, LARGE_FILE, readContent } from "./content.ts";
import type { Context, SkipReason } from "./context.ts";
import { FOLDER_IN_THE_WAY, isAlike, type OccupantFile } from "./occupant.ts";
import {
  codecOf,
  type DeltaFormat,
  deltasOf,
  generationOf,
  isDelta,
  isSiteDelta,
  type VariantFormat,
} from "./formats.ts";
import type { Plan, PlannedVariant, Work } from "./plan.ts";
import { CHANGED, unreadableDictionary } from "./problem.ts";
import type { VariantRecord } from "./records.ts";
import { isPage } from "./site/sample.ts";
import { type TreeFiles, variantPath, withoutHash } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";

/** Whether a file is a compressed form of the given content; for a delta, against the run's dictionary. */
async function isFormOf(
  path: string,
  format: VariantFormat | DeltaFormat,
  original: Original,
  context: Context,
): Promise<boolean> {
  const of = original.content;
  try {
    // Browsers stop after gzip's first member.
    if (format === "gzip" && await lastSizeInGzip(path) !== of.size % 2 ** 32) return false;
    const dictionary = isDelta(format)
      ? await whileUnshared(() => readFile(dictionaryOf(format, original, context).file))
      : undefined;
    const options = { maxSize: of.size, ...(dictionary && { dictionary }) };
    const hash = createHash("sha256");
    const content = (await openFileReadable(path)).pipeThrough(new DecompressionStream(codecOf(format), options));
    for await (const chunk of content as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest("hex") === of.sha256;
  } catch {
    return false; // unreadable, corrupt, or longer than the content
  }
}

/** Returns the size of the data of a gzip file's last member modulo 2^32 (RFC 1952, section 2.3.1). */
async function lastSizeInGzip(path: string): Promise<number> {
  const file = await whileUnshared(() => open(path, "r"));
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(new Uint8Array(4), 0, 4, Math.max(0, size - 4));
    return new DataView(buffer.buffer).getUint32(0, true);
  } finally {
    await file.close();
  }
}

/** Returns the dictionary of a delta: the previous version of its file, or the dictionary of the site. */
export function dictionaryOf(
  format: DeltaFormat,
  { dictionaries }: Pick<Work, "dictionaries">,
  { siteDictionary }: Context,
): { readonly file: string; readonly sha256: string } {
  if (isSiteDelta(format)) return siteDictionary!;
  const { folder, path, sha256 } = dictionaries[generationOf(format)]!;
  return { file: join(folder, path), sha256 };
}

interface Original {
  readonly file: FoundFile;
  readonly content: Content;
  /** The format of the variant; for a delta, the one without a dictionary. */
  readonly plain: VariantFormat;
  /** The valid variant in the format without a dictionary, if any. */
  readonly plainRecord?: VariantRecord | undefined;
  readonly dictionaries: Work["dictionaries"];
  /** The SHA-256 of the dictionary of the site, if the file gets deltas against it. */
  readonly siteDictionary?: string | undefined;
}

/** Decides about a variant; undefined if it cannot exist, which is reported. */
export async function planVariant(
  format: VariantFormat | DeltaFormat,
  original: Original,
  tree: TreeFiles,
  plan: Plan,
  context: Context,
): Promise<PlannedVariant | undefined> {
  const { former, ledger, settings: { force } } = context;
  const { file, content } = original;
  const path = variantPath(file.path, format);
  if (former.isCopy && tree.folders.has(path)) {
    ledger.fail(path, new Error(FOLDER_IN_THE_WAY), original);
    return undefined;
  }
  plan.decided.add(await former.placeOf(path));
  const settings = settingsOf(format, original, context);
  const copied = former.isCopy ? tree.beside.get(path) : undefined;
  if (copied && force) return { format, settings, replacesAny: true, isBeside: true };
  if (copied) return await besideOriginal(copied, format, settings, original, context);
  const occupant = await former.look(path);
  // In a copy, a folder may be removed together with the files that runs wrote there.
  if (occupant.kind === "obstacle" && !(former.isCopy && occupant.isFolder)) {
    ledger.fail(path, new Error(occupant.message), original);
    return undefined;
  }
  const before = former.records.get(file.path);
  const known = before?.sha256 === content.sha256 ? before.variants : {};
  // The limit of a delta depends on the size of the variant that it replaces.
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
    // A variant of other content must not be served meanwhile.
    if (usable?.state === "unworthy" || before?.sha256 !== content.sha256) plan.stale.add(path);
    return { format, settings, replacesAny: force, ...(usable?.state === "unworthy" && { record: usable }) };
  }
  if (force) return { format, settings, replacesAny: true };
  return await besideTheirs(occupant, format, { settings, usable }, original, context);
}

/** Decides about a variant whose place in the target has a file that no run wrote. */
async function besideTheirs(
  occupant: OccupantFile,
  format: VariantFormat | DeltaFormat,
  { settings, usable }: { readonly settings: string; readonly usable: VariantRecord | undefined },
  original: Original,
  context: Context,
): Promise<PlannedVariant | undefined> {
  const { former, ledger } = context;
  const { file } = original;
  const path = variantPath(file.path, format);
  const found: VariantRecord = { state: "found", settings, size: occupant.size, sha256: occupant.sha256 };
  const planned = { format, settings, replacesAny: false };
  if (usable?.state === "found" && usable.sha256 === occupant.sha256) return { ...planned, record: usable };
  if (!await isFormOf(join(former.folder, path), format, original, context)) {
    ledger.fail(path, inTheWay(file.path), original);
    return undefined;
  }
  const isFinal = occupant.isLink || usable?.state === "unworthy";
  return { ...planned, ...(isFinal ? { record: found } : { theirs: found }) };
}

/** Decides about a variant whose place is that of a file in the tree that is copied. */
async function besideOriginal(
  beside: FoundFile,
  format: VariantFormat | DeltaFormat,
  settings: string,
  original: Original,
  context: Context,
): Promise<PlannedVariant | undefined> {
  const full = join(context.places.source, beside.path);
  if (!await isFormOf(full, format, original, context)) {
    context.ledger.fail(beside.path, inTheWay(original.file.path), original);
    return undefined;
  }
  const { size, sha256 } = await readContent(full);
  return { format, settings, replacesAny: false, record: { state: "found", settings, size, sha256 } };
}

function areSame(a: VariantRecord | undefined, b: VariantRecord | undefined): boolean {
  return a?.state === b?.state && a?.size === b?.size;
}

function inTheWay(path: string): Error {
  return new Error(`it is in the way and not made from ${basename(path)}: remove it, exclude that, or use --force`);
}

function settingsOf(format: VariantFormat | DeltaFormat, original: Original, context: Context): string {
  const { levels, minSaving } = context.settings;
  const base = `level ${levels[original.plain]}, saving ${minSaving}`;
  return isDelta(format) ? `${base}, dictionary ${dictionaryOf(format, original, context).sha256}` : base;
}

/** Decides what to do for `file`; changes nothing. */
export async function planFile(file: FoundFile, tree: TreeFiles, plan: Plan, context: Context): Promise<void> {
  const { former, ledger, places } = context;
  let content: Content;
  try {
    content = await readContent(join(places.source, file.path));
    if (content.size !== file.size) throw new Error(CHANGED);
  } catch (error) {
    // A copy and its variants must match; a variant beside its file may be of the file's former content.
    if (former.isCopy) plan.unknown.add(file.path);
    return ledger.fail(file.path, error);
  }
  if (former.isCopy && !await planCopy(file, content.sha256, plan, context)) return;
  const leftAlone = whyLeftAlone(file, content, context);
  if (leftAlone) ledger.leftAlone.set(file.path, leftAlone);
  const isWorth = leftAlone === undefined;
  const dictionaries = isWorth ? await dictionariesFor(file, content.sha256, context) : [];
  const siteDictionary = isWorth && isPage(file) ? context.siteDictionary?.sha256 : undefined;
  const variants: PlannedVariant[] = [];
  for (const format of isWorth ? context.settings.formats : []) {
    const original = { file, content, plain: format, dictionaries, siteDictionary };
    const plain = await planVariant(format, original, tree, plan, context);
    if (plain) variants.push(plain);
    for (const delta of deltasOf[format]) {
      if ((isSiteDelta(delta) ? siteDictionary : dictionaries[generationOf(delta)]) === undefined) continue;
      const owner = variantPath(file.path, delta).replace(/\.dc[bz]$/, "");
      // The place belongs to another file's delta: for example, to one of app.js.2.
      if (owner !== file.path && tree.paths.has(owner)) continue;
      const planned = await planVariant(delta, { ...original, plainRecord: plain?.record }, tree, plan, context);
      if (planned) variants.push(planned);
    }
  }
  plan.works.push({
    file,
    sha256: content.sha256,
    dictionaries,
    siteDictionary,
    immutable: context.isImmutable(file.path, content.sha256),
    variants,
  });
}

/** Decides how a file beside another one is copied to the target. */
export async function planExtra(file: FoundFile, plan: Plan, context: Context): Promise<void> {
  try {
    const { sha256 } = await readContent(join(context.places.source, file.path));
    if (await planCopy(file, sha256, plan, context)) {
      plan.extras.push({ file, sha256, immutable: context.isImmutable(file.path, sha256) });
    }
  } catch (error) {
    plan.unknown.add(file.path);
    context.ledger.fail(file.path, error);
  }
}

/** Decides how a file is copied to the target. Returns false if a file that no run wrote has its place. */
export async function planCopy(file: FoundFile, sha256: string, plan: Plan, context: Context): Promise<boolean> {
  const { former, ledger, settings } = context;
  plan.decided.add(await former.placeOf(file.path));
  const occupant = await former.look(file.path);
  // A folder may be removed together with the files that runs wrote there.
  if (occupant.kind === "obstacle" && !occupant.isFolder) {
    ledger.fail(file.path, new Error(occupant.message));
    return false;
  }
  if (occupant.kind === "file" && occupant.sha256 === sha256 && !occupant.isLink) {
    if (!occupant.isOurs && !settings.force) ledger.ready.add(file.path);
    else if (!isAlike(occupant, file)) plan.alike.set(file.path, file);
    return true;
  }
  if (occupant.kind === "file" && !occupant.isOurs && !settings.force) {
    ledger.fail(file.path, new Error("it is in the way and not what a run copied there: remove it, or use --force"));
    return false;
  }
  plan.copies.push({ file, sha256, immutable: context.isImmutable(file.path, sha256) });
  return true;
}

/** Returns the reason why a file gets no variants; undefined if it may get some. */
function whyLeftAlone(file: FoundFile, content: Content, { settings, selection }: Context): SkipReason | undefined {
  if (!selection.isWanted(file.path)) return "unwanted";
  if (isCompressedByName(file.path)) return "compressedByName";
  if (file.size < settings.minSize) return "small";
  return content.isDense ? "dense" : undefined;
}

/** Finds the previous versions of a file with other content: clients with the same content request no delta. */
async function dictionariesFor(file: FoundFile, hash: string, context: Context): Promise<Work["dictionaries"]> {
  const found: Work["dictionaries"][number][] = [];
  // Making a delta needs both versions in memory.
  if (file.size > LARGE_FILE) return found;
  const seen = new Set([hash]);
  for (const { folder, files } of context.previous) {
    const version = files.of(file.path, file.size);
    if (!version || version.size > LARGE_FILE) continue;
    const former = join(folder, version.path);
    const { sha256 = hash } = await readContent(former).catch((cause): Partial<Content> => {
      context.ledger.fail(file.path, unreadableDictionary(former, cause), { file });
      return {};
    });
    if (!seen.has(sha256)) found.push({ folder, path: version.path, sha256, match: withoutHash(file.path) });
    seen.add(sha256);
  }
  return found;
}
