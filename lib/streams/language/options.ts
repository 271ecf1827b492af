const LONGEST = 40;

/** A value in a few words for an error's message: `"12"`, `an Array`, `NaN`. */
export function described(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "function":
      return "a function";
    case "object":
      return value === null ? "null" : anObject(value);
    case "bigint":
      return `the bigint ${shortened(String(value))}`;
    default:
      return String(value);
  }
}

/** A text in quotes, on one line, and cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function anObject(value: object): string {
  const name: unknown = value.constructor?.name;
  if (typeof name !== "string" || name === "") return "an object";
  return `${/^[AEIOU](?!int)/.test(name) ? "an" : "a"} ${name}`;
}

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
