import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { removeTemporary, whileUnshared } from "../../files/internal.ts";
import { temporaryPath } from "../../files/mod.ts";
import { TurnSlicer } from "../../timers/mod.ts";
import { sha256 } from "../content.ts";
import type { Context, RunLog } from "../context.ts";
import { openTemporary } from "../job.ts";
import { readManifest } from "../manifest.ts";
import { planVariant } from "../plan_file.ts";
import type { NewDictionary, Plan, PlannedVariant } from "../plan.ts";
import { recordOf } from "../record_work.ts";
import type { FileRecord } from "../records.ts";
import type { TreeFiles } from "../tree_files.ts";
import type { FoundFile } from "../walk.ts";
import type { Pause } from "./cover.ts";
import { isPage, type Sample, samplePages, Trial } from "./sample.ts";

/** The version of the training method: another version makes other bytes. */
const VERSION = 2;
/** The share of a new dictionary's saving from which an existing one is kept, since clients already have that. */
const GOOD_ENOUGH = 0.95;
/** The maximum time in ms that blocks the thread. */
const TURN = 50;

/** An existing dictionary, to be kept or compared with a new one. */
interface Former {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly madeOf: string;
}

/** Chooses the site's dictionary, and plans its file; changes nothing. */
export async function planSiteDictionary(tree: TreeFiles, plan: Plan, context: Context): Promise<void> {
  const { former, ledger, places, selection, settings } = context;
  const { minSize, signal } = settings;
  const pages = tree.files.filter((file) => isPage(file) && file.size >= minSize && selection.isWanted(file.path));
  if (pages.length < 2) return;
  const pause = pauses(signal);
  const sample = await samplePages(places.source, pages, pause);
  const own = settings.force ? undefined : await formerIn(former.folder, former.records);
  const previous = await previousDictionary(places.previous[0]);
  const madeOf = sha256(new TextEncoder().encode(JSON.stringify([VERSION, sample.digest, previous?.sha256 ?? ""])));
  const chosen = own?.madeOf === madeOf ? own.bytes : await bestOf(sample, pages.length, [previous, own], pause);
  if (chosen === undefined) return;
  const hash = sha256(chosen);
  const path = `site-dictionary-${hash.slice(0, 16)}.dict`;
  ledger.siteDictionary = { path, size: chosen.length, madeOf };
  if (!await planDictionary(path, chosen, hash, tree, plan, context)) ledger.siteDictionary = undefined;
}

/** Returns a function that lets other work of the thread have its turn at intervals. */
function pauses(signal: AbortSignal | undefined): Pause {
  const turns = new TurnSlicer(TURN);
  return async () => {
    if (!turns.isOver) return;
    await turns.next();
    signal?.throwIfAborted();
  };
}

/** Returns the dictionary in `folder`, by the records of its runs. */
async function formerIn(folder: string, records: Iterable<[string, FileRecord]>): Promise<Former | undefined> {
  for (const [path, { sha256, madeOf }] of records) {
    const bytes = madeOf === undefined ? undefined : await verified(join(folder, path), sha256);
    if (bytes) return { bytes, sha256, madeOf: madeOf! };
  }
  return undefined;
}

/** Returns the dictionary of the previous deploy, which its visitors have. */
async function previousDictionary(folder: string | undefined): Promise<Former | undefined> {
  const manifest = folder === undefined ? undefined : await readManifest(folder).catch(() => undefined);
  return manifest && await formerIn(folder!, Object.entries(manifest.files));
}

/** Returns the bytes of a file; undefined if its hash differs. */
async function verified(path: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = await whileUnshared(() => readFile(path)).catch(() => undefined);
  return bytes && sha256(bytes) === hash ? bytes : undefined;
}

/** Makes a new dictionary and returns it, or the first former one that is about as good. */
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

/** Plans the file of the dictionary and its variants. Returns false if another file has its path, which is reported. */
async function planDictionary(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  hash: string,
  tree: TreeFiles,
  plan: Plan,
  context: Context,
): Promise<boolean> {
  const { former, ledger, places, settings } = context;
  if (tree.files.some((file) => file.path === path)) {
    if (await verified(join(places.source, path), hash) === undefined) return inTheWay(path, ledger);
    // Without a manifest, the file is not recognized as a copy: it stays, and is compressed like any other.
    if (!former.isCopy) ledger.ready.add(path);
    context.siteDictionary = { file: join(places.source, path), sha256: hash };
    return true;
  }
  plan.decided.add(await former.placeOf(path));
  const occupant = await former.look(path);
  if (occupant.kind === "obstacle" || occupant.kind === "file" && occupant.sha256 !== hash) {
    return inTheWay(path, ledger);
  }
  const { mtimeMs, mode } = occupant.kind === "file" ? occupant : { mtimeMs: newestOf(tree.files), mode: 0o644 };
  const file = { path, size: bytes.length, mtimeMs, mode };
  if (occupant.kind === "file" && !occupant.isOurs) ledger.ready.add(path);
  if (occupant.kind === "nothing") {
    plan.newDictionary = { file, bytes, sha256: hash };
  }
  const content = { sha256: hash, size: bytes.length, isDense: false };
  const variants: PlannedVariant[] = [];
  for (const format of bytes.length >= settings.minSize ? settings.formats : []) {
    const variant = await planVariant(format, { file, content, plain: format, dictionaries: [] }, tree, plan, context);
    if (variant) variants.push(variant);
  }
  const { folder } = former;
  plan.works.push({ file, sha256: hash, dictionaries: [], folder, variants });
  context.siteDictionary = { file: join(folder, path), sha256: hash };
  return true;
}

function inTheWay(path: string, ledger: RunLog): false {
  ledger.fail(path, new Error("it is in the way of the dictionary of the site: remove it and run again"));
  return false;
}

/** Returns the latest modification time of the pages in ms: whole seconds, which every file system supports. */
function newestOf(files: readonly FoundFile[]): number {
  const newest = files.reduce((latest, file) => isPage(file) ? Math.max(latest, file.mtimeMs) : latest, 0);
  return Math.floor(newest / 1000) * 1000;
}

/** Writes a new dictionary of the site to the target. Throws on failure, since no delta can then be made. */
export async function putDictionary(dictionary: NewDictionary, { former, ledger, target }: Context): Promise<void> {
  const { file, bytes, sha256 } = dictionary;
  const { path, mode } = file;
  const temporary = temporaryPath(join(former.folder, path));
  try {
    closeSync(openSync(temporary, "wx", mode));
    const opened = await openTemporary({ ...file, temporary });
    await opened.write(bytes).then(() => opened.end()).catch(async (error) => {
      await opened.discard();
      throw error;
    });
    const entry = { path, record: recordOf(dictionary, ledger) };
    if (await target.put(path, { temporary, sha256, entry, replacesAny: false })) {
      ledger.compressed.add(path);
    }
  } finally {
    await removeTemporary(temporary);
  }
}
