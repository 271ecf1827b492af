import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { manifestName, readManifest } from "../precompress/mod.ts";
import { reasonOf } from "./failure.ts";
import { readManifestLines } from "./manifest_lines.ts";
import { type RecordedFile, recordedFile } from "./recorded_file.ts";
import type { Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";

/** What the manifest of precompress says of the files, as far as it makes sense. */
export class ManifestRecords {
  readonly #records: ReadonlyMap<string, RecordedFile>;
  readonly #mtimeMs: number;
  readonly #ctimeMs: number;

  private constructor(records: ReadonlyMap<string, RecordedFile>, { mtimeMs, ctimeMs }: Stats) {
    this.#records = records;
    this.#mtimeMs = mtimeMs;
    this.#ctimeMs = ctimeMs;
  }

  /** Those of the manifest in `root`; undefined if there is none, or none that can be used, which is warned of. */
  static async in(root: string, warn: Warn, turns: Turns): Promise<ManifestRecords | undefined> {
    const found = lstatSync(join(root, manifestName), { throwIfNoEntry: false });
    if (!found) return undefined;
    try {
      if (!found.isFile()) throw new TypeError("it is not a regular file");
      return new ManifestRecords(await readRecords(root, turns), found);
    } catch (error) {
      warn(manifestName, `it is not used, so that every file is read: ${reasonOf(error)}`);
      return undefined;
    }
  }

  /**
   * Whether a file was as it is when the manifest was put here. A copy keeps the time of its content's last change or
   * has a new one; the time of its own last change of any kind nobody can set. A tick of the clock counts as later. What
   * is younger by either is in doubt, not wrong: in a copied folder that is what was copied after the manifest.
   */
  vouchesFor(found: Stats): boolean {
    return found.isFile() && found.mtimeMs <= this.#mtimeMs && found.ctimeMs < this.#ctimeMs;
  }

  /** The record of the file at `path`. */
  of(path: string): RecordedFile | undefined {
    return this.#records.get(path);
  }
}

async function readRecords(root: string, turns: Turns): Promise<ReadonlyMap<string, RecordedFile>> {
  const records = new Map<string, RecordedFile>();
  const add = (path: string, record: unknown): void => {
    const file = recordedFile(record);
    if (file) records.set(path, file);
    else records.delete(path);
  };
  if (await readManifestLines(join(root, manifestName), add, turns)) return records;
  records.clear();
  const manifest = await readManifest(root);
  for (const [path, record] of Object.entries(manifest?.files ?? {})) add(path, record);
  return records;
}
