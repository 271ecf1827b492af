import { join } from "node:path";
import { isCompressedByName } from "./compressible.ts";
import { type Content, LARGE_FILE, readContent } from "./content.ts";
import type { Context } from "./context.ts";
import type { DictionaryRecord } from "./records.ts";
import { deltasOf, isSiteDelta } from "./options.ts";
import { isAlike } from "./occupant.ts";
import { type PlannedVariant, planVariant } from "./planned_variant.ts";
import { withoutHash } from "./previous.ts";
import { CHANGED } from "./problem.ts";
import { isPage } from "./site/pages.ts";
import type { NewDictionary } from "./site/site_dictionary.ts";
import type { TreeFiles } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";

/** The variants that a file should have. */
export interface Work {
  readonly file: FoundFile;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  readonly dictionary: DictionaryRecord | undefined;
  /** The SHA-256 of the dictionary of the site, if it gets deltas against that. */
  readonly siteDictionary?: string | undefined;
  /** The folder that it is in, if not that of the run: a run made the file. */
  readonly folder?: string;
  readonly variants: readonly PlannedVariant[];
  /** Whether none of them is to be made. */
  readonly isSettled: boolean;
}

/** A copy to make of a file. */
export interface Copy {
  readonly file: FoundFile;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
}

/** All that there is to do in the target. */
export class Plan {
  /** Each file that was read, with its variants; none if it is not worth any. */
  readonly works: Work[] = [];
  readonly copies: Copy[] = [];
  /** Files of the tree that stand where a variant of another would be, and are copied like all others. */
  readonly extras: Copy[] = [];
  /** Paths of temporary files that killed runs left below the target. */
  readonly temporaries: string[];
  /** Files of ours whose time of change and permissions are to be those of the original, by path. */
  readonly alike: Map<string, FoundFile> = new Map();
  /** Paths of files of ours to remove before anything is made. */
  readonly stale: Set<string> = new Set();
  /** Real paths of the places that were decided about: what else is of ours has to go. */
  readonly decided: Set<string> = new Set();
  /** Paths of files that could not be read, of which the target keeps what it has. */
  readonly unknown: Set<string> = new Set();
  /** A dictionary of the site to put there, before what needs it is made. */
  newDictionary: NewDictionary | undefined;

  constructor(temporaries: string[]) {
    this.temporaries = temporaries;
  }

  /** Whether nothing in the target is to be changed but its manifest. */
  get isEmpty(): boolean {
    const { works, copies, alike, stale, temporaries } = this;
    return this.newDictionary === undefined && works.every(({ isSettled }) => isSettled) &&
      copies.length + alike.size + stale.size + temporaries.length === 0;
  }
}

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
  const isWorth = isWanted(file, content, context);
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
    variants,
    isSettled: areSettled(variants),
  });
}

/** Whether none of them is to be made. */
export function areSettled(variants: readonly PlannedVariant[]): boolean {
  return variants.every(({ record }) => record !== undefined);
}

/** Decides how a file that stands beside another comes to the target. */
export async function planExtra(file: FoundFile, plan: Plan, context: Context): Promise<void> {
  try {
    const { sha256 } = await readContent(join(context.places.source, file.path));
    if (await planCopy(file, sha256, plan, context)) plan.extras.push({ file, sha256 });
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
  plan.copies.push({ file, sha256 });
  return true;
}

function isWanted(file: FoundFile, content: Content, { settings, selection }: Context): boolean {
  return file.size >= settings.minSize && selection.isWanted(file.path) && !isCompressedByName(file.path) &&
    !content.isDense;
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
