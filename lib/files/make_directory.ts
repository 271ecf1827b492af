import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileFailure } from "./failure.ts";

/**
 * Makes a directory and those above it, unless they are there. What fails is told of the one that fails: Node's own
 * way says of a read-only file system that a directory is missing.
 */
export async function makeDirectory(path: string): Promise<void> {
  if (await isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) await makeDirectory(above);
  try {
    await mkdir(path);
  } catch (error) {
    if (await isDirectory(path)) return; // another process was faster
    throw fileFailure("make the directory", path, error);
  }
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then((stats) => stats.isDirectory(), () => false);
}
