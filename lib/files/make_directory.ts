import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileFailure } from "./failure.ts";

/**
 * Makes a directory, and those above it as far as they are missing; looks at none above one that can be made, which the
 * process may not be permitted to. A failure names the directory that could not be made: Node's own way says of a
 * read-only file system that a directory is missing, and never ends below /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  if (await isDirectory(path)) return;
  let failure = await tryToMake(path);
  const above = dirname(path);
  if (isOfFolderAbove(failure) && above !== path) {
    await makeDirectory(above);
    failure = await tryToMake(path);
  }
  if (failure === undefined || await isDirectory(path)) return; // another process was faster
  throw fileFailure("make the directory", path, failure);
}

/** Makes a directory as {@linkcode makeDirectory} does, at once. */
export function makeDirectorySync(path: string): void {
  if (isDirectorySync(path)) return;
  let failure = tryToMakeSync(path);
  const above = dirname(path);
  if (isOfFolderAbove(failure) && above !== path) {
    makeDirectorySync(above);
    failure = tryToMakeSync(path);
  }
  if (failure === undefined || isDirectorySync(path)) return;
  throw fileFailure("make the directory", path, failure);
}

function tryToMake(path: string): Promise<unknown> {
  return mkdir(path).then(() => undefined, (error) => error);
}

function tryToMakeSync(path: string): unknown {
  try {
    mkdirSync(path);
    return undefined;
  } catch (error) {
    return error;
  }
}

function isOfFolderAbove(failure: unknown): boolean {
  const { code } = (failure ?? {}) as { code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then((stats) => stats.isDirectory(), () => false);
}

function isDirectorySync(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
