const MAX_DESCRIBED_LENGTH = 40;

/** Describes a value in a few words for an error's message: `"12"`, `an Array`, `NaN`. */
export function described(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `the bigint ${shortened(String(value))}`;
  if (Object(value) !== value) return String(value);
  const given: unknown = typeof value === "object" && value?.constructor?.name;
  const name = typeof given === "string" && given || typeof value;
  return `${/^[aeiou](?!int)/i.test(name) ? "an" : "a"} ${name}`;
}

/** Returns a text in quotes, on one line, and cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIBED_LENGTH ? `${text.slice(0, MAX_DESCRIBED_LENGTH)}…` : text;
}

/** Returns an unknown name with a hint, for a message: the nearest known name, or all of them. */
export function hinted(path: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `${quoted(path + name)}: ${near === undefined ? `use ${known.join(", ")}` : `did you mean "${near}"?`}`;
}

/** Returns the known name nearest to a misspelt one, with at most one wrong letter in three; undefined without one. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => editDistance(word.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  const closest = known[distances.indexOf(least)];
  // A suggestion with more wrong letters would confuse users.
  if (closest === undefined || least > Math.floor(Math.max(word.length, closest.length) / 3)) return undefined;
  return closest;
}

/** The members of a sink of batches that may be missing. */
const MEMBERS = ["maxBatch", "maxDelay", "minBatch", "onFailed", "retry"];

/**
 * Refuses a plain object that has a member of nearly the name of one of a sink of batches, which `sink` lacks. Members of
 * other names may be its own, as fields of a class are.
 */
export function refuseMisspelt(what: string, value: unknown, sink: object = {}): void {
  if (Object.getPrototypeOf(Object(value)) !== Object.prototype) return;
  for (const name in value as object) {
    const near = nearest(name, MEMBERS);
    if (near === undefined || near in sink) continue;
    throw new TypeError(`${what} has a member ${quoted(name)}: did you mean ${quoted(near)} of the underlying sink?`);
  }
}

/** Counts the letters to insert, delete, replace or swap with their neighbour to make `a` into `b` (Damerau, Levenshtein). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replaced, last[j]! + 1, row[j - 1]! + 1, isSwapped ? beforeLast[j - 2]! + 1 : Infinity));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
