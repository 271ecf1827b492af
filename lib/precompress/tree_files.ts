import { likelyHash } from "../names/mod.ts";
import { LARGE_FILE } from "./content.ts";
import type { Content, Folder, HashedFile } from "./folder.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import type { FormerRuns } from "./former_runs.ts";
import type { DictionaryRecord } from "./records.ts";
import { type FoundFile, walk, type WalkOptions } from "./walk.ts";

/** The minimum bytes of a dictionary: a smaller one saves less than its header and its request cost. */
const MIN_DICTIONARY = 1024;

/** Returns `path` with `*` instead of the hash in its name; the path itself if it has none. */
export function withoutHash(path: string): string {
  // An ordinary word that is mistaken for a hash does no harm: a former file of the same path is preferred.
  const part = likelyHash(path);
  return part ? `${path.slice(0, part.start)}*${path.slice(part.end)}` : path;
}

/** A file of a previous deploy, by its path below the deploy's folder. */
type PreviousFile = Pick<FoundFile, "path" | "size">;

/** Finds the previous versions of files in the folder of a previous deploy. */
export class PreviousFiles {
  readonly folder: Folder;
  readonly #exact: ReadonlyMap<string, PreviousFile>;
  readonly #byPattern: ReadonlyMap<string, readonly PreviousFile[]>;

  private constructor(folder: Folder, files: readonly PreviousFile[]) {
    this.folder = folder;
    this.#exact = new Map(files.map((file) => [file.path, file]));
    const hashed = files.filter(({ path }) => withoutHash(path) !== path);
    this.#byPattern = Map.groupBy(hashed, ({ path }) => withoutHash(path));
  }

  static async in(
    folder: Folder,
    options: Pick<WalkOptions, "dotfiles" | "followLinks" | "signal">,
  ): Promise<PreviousFiles> {
    const { files } = await walk(folder, { ...options, once: false });
    return new PreviousFiles(folder, files.filter(({ size }) => size >= MIN_DICTIONARY));
  }

  /** Returns the previous version of the file at `path`, of `size` bytes: of several, the one nearest in size. */
  of(path: string, size: number): PreviousFile | undefined {
    const candidates = this.#byPattern.get(withoutHash(path)) ?? [];
    const nearest = candidates.toSorted((a, b) => Math.abs(a.size - size) - Math.abs(b.size - size))[0];
    return this.#exact.get(path) ?? nearest;
  }
}

/** A previous version of a file, against which its delta is made. */
export interface PreviousVersion extends DictionaryRecord, HashedFile {}

/**
 * Finds the previous versions of a file with other content: clients with the same content request no delta. Calls
 * `fail` with the path of one that cannot be read.
 */
export async function previousVersions(
  file: FoundFile,
  hash: string,
  deploys: readonly PreviousFiles[],
  fail: (path: string, cause: unknown) => void,
): Promise<PreviousVersion[]> {
  const versions: PreviousVersion[] = [];
  // Making a delta needs both versions in memory.
  if (file.size > LARGE_FILE) return versions;
  const match = withoutHash(file.path);
  const seen = new Set([hash]);
  for (const deploy of deploys) {
    const version = deploy.of(file.path, file.size);
    if (!version || version.size > LARGE_FILE) continue;
    const { folder } = deploy;
    const { sha256 = hash } = await folder.contentOf(version.path).catch((cause): Partial<Content> => {
      fail(folder.at(version.path), cause);
      return {};
    });
    if (!seen.has(sha256)) versions.push({ folder, path: version.path, sha256, match });
    seen.add(sha256);
  }
  return versions;
}

export interface TreeFiles {
  readonly files: readonly FoundFile[];
  readonly paths: ReadonlySet<string>;
  /** The paths of the folders with files. */
  readonly folders: ReadonlySet<string>;
  /** Files at the paths of variants of `files` that no run wrote, by path. */
  readonly beside: ReadonlyMap<string, FoundFile>;
}

const suffixes = Object.values(extensions);

/** Returns the files that are not at the path of another one's variant. */
export function originalsIn<File extends Pick<FoundFile, "path">>(files: readonly File[]): File[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.filter(({ path }) => {
    return !suffixes.some((suffix) => path.endsWith(suffix) && paths.has(path.slice(0, -suffix.length)));
  });
}

/** Sorts the files found in `origin`, without those that runs wrote there. */
export async function treeFilesOf(found: readonly FoundFile[], origin: FormerRuns): Promise<TreeFiles> {
  const own: FoundFile[] = [];
  for (const file of found) {
    const occupant = await origin.knows(file.path) ? await origin.look(file.path) : undefined;
    if (occupant?.kind !== "file" || !occupant.isOurs) own.push(file);
  }
  const files = originalsIn(own);
  const paths = new Set(files.map(({ path }) => path));
  const beside = new Map(own.filter(({ path }) => !paths.has(path)).map((file) => [file.path, file]));
  const folders = new Set<string>();
  for (const { path } of own) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break; // its ancestors are in the set, too
      folders.add(folder);
    }
  }
  return { files, paths, folders, beside };
}

export function variantPath(path: string, format: VariantFormat | DeltaFormat): string {
  return path + extensions[format];
}
