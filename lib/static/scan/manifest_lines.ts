import { closeSync } from "node:fs";
import { ManifestLines } from "../../precompress/internal.ts";
import { openToRead, piece, readFully } from "./file_bytes.ts";
import type { Turns } from "./turns.ts";

/** How many bytes are read at once. What is at hand survives the collector: with 256 KB at hand the heap grows by 8 MB. */
const AT_ONCE = 32 * 1024;
/**
 * Reads the file of a manifest line by line, as precompress writes it.
 *
 * @param add Given what the manifest says of each file, by path.
 * @returns false if it has another form, or is no manifest at all; what `add` was given is then worth nothing.
 * @throws if it cannot be read.
 */
export async function readManifestLines(
  path: string,
  add: (path: string, record: unknown) => void,
  turns: Turns,
): Promise<boolean> {
  const file = openToRead(path);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const lines = new ManifestLines(add);
    let length = AT_ONCE;
    while (length === AT_ONCE) {
      length = readFully(file, piece, AT_ONCE);
      const text = decoder.decode(piece.subarray(0, length), { stream: length === AT_ONCE });
      if (!lines.take(text)) return false;
      if (turns.isOver) await turns.next();
    }
    return lines.isComplete;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false; // of JSON, of UTF-8
    throw error;
  } finally {
    closeSync(file);
  }
}
