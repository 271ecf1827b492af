import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { DecompressionStream } from "../codecs/mod.ts";
import { openFileReadable } from "../files/mod.ts";
import type { DeltaFormat, VariantFormat } from "./options.ts";

/** How a delta begins (RFC 9842, sections 4 and 5). */
const magic: Readonly<Record<DeltaFormat, readonly number[]>> = {
  dcb: [0xff, 0x44, 0x43, 0x42],
  dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00],
};

/**
 * Whether somebody's data is at `path`, where a variant of a file belongs and no run recorded one. A compressed form of
 * that file, made by another tool, may be replaced; so may a delta, which serves nobody but servers.
 *
 * @param of.size The file's size in bytes: what holds more is not made from it.
 * @param of.sha256 The file's hash.
 */
export async function isForeign(
  path: string,
  format: VariantFormat | DeltaFormat,
  of: { readonly size: number; readonly sha256: string },
): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return false; // a folder there makes itself known when the variant is written
  try {
    if (format === "dcb" || format === "dcz") return !await beginsWith(path, magic[format]);
    const hash = createHash("sha256");
    const content = (await openFileReadable(path)).pipeThrough(new DecompressionStream(format, { maxSize: of.size }));
    for await (const chunk of content as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest("hex") !== of.sha256;
  } catch {
    return true; // unreadable, corrupt, or more than the file holds
  }
}

async function beginsWith(path: string, beginning: readonly number[]): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(new Uint8Array(beginning.length), 0, beginning.length);
    return beginning.every((byte, i) => buffer[i] === byte);
  } finally {
    await file.close();
  }
}
