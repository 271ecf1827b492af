import { described, requireKnown } from "../streams/internal.ts";

/** The levels that can be set. */
const levels = { brotli: true, zstd: true, gzip: true };

/**
 * Sees that lists are lists and paths are text, which programs without types may get wrong: a text in place of a list of
 * globs would be taken letter by letter, and `*` matches every file.
 *
 * @throws {TypeError} if an option is of another type, or a level of an unknown format.
 */
export function requireTypes(options: Readonly<Record<string, unknown>>): void {
  const { formats } = options;
  if (formats !== undefined && !Array.isArray(formats)) {
    throw new TypeError(`formats is no list but ${described(formats)}: use one such as ["brotli", "gzip"]`);
  }
  if (options.levels !== undefined) requireKnown(options.levels as object, levels, "levels");
  for (const name of ["include", "exclude"]) {
    const globs = options[name];
    if (globs === undefined || Array.isArray(globs) && globs.every((glob) => typeof glob === "string")) continue;
    throw new TypeError(`${name} is no list of globs but ${described(globs)}: use one such as ["**/*.js"]`);
  }
  for (const name of ["out", "previous", "cache"]) {
    const path = options[name];
    if (path === undefined || typeof path === "string") continue;
    throw new TypeError(`${name} is no path but ${described(path)}: name a folder`);
  }
}
