import { join } from "node:path";
import { isCompressedByName } from "./compressible.ts";
import { type Content, LARGE_FILE, readContent } from "./content.ts";
import type { Context } from "./context.ts";
import type { LeftAlone } from "./left_alone.ts";
import type { DictionaryRecord } from "./records.ts";
import { deltasOf, isSiteDelta } from "./options.ts";
import { isAlike } from "./occupant.ts";
import { areSettled, type Plan, type PlannedVariant } from "./plan.ts";
import { planVariant } from "./planned_variant.ts";
import { withoutHash } from "./previous.ts";
import { CHANGED } from "./problem.ts";
import { isPage } from "./site/pages.ts";
import type { TreeFiles } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";

/** Decides what to do for `file`; changes nothing. */
export async function planFile(file: FoundFile, tree: TreeFiles, plan: Plan, context: Context): Promise<void> {
  const { ledger, places, target } = context;
  let content: Content;
  try {
    content = await readContent(join(places.source, file.path));
    if (content.size !== file.size) throw new Error(CHANGED);
  } catch (error) {
    // A copy and its variants still belong together; variants beside a file may be of what it was.
    if (target.isCopy) plan.unknown.add(file.path);
    return ledger.fail(file.path, error);
  }
  if (target.isCopy && !await planCopy(file, content.sha256, plan, context)) return;
  const leftAlone = whyLeftAlone(file, content, context);
  if (leftAlone) ledger.leftAlone.set(file.path, leftAlone);
  const isWorth = leftAlone === undefined;
  const dictionary = isWorth ? await dictionaryFor(file, content.sha256, context) : undefined;
  const siteDictionary = isWorth && isPage(file) ? context.siteDictionary?.sha256 : undefined;
  const variants: PlannedVariant[] = [];
  for (const format of isWorth ? context.settings.formats : []) {
    const original = { file, content, plain: format, dictionary, siteDictionary };
    const plain = await planVariant(format, original, tree, plan, context);
    if (plain) variants.push(plain);
    for (const delta of deltasOf[format]) {
      if ((isSiteDelta(delta) ? siteDictionary : dictionary) === undefined) continue;
      const planned = await planVariant(delta, { ...original, plainRecord: plain?.record }, tree, plan, context);
      if (planned) variants.push(planned);
    }
  }
  plan.works.push({
    file,
    sha256: content.sha256,
    dictionary,
    siteDictionary,
    immutable: context.isImmutable(file.path, content.sha256),
    variants,
    isSettled: areSettled(variants),
  });
}

/** Decides how a file that stands beside another comes to the target. */
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

/**
 * Decides how the copy of a file comes to the target.
 *
 * @returns false if somebody else's file is in the way.
 */
export async function planCopy(file: FoundFile, sha256: string, plan: Plan, context: Context): Promise<boolean> {
  const { ledger, settings, target } = context;
  plan.decided.add(await target.placeOf(file.path));
  const occupant = await target.look(file.path);
  // A folder may be gone when all that runs put there is.
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

/** Tells why a file gets no variants; undefined if it may be worth some. */
function whyLeftAlone(file: FoundFile, content: Content, { settings, selection }: Context): LeftAlone | undefined {
  if (!selection.isWanted(file.path)) return "unwanted";
  if (isCompressedByName(file.path)) return "compressedByName";
  if (file.size < settings.minSize) return "small";
  return content.isDense ? "dense" : undefined;
}

/** The previous version of a file with that hash, if it is another one: nobody who has the same asks for a delta. */
async function dictionaryFor(
  file: FoundFile,
  hash: string,
  { previous, places }: Context,
): Promise<DictionaryRecord | undefined> {
  const version = previous?.of(file.path, file.size);
  // A delta is made with both versions in memory.
  if (!version || file.size > LARGE_FILE || version.size > LARGE_FILE) return undefined;
  const { sha256 } = await readContent(join(places.previous!, version.path));
  return sha256 === hash ? undefined : { path: version.path, sha256, match: withoutHash(file.path) };
}
