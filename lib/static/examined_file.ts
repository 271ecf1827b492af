import { lstatSync } from "node:fs";
import { examineVariant } from "./examined_variant.ts";
import { reasonOf } from "./failure.ts";
import { readContent } from "./file_content.ts";
import type { ListedFolder } from "./listed_folder.ts";
import type { ManifestRecords } from "./manifest_records.ts";
import type { RecordedFile } from "./recorded_file.ts";
import type { Representation, TreeFile, Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";
import { variantKinds } from "./variant_kinds.ts";

/** What the steps of one scan share. */
export interface Scan {
  readonly manifest: ManifestRecords | undefined;
  readonly warn: Warn;
  readonly turns: Turns;
}

/** A file, and what the manifest says of it. */
export interface Original {
  /** Below the folder. */
  readonly path: string;
  readonly mtimeMs: number;
  readonly identity: Representation;
  /** The record of this very content. */
  readonly record: RecordedFile | undefined;
  /** The record of another content, which the file had. */
  readonly outdated: RecordedFile | undefined;
}

const NONE: readonly Representation[] = [];

/** Finds out what there is to send for the file called `name`; undefined if it cannot be read, which is warned of. */
export async function examine(name: string, folder: ListedFolder, scan: Scan): Promise<TreeFile | undefined> {
  const path = folder.path + name;
  let original: Original;
  try {
    original = await examineOriginal(path, folder.files.get(name)!, scan);
  } catch (error) {
    scan.warn(path, `it is left out: ${reasonOf(error)}`);
    return undefined;
  }
  let variants = NONE;
  let deltas = NONE;
  for (const kind of variantKinds) {
    const file = folder.files.get(name + kind.extension);
    const variant = file === undefined ? undefined : await examineVariant(file, kind, original, scan);
    if (!variant) continue;
    if (kind.isDelta) deltas = [...deltas, variant];
    else variants = [...variants, variant];
  }
  return { path, mtimeMs: original.mtimeMs, identity: original.identity, variants, deltas };
}

async function examineOriginal(path: string, file: string, { manifest, warn, turns }: Scan): Promise<Original> {
  const record = manifest?.of(path);
  if (record) {
    const found = lstatSync(file);
    if (found.size === record.size && manifest!.vouchesFor(found)) {
      return originalOf(path, file, found.mtimeMs, record, record);
    }
  }
  const content = await readContent(file, turns);
  if (!record || record.sha256 === content.sha256) return originalOf(path, file, content.mtimeMs, content, record);
  warn(path, "its content is another than precompress found: what was made of that is left out; run precompress again");
  return originalOf(path, file, content.mtimeMs, content, undefined, record);
}

function originalOf(
  path: string,
  file: string,
  mtimeMs: number,
  { size, sha256 }: { readonly size: number; readonly sha256: string },
  record: RecordedFile | undefined,
  outdated?: RecordedFile,
): Original {
  const identity: Representation = { file, coding: "identity", size, sha256, mtimeMs, dictionary: undefined };
  return { path, mtimeMs, identity, record, outdated };
}
