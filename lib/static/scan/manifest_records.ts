import { lstatSync } from "node:fs";
import { join } from "node:path";
import { manifestName, readManifest } from "../../precompress/mod.ts";
import type { FileStatus } from "../../runtime/mod.ts";
import { reasonOf } from "./failure.ts";
import type { FoundFiles } from "./found_files.ts";
import { readManifestLines } from "./manifest_lines.ts";
import {
  isOfSiteDictionary,
  recordedContent,
  recordedDictionary,
  recordedImmutable,
  recordedVariant,
} from "./recorded_content.ts";
import type { Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";

/** When the manifest was put where it is: what was there before is what it was made of. */
export class ManifestTime {
  readonly #mtimeMs: number;
  readonly #ctimeMs: number;

  constructor({ mtimeMs, ctimeMs }: Pick<FileStatus, "mtimeMs" | "ctimeMs">) {
    this.#mtimeMs = mtimeMs;
    this.#ctimeMs = ctimeMs;
  }

  /**
   * Whether a file was as it is when the manifest was put there. A copy keeps the time of its content's last change or
   * has a new one; the time of its own last change of any kind nobody can set. A tick of the clock (on Deno, a second)
   * counts as later. What is younger by either is in doubt, not wrong: in a copied folder, what was copied last.
   */
  vouchesFor(file: FileStatus): boolean {
    return file.isFile && file.mtimeMs <= this.#mtimeMs && file.ctimeMs < this.#ctimeMs;
  }
}

/**
 * Sets the contents of `found` to what the manifest in `root` says of them. It is something read from a file: what makes
 * no sense in it is as if it were not there.
 *
 * @returns undefined if there is no manifest, or none that can be used, which is warned of.
 */
export async function takeRecords(
  root: string,
  found: FoundFiles,
  warn: Warn,
  turns: Turns,
): Promise<ManifestTime | undefined> {
  const path = join(root, manifestName);
  const manifest = lstatSync(path, { throwIfNoEntry: false });
  if (!manifest) return undefined;
  try {
    if (!manifest.isFile()) throw new TypeError("it is not a regular file");
    const take = (path: string, record: unknown) => takeRecord(path, record, found);
    if (!await readManifestLines(path, take, turns)) await takeWhole(root, found);
    return new ManifestTime(manifest);
  } catch (error) {
    clear(found);
    warn(manifestName, `it is not used, so that every file is read: ${reasonOf(error)}`);
    return undefined;
  }
}

/** Takes the records of a manifest in any form. */
async function takeWhole(root: string, found: FoundFiles): Promise<void> {
  clear(found); // of what it seemed to say line by line
  const manifest = await readManifest(root);
  for (const [path, record] of Object.entries(manifest?.files ?? {})) takeRecord(path, record, found);
}

function takeRecord(path: string, record: unknown, found: FoundFiles): void {
  const file = found.paths.find(path);
  if (file === undefined) return;
  const { contents, dictionaries } = found;
  const first = found.firstOf(file);
  takeImmutable(file, recordedImmutable(record), found);
  if (isOfSiteDictionary(record)) found.siteDictionary = file;
  const end = found.firstOf(file + 1);
  for (let i = first; i < end; i++) {
    const kind = found.kindOf(i);
    const content = kind ? recordedVariant(record, kind) : recordedContent(record);
    const dictionary = kind?.dictionary && recordedDictionary(record, kind.dictionary);
    contents.clear(i); // a path may be in the manifest twice
    if (!content || (kind && !contents.has(first)) || (kind?.dictionary && dictionary === undefined)) continue;
    contents.set(i, content.size, content.sha256, "hex");
    if (dictionary !== undefined) dictionaries.set(i, dictionary);
  }
}

function takeImmutable(file: number, immutable: boolean | undefined, found: FoundFiles): void {
  if (immutable !== undefined) found.immutable ??= new Set();
  if (immutable) found.immutable!.add(file);
  else found.immutable?.delete(file);
}

function clear(found: FoundFiles): void {
  for (let i = 0; i < found.contents.length; i++) found.contents.clear(i);
  found.dictionaries.clear();
  found.siteDictionary = undefined;
  found.immutable = undefined;
}
