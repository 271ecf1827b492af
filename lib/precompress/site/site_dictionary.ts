import { TurnSlicer } from "../../timers/mod.ts";
import { sha256 } from "../content.ts";
import type { Context } from "../context.ts";
import type { Folder } from "../folder.ts";
import { manifestAt, manifestName } from "../manifest.ts";
import type { FileRecord } from "../records.ts";
import { typeOf } from "../report.ts";
import { UnmatchedError } from "../selection.ts";
import type { FoundFile } from "../walk.ts";
import type { Pause } from "./cover.ts";
import { bestDictionary, isPage, samplePages } from "./sample.ts";

/** The version of the training method: another version makes other bytes. */
const VERSION = 2;
/** The maximum time in ms that blocks the thread. */
const TURN = 50;

/** A dictionary: an existing one is kept, or compared with a new one. */
interface Former {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly madeOf: string;
}

/** The dictionary of a site, as a file below its folder. */
export interface SiteDictionary extends Former {
  readonly path: string;
}

/** Chooses the dictionary of a site with these files: a new one, that of the last run or of the previous deploy, or none. */
export async function chooseSiteDictionary(
  files: readonly FoundFile[],
  { former, places, selection, settings }: Context,
): Promise<SiteDictionary | undefined> {
  const { exclude, include, minSize, signal } = settings;
  const pages = files.filter((file) => isPage(file) && file.size >= minSize && selection.isWanted(file.path));
  if (pages.length < 2) return undefined;
  // Patterns such as robots.txt and **/*.map are not for pages.
  const isOther = (warning: string) => {
    const [, ends] = /\.(\w+|\{[\w,]+\})" matches/.exec(warning) ?? [];
    return ends?.match(/\w+/g)?.every((end) => !["HTML", "other"].includes(typeOf(`.${end}`)));
  };
  const open = selection.isExcluded.warnings?.().find((warning) => !isOther(warning));
  if (open) throw new UnmatchedError(`the site dictionary is public, and ${open}; correct it or leave it out`);
  const pause = pauses(signal);
  const sample = await samplePages(places.source, pages, pause);
  // A dictionary of other patterns may contain text of pages that are excluded now.
  const selected = digestOf([include, exclude]);
  const isKept = (made: Former | undefined) => made?.madeOf.endsWith(selected);
  const own = settings.force ? undefined : await formerIn(former.folder, former.records);
  const [deployed] = places.previous; // whose visitors have its dictionary
  const manifest = deployed && await manifestAt(deployed.at(manifestName)).catch(() => undefined);
  const previous = manifest && await formerIn(deployed, Object.entries(manifest.files));
  const madeOf = digestOf([VERSION, sample.digest, previous?.sha256 ?? ""]) + selected;
  const chosen = own?.madeOf === madeOf
    ? own.bytes
    : await bestDictionary(sample, pages.length, [previous, own].filter(isKept), pause);
  if (chosen === undefined) return undefined;
  const hash = sha256(chosen);
  return { path: `site-dictionary-${hash.slice(0, 16)}.dict`, bytes: chosen, sha256: hash, madeOf };
}

function digestOf(value: unknown): string {
  return sha256(new TextEncoder().encode(JSON.stringify(value))).slice(0, 32);
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
async function formerIn(folder: Folder, records: Iterable<[string, FileRecord]>): Promise<Former | undefined> {
  for (const [path, { sha256: hash, madeOf }] of records) {
    const bytes = madeOf === undefined ? undefined : await folder.bytesOf(path).catch(() => undefined);
    if (bytes && sha256(bytes) === hash) return { bytes, sha256: hash, madeOf: madeOf! };
  }
  return undefined;
}
