/** The length of a hash where a pattern does not say. */
const DEFAULT_LENGTH = 8;

/**
 * Whether a build tool put a hash into a file's name, by its pattern for such names.
 *
 * @param path The file's path below the output folder.
 * @param pattern The pattern, such as `assets/[name]-[hash][extname]`.
 * @param character A character of a hash, as a regular expression.
 */
export function hasHash(path: string, pattern: string, character: string): boolean {
  if (!/\[hash(?::\d+)?\]/.test(pattern)) return false;
  const source = pattern.replace(/^(?:\.?\/)+/, "").split(/(\[\w+(?::\d+)?\])/).map((part) => {
    const [, name, length] = /^\[(\w+)(?::(\d+))?\]$/.exec(part) ?? [];
    if (name === "hash") return `${character}{${length ?? DEFAULT_LENGTH}}`;
    return name === undefined ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : ".*";
  });
  return new RegExp(`^${source.join("")}$`, "s").test(path.replaceAll("\\", "/"));
}
