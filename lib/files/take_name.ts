import * as fs from "node:fs";
import { link, lstat, rename, unlink } from "node:fs/promises";

/** The calls of the system that names take. */
interface Calls {
  link(from: string, to: string): Promise<void> | void;
  rename(from: string, to: string): Promise<void> | void;
  unlink(path: string): Promise<void> | void;
}

const later: Calls = { link, rename, unlink };
const now: Calls = { link: fs.linkSync, rename: fs.renameSync, unlink: fs.unlinkSync };

/**
 * Gives the file `from` the name `to`, in the same folder.
 *
 * @param options.replace Whether a file that has the name is replaced. If not, and the file system has no links, one
 * that appears at the very moment is replaced all the same.
 * @param options.atOnce Whether calls are made synchronously.
 * @throws {Error} what the file system says, with its `code`: `EEXIST` of a name that is taken.
 */
export async function takeName(
  from: string,
  to: string,
  { replace, atOnce }: { replace: boolean; atOnce: boolean },
): Promise<void> {
  const calls = atOnce ? now : later;
  if (replace) return await calls.rename(from, to);
  try {
    await calls.link(from, to); // never replaces anything
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") throw error;
    if (await lstat(to).then(() => true, () => false)) {
      throw Object.assign(new Error(`EEXIST: file already exists, link '${from}' -> '${to}'`), { code: "EEXIST" });
    }
    return await calls.rename(from, to);
  }
  try {
    await calls.unlink(from);
  } catch {
    // The file has its name.
  }
}

/**
 * As {@linkcode takeName}, at once, and nothing is replaced.
 *
 * @throws {Error} what the file system says, with its `code`: `EEXIST` of a name that is taken.
 */
export function takeNameNow(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    const isTaken = fs.lstatSync(to, { throwIfNoEntry: false }) !== undefined;
    if (isTaken) throw Object.assign(new Error(`EEXIST: '${to}'`), { code: "EEXIST" });
    if ((error as { code?: unknown }).code === "ENOENT") throw error;
    return fs.renameSync(from, to); // a file system without links
  }
  try {
    fs.unlinkSync(from);
  } catch {
    // The file has its name.
  }
}
