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
