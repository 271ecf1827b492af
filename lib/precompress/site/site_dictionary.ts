import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openAtomicFileAt, placeItself, removeTemporary } from "../../files/internal.ts";
import { temporaryPath } from "../../files/mod.ts";
import { TurnSlicer } from "../../timers/mod.ts";
import { sha256 } from "../content.ts";
import type { Context, Ledger } from "../context.ts";
import { readManifest } from "../manifest.ts";
import { planVariant } from "../plan_file.ts";
import { areSettled, type NewDictionary, type Plan, type PlannedVariant } from "../plan.ts";
import { recordOf } from "../record_work.ts";
import type { TreeFiles } from "../tree_files.ts";
import type { FoundFile } from "../walk.ts";
import type { Pause } from "./cover.ts";
import { isPage, type Sample, samplePages, Trial } from "./sample.ts";

/** Of how a dictionary is made; another one makes another dictionary of the same pages. */
const VERSION = 2;
/** The share of a new dictionary's saving that keeps an existing one: clients that have it need not get another. */
const GOOD_ENOUGH = 0.95;
/** How long the thread is kept from other work, in ms. */
const TURN = 50;

/** A dictionary that there is: to be used as it is, or to be compared with a new one. */
interface Former {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly madeOf: string;
}

/** Decides which dictionary the site has, and plans its file; changes nothing. */
export async function planSiteDictionary(
  tree: TreeFiles,
  plan: Plan,
  context: Context,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { ledger, places, selection, settings } = context;
  const { minSize } = settings;
  const pages = tree.files.filter((file) => isPage(file) && file.size >= minSize && selection.isWanted(file.path));
  if (pages.length < 2) return;
  const pause = pauses(signal);
  const sample = await samplePages(places.source, pages, pause);
  const own = settings.force ? undefined : await ownDictionary(context);
  const previous = await previousDictionary(places.previous);
  const madeOf = sha256(new TextEncoder().encode(JSON.stringify([VERSION, sample.digest, previous?.sha256 ?? ""])));
  const chosen = own?.madeOf === madeOf ? own.bytes : await bestOf(sample, pages.length, [previous, own], pause);
  if (chosen === undefined) return;
  const hash = sha256(chosen);
  const path = `site-dictionary-${hash.slice(0, 16)}.dict`;
  ledger.siteDictionary = { path, size: chosen.length, madeOf };
  if (!await planDictionary(path, chosen, hash, tree, plan, context)) ledger.siteDictionary = undefined;
}

/** Lets other work of the thread have its turn now and then. */
function pauses(signal: AbortSignal | undefined): Pause {
  const turns = new TurnSlicer(TURN);
  return async () => {
    if (!turns.isOver) return;
    await turns.next();
    signal?.throwIfAborted();
  };
}

/** The dictionary that runs before put into the target, if it is there. */
async function ownDictionary({ target }: Context): Promise<Former | undefined> {
  for (const [path, { sha256, madeOf }] of target.provenance.records) {
    if (madeOf === undefined) continue;
    const bytes = await verified(join(target.folder, path), sha256);
    if (bytes) return { path, bytes, sha256, madeOf };
  }
  return undefined;
}

/** The dictionary of the previous deploy, which its visitors have. */
async function previousDictionary(folder: string | undefined): Promise<Former | undefined> {
  const manifest = folder === undefined ? undefined : await readManifest(folder).catch(() => undefined);
  for (const [path, { sha256, madeOf }] of Object.entries(manifest?.files ?? {})) {
    if (madeOf === undefined) continue;
    const bytes = await verified(join(folder!, path), sha256);
    if (bytes) return { path, bytes, sha256, madeOf };
  }
  return undefined;
}

/** The bytes of a file; undefined if it has not that hash. */
async function verified(path: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && sha256(bytes) === hash ? bytes : undefined;
}

/** Makes a new dictionary and returns it, or the first of the former ones that does about as well. */
async function bestOf(
  { made, tried }: Sample,
  count: number,
  formers: readonly (Former | undefined)[],
  pause: Pause,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const trial = await Trial.on(tried, count, pause);
  const best = await trial.best(made, pause);
  if (best === undefined) return undefined;
  const least = GOOD_ENOUGH * await trial.savingOf(best, pause);
  for (const former of formers) {
    if (former && await trial.savingOf(former.bytes, pause) >= least) return former.bytes;
  }
  return best;
}

/** Plans the file of the dictionary and its variants. Returns false if something else has its place, which is told. */
async function planDictionary(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  hash: string,
  tree: TreeFiles,
  plan: Plan,
  context: Context,
): Promise<boolean> {
  const { ledger, places, settings, target } = context;
  if (tree.files.some((file) => file.path === path)) {
    if (await verified(join(places.source, path), hash) === undefined) return inTheWay(path, ledger);
    // The manifest was lost, or somebody put it there: it stays, and is compressed like any other file.
    if (!target.isCopy) ledger.ready.add(path);
    context.siteDictionary = { file: join(places.source, path), sha256: hash };
    return true;
  }
  plan.decided.add(await target.placeOf(path));
  const occupant = await target.look(path);
  if (occupant.kind === "obstacle" || occupant.kind === "file" && occupant.sha256 !== hash) {
    return inTheWay(path, ledger);
  }
  const { mtimeMs, mode } = occupant.kind === "file" ? occupant : { mtimeMs: newestOf(tree.files), mode: 0o644 };
  const file = { path, size: bytes.length, mtimeMs, mode };
  if (occupant.kind === "file" && !occupant.isOurs) ledger.ready.add(path);
  if (occupant.kind === "nothing") {
    plan.newDictionary = { file, bytes, sha256: hash, record: recordOf({ file, sha256: hash }, ledger) };
  }
  const content = { sha256: hash, size: bytes.length, isDense: false };
  const variants: PlannedVariant[] = [];
  for (const format of bytes.length >= settings.minSize ? settings.formats : []) {
    const variant = await planVariant(format, { file, content, plain: format }, tree, plan, context);
    if (variant) variants.push(variant);
  }
  const { folder } = target;
  plan.works.push({ file, sha256: hash, dictionary: undefined, folder, variants, isSettled: areSettled(variants) });
  context.siteDictionary = { file: join(folder, path), sha256: hash };
  return true;
}

function inTheWay(path: string, ledger: Ledger): false {
  ledger.fail(path, new Error("it is in the way of the dictionary of the site: remove it and run again"));
  return false;
}

/** When the last of the pages was changed, in ms: whole seconds, which every file system keeps. */
function newestOf(files: readonly FoundFile[]): number {
  const newest = files.reduce((latest, file) => isPage(file) ? Math.max(latest, file.mtimeMs) : latest, 0);
  return Math.floor(newest / 1000) * 1000;
}

/**
 * Puts a new dictionary of the site into the target.
 *
 * @throws {Error} if that fails: nothing can be made against it then.
 */
export async function putDictionary(dictionary: NewDictionary, { ledger, target }: Context): Promise<void> {
  const { file: { path, mode, mtimeMs }, bytes, sha256, record } = dictionary;
  const temporary = temporaryPath(join(target.folder, path));
  try {
    closeSync(openSync(temporary, "wx", mode));
    const file = await openAtomicFileAt(placeItself(temporary), { temporary, mode, mtimeMs });
    try {
      await file.write(bytes);
      await file.end();
    } catch (error) {
      await file.discard();
      throw error;
    }
    if (await target.put(path, { temporary, sha256, entry: { path, record }, replacesAny: false })) {
      ledger.compressed.add(path);
    }
  } finally {
    await removeTemporary(temporary);
  }
}
