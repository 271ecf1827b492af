import { rm } from "node:fs/promises";
import { join } from "node:path";
import { manifestName, readManifest } from "./manifest.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import { explain } from "./problem.ts";
import { removeTemporaries } from "./upkeep.ts";
import { walk } from "./walk.ts";

/**
 * Removes what {@linkcode precompress} wrote below a folder, and nothing else: the variants and copies that its manifest
 * records, the manifest, and temporary files of killed runs.
 *
 * @param directory The folder that the variants are in.
 * @returns The paths of what was removed, below the folder.
 * @throws {Error} if the folder cannot be read, or files not be removed: it names each, and all others are.
 * @example As if nothing had run
 * ```ts
 * import { cleanPrecompressed, precompress } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"], include: ["index.html"] });
 * const removed = await cleanPrecompressed("dist");
 * console.log(removed.join(" ")); // .millrace.json index.html.gz
 * ```
 */
export async function cleanPrecompressed(directory: string): Promise<string[]> {
  const { temporaries } = await walk(directory, () => false);
  await removeTemporaries(directory, temporaries);
  const manifest = await readManifest(directory);
  if (!manifest) return [];
  const removed: string[] = [];
  for (const [path, { variants }] of Object.entries(manifest.files)) {
    for (const [format, { state }] of Object.entries(variants)) {
      if (state !== "unworthy") removed.push(path + extensions[format as VariantFormat | DeltaFormat]);
    }
    if (manifest.copied) removed.push(path);
  }
  const problems: string[] = [];
  for (const path of removed) await removeFile(path);
  // The manifest knows of what is left.
  if (problems.length > 0) throw new Error(`cannot remove ${problems.join("; ")}`);
  await rm(join(directory, manifestName), { force: true });
  return [...removed, manifestName].sort();

  async function removeFile(path: string): Promise<void> {
    await rm(join(directory, path), { force: true }).catch((error) => problems.push(`${path}: ${explain(error)}`));
  }
}
