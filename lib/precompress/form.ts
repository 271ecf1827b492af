import { createHash } from "node:crypto";
import { DecompressionStream } from "../codecs/mod.ts";
import { openFileReadable } from "../files/mod.ts";
import { type DeltaFormat, isDelta, type VariantFormat } from "./options.ts";

/**
 * Whether the file at `path` is a compressed form of one with that content. A delta counts as none: to read it takes its
 * dictionary.
 *
 * @param of.size The content's size in bytes: what holds more is not made from it.
 * @param of.sha256 The content's hash, in hexadecimal.
 */
export async function isFormOf(
  path: string,
  format: VariantFormat | DeltaFormat,
  of: { readonly size: number; readonly sha256: string },
): Promise<boolean> {
  if (isDelta(format)) return false;
  try {
    const hash = createHash("sha256");
    const content = (await openFileReadable(path)).pipeThrough(new DecompressionStream(format, { maxSize: of.size }));
    for await (const chunk of content as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest("hex") === of.sha256;
  } catch {
    return false; // unreadable, corrupt, or more than the content
  }
}
