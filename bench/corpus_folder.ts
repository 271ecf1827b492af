import { mkdir, open, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The folder of the benchmarks' files; ignored by git. */
export const corpusFolder: string = join(dirname(fileURLToPath(import.meta.url)), ".corpus");

/**
 * Returns the path of a file in the folder. A missing file is made of the pieces, each written before the next is
 * pulled.
 */
export async function corpusFile(name: string, pieces: Iterable<Uint8Array>): Promise<string> {
  const path = join(corpusFolder, name);
  if (await stat(path).catch(() => undefined)) return path;
  await mkdir(corpusFolder, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const file = await open(unfinished, "w");
  for (const piece of pieces) await file.writeFile(piece);
  await file.close();
  await rename(unfinished, path);
  return path;
}
