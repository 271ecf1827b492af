import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { holds, isOneFolder, lastingPath, realPath, realPathOf } from "../files/internal.ts";
import { isBucketAddress } from "./cache/cache_store.ts";
import { Folder } from "./folder.ts";
import { manifestName } from "./manifest.ts";
import type { PrecompressOptions } from "./options.ts";
import { explain } from "./problem.ts";

/** The folders of a run. */
export interface Places {
  readonly source: Folder;
  /** The folder that the variants are written to: `source`, or that of `out`. */
  readonly target: Folder;
  /** The folders of previous deploys, for deltas, latest first. */
  readonly previous: readonly Folder[];
  /** The real path of the cache's folder, or the address of its bucket. */
  readonly cache: string | undefined;
}

export async function placesOf(directory: string, options: PrecompressOptions): Promise<Places> {
  const source = await existing(directory);
  const target = options.out === undefined ? source : realOf(options.out);
  if (options.out !== undefined && isEither(source, target)) {
    throw new TypeError(`${options.out} and ${directory} must not hold each other: choose a folder elsewhere for out`);
  }
  const named = await Promise.all([options.previous ?? []].flat().map((each) => existing(each)));
  const { retain } = options;
  const previous = retain === undefined ? named : await latestIn(named[0]!, retain, [source, target]);
  if (previous.some((each) => isOneFolder(each, target))) {
    throw new TypeError(`previous is the folder that is written to, ${target}: name a copy of the previous deploy`);
  }
  const isFolder = options.cache !== undefined && !isBucketAddress(options.cache);
  const cache = isFolder ? realOf(options.cache!) : options.cache; // which may not exist
  const other = isFolder && [source, target].find((other) => isEither(cache!, other));
  if (other) {
    const hint = "choose a folder elsewhere for the cache";
    throw new TypeError(`the cache ${options.cache} and ${other} must not hold each other: ${hint}`);
  }
  const folder = new Folder(source);
  return {
    source: folder,
    target: target === source ? folder : new Folder(target),
    previous: previous.map((each) => new Folder(each)),
    cache,
  };
}

/** Returns the latest deploys in a folder, latest first, without those that contain one of `others`. */
async function latestIn(root: string, count: number, others: readonly string[]): Promise<string[]> {
  const names = await readdir(root);
  const sign = ["index.html", manifestName].find((name) => names.includes(name));
  if (sign) throw new TypeError(`retain is for a folder of deploys, and ${root} is one: it holds ${sign}`);
  const times = new Map<string, number>();
  for (const name of names) {
    const status = name.startsWith(".") ? undefined : await stat(join(root, name)).catch(() => undefined);
    if (status?.isDirectory()) times.set(await realPathOf(join(root, name)), status.mtimeMs);
  }
  const byName = (a: string, b: string): number => b.localeCompare(a, "en", { numeric: true });
  const own = [...times].filter(([path]) => !others.some((other) => holds(path, other)));
  return own.sort(([a, at], [b, then]) => then - at || byName(a, b)).map(([path]) => path).slice(0, count);
}

/** Returns the real path of a folder that must exist. */
async function existing(path: string): Promise<string> {
  if (typeof path !== "string") throw new TypeError(`cannot read ${path}: name the folder by its path`);
  if (path === "") throw new TypeError('cannot read "": name the folder, "." if it is the current one');
  try {
    if ((await stat(path)).isDirectory()) return await realPathOf(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new TypeError(`cannot read ${path}: ${missing ? "there is no such folder" : explain(cause)}`, { cause });
  }
  throw new TypeError(`cannot read ${path}: it is a file, not a folder`);
}

/** Returns the real path of a folder whose last parts may not exist; `path` may be relative to `from`. */
export function realOf(path: string, from?: string): string {
  const full = resolve(lastingPath(path, from));
  try {
    return realPath(full);
  } catch {
    const parent = dirname(full);
    return parent === full ? full : join(realOf(parent), basename(full));
  }
}

/** Whether two folders are equal, or one contains the other. */
function isEither(one: string, other: string): boolean {
  return holds(one, other) || holds(other, one);
}
