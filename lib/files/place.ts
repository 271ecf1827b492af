import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, sep } from "node:path";

/** The place where a file is to get its name, and its present holder. */
export interface Place {
  readonly path: string;
  /** undefined if nothing has the name. */
  readonly status: Stats | undefined;
}

/**
 * Returns the place of the file that a write to `path` reaches: links are followed, also to a file that does not exist.
 * It looks synchronously: that takes some µs, and while bytes come in a turn of the event loop would let more arrive.
 *
 * @throws {Error} what the file system says, with its `code`.
 */
export function followedPlace(path: string): Place {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isSymbolicLink()) return { path, status };
  const target = statSync(path, { throwIfNoEntry: false });
  if (target === undefined) return followedPlace(linkTarget(path));
  // The words of links in /dev and /proc that lead to a pipe or a device are no path.
  return { path: target.isFile() ? realpathSync.native(path) : path, status: target };
}

/** The path that a link holds, from its folder on: the system takes `..` to be above what a link to a folder leads to. */
function linkTarget(path: string): string {
  const target = readlinkSync(path);
  return isAbsolute(target) ? target : `${dirname(path)}${sep}${target}`;
}

/** As {@linkcode followedPlace}, but a link is itself what has the name. */
export function placeItself(path: string): Place {
  return { path, status: lstatSync(path, { throwIfNoEntry: false }) };
}

/**
 * Sees that a file can take a place: by getting the name of a device or a pipe it would put an end to it.
 *
 * @throws {Error} with the code `EISDIR` or `EINVAL`.
 */
export function requireReplaceable({ status }: Place): void {
  if (status === undefined || status.isFile() || status.isSymbolicLink()) return;
  const [code, words] = status.isDirectory()
    ? ["EISDIR", "it is a directory"]
    : ["EINVAL", "it is a device, a pipe or a socket, and no file may take its place"];
  throw Object.assign(new Error(words), { code });
}
