import { described } from "./described.ts";

/**
 * Sees that every option that is given is one: a limit that is misspelt would be no limit.
 *
 * @param options What the caller gave.
 * @param known The names that there are, as keys, with whether messages tell them.
 * @param owner What they are options of, for messages.
 * @throws {TypeError} if `options` is no object, or has another name.
 */
export function requireKnown(options: object, known: Readonly<Record<string, boolean>>, owner: string): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`the options of ${owner} must be an object, not ${described(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const told = Object.keys(known).filter((name) => known[name]);
  throw new TypeError(`${unknown} is no option of ${owner}: use ${told.join(", ")}`);
}
