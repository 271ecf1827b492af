import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AtomicFile } from "../files/mod.ts";
import { parseManifest } from "./manifest_format.ts";
import { manifestName } from "./own_names.ts";
import type { Manifest } from "./records.ts";

/**
 * The manifest in `folder`, if there is one.
 *
 * @param folder The folder that the variants are in.
 * @returns What it says; undefined if there is none.
 * @throws {TypeError} if there is one that cannot be read.
 * @example See whether a folder was precompressed
 * ```ts
 * import { precompress, readManifest } from "@millrace/streams/precompress";
 *
 * console.log(await readManifest("dist")); // undefined
 * await precompress("dist", { formats: ["gzip"] });
 * console.log("index.html" in (await readManifest("dist"))!.files); // true
 * ```
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readManifestText(folder);
  return text === undefined ? undefined : parseManifest(text, join(folder, manifestName));
}

/** The manifest in `folder` as it is written; undefined if there is none. */
export async function readManifestText(folder: string): Promise<string | undefined> {
  try {
    const path = join(folder, manifestName);
    if (!(await stat(path)).isFile()) throw new TypeError(`${path} is not a manifest: remove it and run again`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Writes the text of a manifest. */
export async function writeManifest(folder: string, text: string): Promise<void> {
  const file = await AtomicFile.open(join(folder, manifestName), { followLinks: false });
  try {
    await file.write(new TextEncoder().encode(text));
    await file.commit();
  } finally {
    await file.discard();
  }
}
