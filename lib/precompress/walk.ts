import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isTemporaryName } from "../files/mod.ts";
import { explain, type Problem } from "./problem.ts";

/** A file of the tree. */
export interface FoundFile {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
}

/** What is below a folder. */
export interface Tree {
  /** Sorted by path. */
  readonly files: FoundFile[];
  /** Temporary files of runs, this one's or another's; paths below the folder. */
  readonly temporaries: string[];
  readonly problems: Problem[];
}

/**
 * Lists the files below `root`, following symbolic links except into a loop. What `skip` says true for is not looked at.
 */
export async function walk(root: string, skip: (path: string) => boolean, signal?: AbortSignal): Promise<Tree> {
  const tree: Tree = { files: [], temporaries: [], problems: [] };
  try {
    await visit("", [await realpath(root)]);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Error(`cannot read ${root}: ${explain(cause)}`, { cause });
  }
  tree.files.sort((a, b) => a.path < b.path ? -1 : 1);
  return tree;

  /** `above` are the real paths of the folders that lead to `folder`, itself included. */
  async function visit(folder: string, above: readonly string[]): Promise<void> {
    signal?.throwIfAborted();
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      if (isTemporaryName(entry.name)) {
        tree.temporaries.push(path);
        continue;
      }
      if (skip(path)) continue;
      try {
        await visitEntry(path, entry.isSymbolicLink(), entry.isDirectory(), above);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        tree.problems.push({ path, message: explain(error) });
      }
    }
  }

  async function visitEntry(path: string, isLink: boolean, isFolder: boolean, above: readonly string[]): Promise<void> {
    const full = join(root, path);
    if (isFolder && !isLink) return visit(path, [...above, join(above.at(-1)!, path.slice(path.lastIndexOf("/") + 1))]);
    const found = await stat(full).catch((error) => {
      if (isLink && error.code === "ENOENT") throw new Error("the symbolic link leads nowhere: remove or exclude it");
      throw error;
    });
    if (found.isDirectory()) {
      const real = await realpath(full);
      if (above.includes(real)) {
        throw new Error("the symbolic link leads to a folder it is in, a loop: remove or exclude it");
      }
      return visit(path, [...above, real]);
    }
    // Sockets, pipes and devices have no content to compress.
    if (found.isFile()) {
      tree.files.push({ path, size: found.size, mtimeMs: found.mtimeMs, mode: found.mode & 0o777 });
    }
  }
}
