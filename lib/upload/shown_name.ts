import { basename, isAbsolute, relative, resolve, sep } from "node:path";

/** Most characters of a name in a message. */
const MOST = 120;

/**
 * What a file is called in messages that the sender may see: as it was given, relative to the root; without a root its
 * name alone, since the path is none of the sender's.
 *
 * @param given The path as it was given.
 */
export function shownName(given: string, root: string | undefined): string {
  const name = root === undefined ? basename(given) : isAbsolute(given) ? belowRoot(given, root) : given;
  return JSON.stringify(name.length > MOST ? `${name.slice(0, MOST)}…` : name);
}

function belowRoot(given: string, root: string): string {
  const below = relative(resolve(root), given);
  return below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below) ? given : below;
}
