import { createHash } from "node:crypto";
import { DecompressionStream } from "../codecs/mod.ts";
import { openFileReadable } from "../files/mod.ts";
import { type SkipReason, whyLeftAlone } from "./content.ts";
import type { Context } from "./context.ts";
import type { Content, HashedFile } from "./folder.ts";
import { codecOf, type DeltaFormat, type VariantFormat } from "./formats.ts";
import { CHANGED, unreadableDictionary } from "./problem.ts";
import { type PreviousVersion, previousVersions } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";
import type { Found } from "./walk_site.ts";

/** A file of the source, as it was read. */
export interface Original {
  readonly file: FoundFile;
  readonly content: Content;
  /** The reason why it gets no variants, if any. */
  readonly leftAlone: SkipReason | undefined;
  /** The previous versions with other content, latest first. */
  readonly dictionaries: readonly PreviousVersion[];
}

/**
 * Yields the files of the source as they are read, the largest first, so that no long job is left at the end; then, in
 * a run that copies, those beside other files. A file that cannot be read, or has changed since it was found, is
 * reported.
 */
export async function* readOriginals(found: Found, context: Context): AsyncGenerator<Original> {
  const { former, ledger, places: { source }, previous, selection, settings } = context;
  const files = found.files.toSorted((a, b) => b.size - a.size);
  for (const file of [...files, ...(former.isCopy ? found.beside.values() : [])]) {
    settings.signal?.throwIfAborted();
    const content = await source.contentOf(file.path).catch((error: Error) => error);
    if (content instanceof Error || content.size !== file.size) {
      // A copy and its variants must match; a variant beside its file may be of the file's former content.
      if (former.isCopy) found.unreadable.add(file.path);
      ledger.fail(file.path, content instanceof Error ? content : new Error(CHANGED));
      continue;
    }
    const leftAlone = found.beside.has(file.path) ? "beside" : whyLeftAlone(file, content, selection, settings);
    const dictionaries = leftAlone ? [] : await previousVersions(file, content.sha256, previous, (version, cause) => {
      ledger.fail(file.path, unreadableDictionary(version, cause), { file });
    });
    yield { file, content, leftAlone, dictionaries };
  }
}

/** Whether a file is a compressed form of some content; for a delta, against the given dictionary. */
export async function isFormOf(
  { size, sha256 }: Pick<Content, "size" | "sha256">,
  { folder, path }: Pick<HashedFile, "folder" | "path">,
  format: VariantFormat | DeltaFormat,
  against: HashedFile | undefined,
): Promise<boolean> {
  try {
    const dictionary = await against?.folder.bytesOf(against.path);
    const options = { maxSize: size, ...(dictionary && { dictionary }) };
    const hash = createHash("sha256");
    const decoder = new DecompressionStream(codecOf(format), options);
    const decoded = (await openFileReadable(folder.at(path))).pipeThrough(decoder);
    for await (const chunk of decoded as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest("hex") === sha256;
  } catch {
    return false; // unreadable, corrupt, or longer than the content
  }
}
