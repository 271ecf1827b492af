import { basename } from "node:path";
import { withoutGroup } from "../files/internal.ts";
import { openFileReadable } from "../files/mod.ts";
import { mayGiveTo, userNumber } from "../runtime/mod.ts";
import { type SkipReason, whyLeftAlone } from "./content.ts";
import type { Context, RunLog } from "./context.ts";
import type { Content, Folder, HashedFile } from "./folder.ts";
import { type DeltaFormat, deltasOf, extensions, generationOf, isDelta, type VariantFormat } from "./formats.ts";
import { decodesTo, isGzipReadWhole } from "./job.ts";
import { FOLDER_IN_THE_WAY, type OccupantFile } from "./occupant.ts";
import { Plan, type PlannedVariant, type Work } from "./plan.ts";
import { CHANGED, unreadableDictionary } from "./problem.ts";
import type { VariantRecord } from "./records.ts";
import { isPage } from "./site/sample.ts";
import { chooseSiteDictionary, type SiteDictionary } from "./site/site_dictionary.ts";
import { NOT_AS_WRITTEN } from "./target.ts";
import { type PreviousVersion, previousVersions, variantPath } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";
import type { Found } from "./walk_site.ts";

/** Plans the changes of a run; changes nothing. */
export async function planSite(found: Found, context: Context): Promise<Plan> {
  const { former, ledger, pool, progress, settings } = context;
  const plan = new Plan();
  for (const path of found.temporaries) plan.temporaries.add(path);
  let [jobs, bytes] = [0, 0];
  const add = (work: Work): void => {
    plan.works.add(work);
    for (const { format, record } of work.variants) {
      if (record) continue;
      progress.expect(format, work.file.size);
      jobs++;
      bytes += work.file.size;
    }
  };
  const chosen = settings.siteDictionary ? await chooseSiteDictionary(found.files, context) : undefined;
  const dictionary = chosen && await planSiteDictionary(chosen, found, plan, context);
  if (dictionary) add(dictionary);
  for await (const original of readOriginals(found, context)) {
    const work = await planFile(original, found, plan, context).catch((error) => {
      if (original.leftAlone === "beside") plan.unknown.add(original.file.path);
      ledger.fail(original.file.path, error);
    });
    if (work) add(work);
    if (!settings.dryRun) pool.prepare(jobs, bytes); // the workers load during the planning
  }
  for (const path of found.beside.keys()) {
    // A leftover of a run whose manifest was lost; useless without the folder of `previous`.
    if (/\.dc[bz]$/.test(path) && !plan.decided.has(await former.placeOf(path))) ledger.found.add(path);
  }
  await planStale(found, plan, context);
  return plan;
}

/** A file of the source, as it was read. */
interface Original {
  readonly file: FoundFile;
  readonly content: Content;
  /** The reason why it gets no variants, if any. */
  readonly leftAlone: SkipReason | undefined;
  /** The previous versions with other content, latest first. */
  readonly dictionaries: readonly PreviousVersion[];
}

/**
 * Yields the files of the source as they are read, the largest first, so that no long job is left at the end; then, in
 * a run that copies, those beside other files. A file that cannot be read, or has changed since it was found, is
 * reported.
 */
async function* readOriginals(found: Found, context: Context): AsyncGenerator<Original> {
  const { former, ledger, places: { source }, previous, selection, settings } = context;
  const files = found.files.toSorted((a, b) => b.size - a.size);
  for (const file of [...files, ...(former.isCopy ? found.beside.values() : [])]) {
    settings.signal?.throwIfAborted();
    const content = await source.contentOf(file.path).catch((error: Error) => error);
    if (content instanceof Error || content.size !== file.size) {
      // A copy and its variants must match; a variant beside its file may be of the file's former content.
      if (former.isCopy) found.unreadable.add(file.path);
      ledger.fail(file.path, content instanceof Error ? content : new Error(CHANGED));
      continue;
    }
    const leftAlone = found.beside.has(file.path) ? "beside" : whyLeftAlone(file, content, selection, settings);
    const dictionaries = leftAlone ? [] : await previousVersions(file, content.sha256, previous, (version, cause) => {
      ledger.fail(file.path, unreadableDictionary(version, cause), { file });
    });
    yield { file, content, leftAlone, dictionaries };
  }
}

/** Plans the file of the site's dictionary; undefined if it is planned like any other file, or cannot exist. */
async function planSiteDictionary(
  { path, bytes, sha256, madeOf }: SiteDictionary,
  found: Found,
  plan: Plan,
  context: Context,
): Promise<Work | undefined> {
  const { former, ledger, origin, places, settings } = context;
  const isInSource = found.paths.has(path);
  if (!isInSource) plan.decided.add(await former.placeOf(path));
  const occupant = await (isInSource ? origin : former).look(path);
  const isThere = occupant.kind === "file" && occupant.sha256 === sha256;
  if (!isThere && (isInSource || occupant.kind !== "nothing")) {
    ledger.fail(path, new Error("it is in the way of the dictionary of the site: remove it and run again"));
    return undefined;
  }
  ledger.siteDictionary = { path, size: bytes.length, madeOf };
  if (isInSource) {
    // Without a manifest, the file is not recognized as a copy: it stays, and is compressed like any other.
    if (!former.isCopy) ledger.ready.add(path);
    plan.siteDictionary = { folder: places.source, path, sha256 };
    return undefined;
  }
  const newest = found.files.reduce((latest, each) => isPage(each) ? Math.max(latest, each.mtimeMs) : latest, 0);
  // Every file system supports whole seconds.
  const { mtimeMs, mode } = isThere ? occupant : { mtimeMs: Math.floor(newest / 1000) * 1000, mode: 0o644 };
  const file = { path, size: bytes.length, mtimeMs, mode };
  if (isThere && !occupant.isOurs) ledger.ready.add(path);
  if (!isThere) plan.newDictionary = { file, bytes, sha256 };
  const { folder } = former;
  plan.siteDictionary = { folder, path, sha256 };
  const original = { file, content: { sha256, size: bytes.length, isDense: false } };
  const variants: PlannedVariant[] = [];
  for (const format of bytes.length >= settings.minSize ? settings.formats : []) {
    const variant = await planVariant({ ...original, format, plain: format }, found, plan, context);
    if (variant) variants.push(variant);
  }
  return { file, sha256, dictionaries: [], folder, variants };
}

/** Decides what to do for a file; undefined if it gets no record of variants. */
async function planFile(original: Original, found: Found, plan: Plan, context: Context): Promise<Work | undefined> {
  const { former, isImmutable, ledger, settings } = context;
  const { file, content: { sha256 }, leftAlone, dictionaries } = original;
  if (former.isCopy && !await planCopy(file, sha256, plan, context)) return undefined;
  if (leftAlone === "beside") {
    plan.extras.add({ file, sha256, immutable: isImmutable(file.path, sha256) });
    return undefined;
  }
  if (leftAlone) ledger.leftAlone.set(file.path, leftAlone);
  const siteDictionary = !leftAlone && isPage(file) ? plan.siteDictionary : undefined;
  const variants: PlannedVariant[] = [];
  for (const plain of leftAlone ? [] : settings.formats) {
    const planned = await planVariant({ ...original, format: plain, plain }, found, plan, context);
    if (planned) variants.push(planned);
    for (const format of deltasOf[plain]) {
      const dictionary = format.startsWith("site-") ? siteDictionary : dictionaries[generationOf(format)];
      if (dictionary === undefined) continue;
      const owner = variantPath(file.path, format).replace(/\.dc[bz]$/, "");
      // The place belongs to another file's delta: for example, to one of app.js.2.
      if (owner !== file.path && found.paths.has(owner)) continue;
      const wanted = { ...original, format, plain, plainRecord: planned?.record, dictionary };
      const delta = await planVariant(wanted, found, plan, context);
      if (delta) variants.push(delta);
    }
  }
  const immutable = isImmutable(file.path, sha256);
  return { file, sha256, immutable, dictionaries, siteDictionary: siteDictionary?.sha256, variants };
}

/** Decides how a file is copied to the target. Returns false if a file that no run wrote has its place. */
async function planCopy(file: FoundFile, sha256: string, plan: Plan, context: Context): Promise<boolean> {
  const { former, isImmutable, ledger, settings } = context;
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
  plan.copies.add({ file, sha256, immutable: isImmutable(file.path, sha256) });
  return true;
}

/**
 * Whether a file has another one's permissions and, as far as this process may give them to it, owner and group. Times
 * are compared in whole ms, since some file systems keep no more.
 */
function isAlike({ mtimeMs, mode, uid, gid }: OccupantFile, other: FoundFile): boolean {
  const user = userNumber();
  if (user === 0 && other.uid !== undefined && uid !== other.uid) return false;
  const isOfGroup = other.gid === undefined || gid === other.gid;
  if (!isOfGroup && (user === 0 || user === uid) && mayGiveTo(other.gid!)) return false;
  return Math.abs(mtimeMs - other.mtimeMs) < 1 && mode === (isOfGroup ? other.mode : withoutGroup(other.mode));
}

/** A variant to decide about. */
interface Wanted extends Pick<Original, "file" | "content"> {
  readonly format: VariantFormat | DeltaFormat;
  /** The format of the variant; for a delta, the one without a dictionary. */
  readonly plain: VariantFormat;
  /** The valid variant in the format without a dictionary, if any. */
  readonly plainRecord?: VariantRecord | undefined;
  /** The dictionary, for a delta: the previous version of the file, or the dictionary of the site. */
  readonly dictionary?: HashedFile;
}

/** Decides about a variant; undefined if it cannot exist, which is reported. */
async function planVariant(
  wanted: Wanted,
  found: Found,
  plan: Plan,
  context: Context,
): Promise<PlannedVariant | undefined> {
  const { former, ledger, places: { source }, settings: { force, levels, minSaving } } = context;
  const { file, content, format, plain, dictionary } = wanted;
  const path = variantPath(file.path, format);
  if (former.isCopy && found.folders.has(path)) {
    ledger.fail(path, new Error(FOLDER_IN_THE_WAY), wanted);
    return undefined;
  }
  plan.decided.add(await former.placeOf(path));
  const base = `level ${levels[plain]}, saving ${minSaving}`;
  const settings = isDelta(format) ? `${base}, dictionary ${dictionary!.sha256}` : base;
  const planned: PlannedVariant = { format, settings, dictionary, replacesAny: force };
  const isBeside = former.isCopy && found.beside.has(path);
  if (isBeside && force) return { ...planned, isBeside };
  if (isBeside) {
    if (!await isTheirForm(source, path, wanted, ledger)) return undefined;
    const { size, sha256 } = await source.contentOf(path);
    return { ...planned, record: { state: "found", settings, size, sha256 } };
  }
  const occupant = await former.look(path);
  // In a copy, a folder may be removed together with the files that runs wrote there.
  if (occupant.kind === "obstacle" && !(former.isCopy && occupant.isFolder)) {
    ledger.fail(path, new Error(occupant.message), wanted);
    return undefined;
  }
  const before = former.records.get(file.path);
  const known = before?.sha256 === content.sha256 ? before.variants : {};
  // The limit of a delta depends on the size of the variant that it replaces.
  const [was, is] = [known[plain], wanted.plainRecord];
  const isSame = format === plain || was?.state === is?.state && was?.size === is?.size;
  const usable = known[format]?.settings === settings && isSame && !force ? known[format] : undefined;
  const wasUnworthy = usable?.state === "unworthy";
  const rejected = wasUnworthy ? { ...planned, record: usable } : planned;
  if (occupant.kind !== "file") return rejected;
  if (occupant.isOurs) {
    if (usable?.state === "kept" && occupant.sha256 === usable.sha256) {
      if (!isAlike(occupant, file)) plan.alike.set(path, file);
      return { ...planned, record: usable };
    }
    // A variant of other content must not be served meanwhile.
    if (wasUnworthy || before?.sha256 !== content.sha256) plan.stale.add(path);
    return rejected;
  }
  if (force) return planned;
  return await besideTheirs(occupant, planned, usable, wanted, context);
}

/** Decides about a variant whose place in the target has a file that no run wrote. */
async function besideTheirs(
  occupant: OccupantFile,
  planned: PlannedVariant,
  usable: VariantRecord | undefined,
  wanted: Wanted,
  { former, ledger }: Context,
): Promise<PlannedVariant | undefined> {
  const { format, settings } = planned;
  const path = variantPath(wanted.file.path, format);
  const found: VariantRecord = { state: "found", settings, size: occupant.size, sha256: occupant.sha256 };
  const isKnown = usable?.state === "found" && usable.sha256 === occupant.sha256;
  if (!await isTheirForm(former.folder, path, { ...wanted, isKnown }, ledger)) return undefined;
  if (isKnown) return { ...planned, record: usable };
  const isFinal = occupant.isLink || usable?.state === "unworthy";
  return { ...planned, ...(isFinal ? { record: found } : { theirs: found }) };
}

/** Whether a file that no run wrote is the wanted variant; otherwise, reports that it is in the way. */
async function isTheirForm(
  folder: Folder,
  path: string,
  wanted: Wanted & { readonly isKnown?: boolean },
  ledger: RunLog,
): Promise<boolean> {
  const { content, dictionary, file, format, isKnown = false } = wanted;
  const isForm = async (): Promise<boolean> => {
    if (format === "gzip" && !await isGzipReadWhole(folder.at(path), content.size)) return false;
    if (isKnown) return true; // earlier versions recorded files of several members, too
    const bytes = await dictionary?.folder.bytesOf(dictionary.path);
    return await decodesTo(content, await openFileReadable(folder.at(path)), format, bytes);
  };
  // It may be unreadable, corrupt, or of more content.
  if (await isForm().catch(() => false)) return true;
  const hint = "remove it, exclude that, or use --force";
  ledger.fail(path, new Error(`it is in the way and not made from ${basename(file.path)}: ${hint}`), wanted);
  return false;
}

const suffixes = Object.values(extensions);

/** Returns a function that returns whether a path is that of an unknown file, of its variant, or below it. */
export function unknownPlaces(unknown: ReadonlySet<string>): (path: string) => boolean {
  const isBelow = (path: string, end = path.lastIndexOf("/")): boolean =>
    unknown.has(path) || (end > 0 && isBelow(path.slice(0, end)));
  return (path) =>
    isBelow(path) || suffixes.some((each) => path.endsWith(each) && unknown.has(path.slice(0, -each.length)));
}

/** Decides about all files in the target that runs wrote and that are no longer needed. */
async function planStale({ unreadable }: Found, plan: Plan, context: Context): Promise<void> {
  const { former, ledger, settings: { followLinks, signal } } = context;
  // A folder that could not be read may still have its files.
  const isBelow = unknownPlaces(unreadable.union(plan.unknown));
  const isUnknown = (path: string): boolean => !followLinks && path.startsWith("../") || isBelow(path);
  for (const path of former.paths) {
    signal?.throwIfAborted();
    if (plan.decided.has(await former.placeOf(path))) continue;
    if (isUnknown(path)) {
      ledger.stuck.add(path);
      continue;
    }
    const occupant = await former.look(path);
    // If a folder has the name now, the run's file no longer exists.
    if (occupant.kind === "nothing" || (occupant.kind === "obstacle" && occupant.isFolder)) continue;
    if (occupant.kind === "file" && occupant.isOurs) plan.stale.add(path);
    else ledger.fail(path, new Error(occupant.kind === "file" ? NOT_AS_WRITTEN : occupant.message));
  }
  for (const path of former.records.keys()) if (isUnknown(path)) plan.unknown.add(path);
}
