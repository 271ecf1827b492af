import { realpathSync, statSync } from "node:fs";
import { reasonOf } from "./failure.ts";

/**
 * The real path of the folder to serve, which may be given by a symbolic link.
 *
 * @throws {TypeError} if there is none, or it is a file, or the name is none.
 */
export function treeRoot(directory: string): string {
  if (typeof directory !== "string") throw new TypeError(`cannot serve ${directory}: name the folder by its path`);
  if (directory === "") throw new TypeError('cannot serve "": name the folder, "." if it is the current one');
  let isFolder: boolean;
  try {
    const root = realpathSync(directory);
    isFolder = statSync(root).isDirectory();
    if (isFolder) return root;
  } catch (cause) {
    throw new TypeError(`cannot serve ${directory}: ${whyNot(cause)}`, { cause });
  }
  throw new TypeError(`cannot serve ${directory}: it is a file, not a folder`);
}

function whyNot(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such folder";
  return code === "ENOTDIR" ? "a part of the path is a file, not a folder" : reasonOf(error);
}
