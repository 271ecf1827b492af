import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import type { decompressSync } from "../../codecs/mod.ts";
import { ContentDecoder, type StoredCoding, storedCodings, type UndoableCoding } from "../../semantics/mod.ts";
import { openToRead, PIECE, readFully, sha256 } from "./file_bytes.ts";
import { readVerified } from "./read_verified.ts";
import type { Representation } from "./representation.ts";
import type { Turns } from "./turns.ts";

/** The codecs, loaded when the first variant is to be proven: most trees have a manifest. */
export interface Codecs {
  readonly decompressSync: typeof decompressSync;
}

/** Loads the codecs. */
export async function loadCodecs(): Promise<Codecs> {
  const { decompressSync, ready } = await import("../../codecs/mod.ts");
  await ready(["brotli", "zstd", "gzip"], "decompress");
  return { decompressSync };
}

/**
 * Whether a small variant decodes to the content of `original`.
 *
 * @param dictionary The content that it is a delta of, if it is one.
 */
export function isProvenAtOnce(
  variant: Representation & { readonly coding: StoredCoding },
  original: Representation,
  dictionary: Uint8Array<ArrayBuffer> | undefined,
  { decompressSync }: Codecs,
): boolean {
  const bytes = readVerified(variant);
  if (bytes === undefined) return false;
  const options = {
    format: storedCodings[variant.coding].format,
    maxSize: original.size,
    ...(dictionary && { dictionary }),
  };
  try {
    return sha256(decompressSync(bytes, options)) === original.sha256;
  } catch {
    return false; // corrupt, or of more bytes
  }
}

/** Whether a variant decodes to the content of `original`; read and decoded in pieces, in constant memory. */
export async function isProvenInTurns(
  variant: Representation & { readonly coding: UndoableCoding },
  original: Representation,
  turns: Turns,
): Promise<boolean> {
  const hash = createHash("sha256");
  const [input, output] = [new Uint8Array(PIECE), new Uint8Array(PIECE)];
  const decoder = await ContentDecoder.open(variant.coding, undefined);
  let file: number | undefined;
  let size = 0;
  try {
    file = openToRead(variant.file);
    while (true) {
      const length = readFully(file, input, PIECE);
      decoder.write(input.subarray(0, length));
      if (length < PIECE) decoder.end();
      do {
        const made = decoder.read(output);
        hash.update(output.subarray(0, made));
        size += made;
        if (size > original.size) return false;
        if (turns.isOver) await turns.next();
      } while (!decoder.needsInput && !decoder.isDone);
      if (decoder.isDone) break;
    }
    return decoder.trailing === undefined && hash.digest("base64") === original.sha256;
  } catch {
    return false; // corrupt, or gone
  } finally {
    decoder.close();
    if (file !== undefined) closeSync(file);
  }
}
