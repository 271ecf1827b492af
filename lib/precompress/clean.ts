import { lastingPath, realPathOf, removeTemporary, Turn } from "../files/internal.ts";
import { bool, schema, type SchemaOf } from "../streams/internal.ts";
import { isAbandonedTemporary } from "../files/mod.ts";
import { Folder } from "./folder.ts";
import { FormerRuns } from "./former_runs.ts";
import { afterOthers } from "./journal.ts";
import { manifestName } from "./manifest.ts";
import { explain, type Problem } from "./problem.ts";
import { Target } from "./target.ts";
import { walk } from "./walk.ts";

/**
 * Options of {@linkcode cleanPrecompressed}.
 *
 * @example After a run that followed links out of the folder
 * ```ts
 * import { type CleanOptions, cleanPrecompressed, precompress } from "@millrace/streams/precompress";
 *
 * const options: CleanOptions = { followLinks: true };
 * await precompress("dist", { ...options, formats: ["gzip"] });
 * console.log((await cleanPrecompressed("dist", options)).problems.length); // 0
 * ```
 */
export interface CleanOptions {
  /**
   * Whether files outside the folder that links lead to are removed, too.
   *
   * @default false
   */
  followLinks?: boolean;
}

export const cleanOptions: SchemaOf<CleanOptions, "followLinks"> = /* @__PURE__ */ schema(
  "cleanPrecompressed()",
  () => ({ followLinks: bool(false) }),
);

/**
 * The outcome of {@linkcode cleanPrecompressed}.
 *
 * @example Count what was removed
 * ```ts
 * import { type CleanReport, cleanPrecompressed, precompress } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"] });
 * const { removed, problems }: CleanReport = await cleanPrecompressed("dist");
 * console.log(removed.length > 1, problems.length); // true 0
 * ```
 */
export interface CleanReport {
  /** The removed files, as paths below the folder. */
  readonly removed: readonly string[];
  /** The files that were not removed: their bytes were not written by a run, or the file system refused. */
  readonly problems: readonly Problem[];
}

/**
 * Removes what {@linkcode precompress} wrote below a folder, and nothing else: the variants and copies that its manifest
 * records, if their bytes are those that it wrote, the manifest, and temporary files of killed runs.
 *
 * @param directory The folder that the variants are in.
 * @returns The files that were removed, and those that were not, with the reason.
 * @throws {Error} if the folder cannot be read, or another run is in progress.
 * @throws {TypeError} if its manifest is malformed, or an option is invalid.
 * @example As if nothing had run
 * ```ts
 * import { cleanPrecompressed, precompress } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"], include: ["index.html"] });
 * const { removed } = await cleanPrecompressed("dist");
 * console.log(removed.join(" ")); // .millrace.json index.html.gz
 * ```
 */
export async function cleanPrecompressed(directory: string, options: CleanOptions = {}): Promise<CleanReport> {
  const { followLinks } = cleanOptions(options);
  const path = lastingPath(directory);
  const { temporaries } = await walk(new Folder(path), { dotfiles: true, followLinks, once: true });
  const folder = new Folder(await realPathOf(path));
  const turn = await Turn.take(folder.path); // waits for other runs of this process
  try {
    return await afterOthers(() => clean(folder, temporaries, followLinks));
  } finally {
    turn!.end();
  }
}

async function clean(folder: Folder, temporaries: readonly string[], followLinks: boolean): Promise<CleanReport> {
  for (const path of temporaries) {
    if (await isAbandonedTemporary(folder.at(path))) await removeTemporary(folder.at(path));
  }
  const former = await FormerRuns.recorded(folder, { followLinks });
  if (!former.manifest && !former.journal) return { removed: [], problems: [] };
  const removed: string[] = [];
  const problems: Problem[] = [];
  const target = new Target(former);
  let isClean = true;
  await target.begin({ toRemove: true });
  for (const path of [...former.paths].sort()) {
    try {
      if (await target.remove(path)) removed.push(path);
    } catch (error) {
      problems.push({ path, message: explain(error) });
      // A file that the system refuses to remove can be removed later: it stays in the manifest.
      if ((error as { code?: unknown }).code !== undefined) isClean = false;
    }
  }
  if (isClean && await target.forget()) removed.push(manifestName);
  else await target.end(former.records, 0);
  return { removed: removed.sort(), problems };
}
