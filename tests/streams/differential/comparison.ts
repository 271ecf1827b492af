import type { Event } from "./events.ts";

/** The first place where two logs differ. */
export interface Difference {
  /** The object whose events differ, and the turn; `everything` where the order of all events is compared. */
  readonly subject: string;
  readonly index: number;
  readonly expected: string | undefined;
  readonly actual: string | undefined;
}

/** Returns the first difference in the order of all events. */
export function compareInOrder(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return firstDifference("everything", expected.map(lineOf), actual.map(lineOf));
}

/**
 * The first difference in what happened to one object in one turn of the event loop. With pipes no more than that can
 * be compared: the standard leaves it to the implementation in which microtask a pipe reads and writes.
 */
export function compareByTurn(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  const expectedBySubject = bySubject(expected);
  const actualBySubject = bySubject(actual);
  for (const subject of new Set([...expectedBySubject.keys(), ...actualBySubject.keys()])) {
    const lines = [expectedBySubject.get(subject) ?? [], actualBySubject.get(subject) ?? []];
    const difference = firstDifference(subject, lines[0], lines[1]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Compares turns, ignoring the order of an object's events within a turn. */
export function compareTurnsUnordered(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  const [one, other] = [expected, actual].map((events) =>
    [...bySubject(events)].flatMap(([subject, lines]) => lines.map((line) => `${subject}: ${line}`)).sort()
  );
  return firstDifference("everything", one, other);
}

/** The callbacks of the end. */
const callback = /^(abort\b|cancel\b|close\b|flush\b|return\()/;
/** The ends of pipes, and the callbacks of the end. */
const ending = /^(pipe |abort\b|cancel\b|close\b|flush\b|return\()/;
/** The ends of pipes. */
const result = /^pipe /;
const arrival = /^(write|transform)\(/;

/**
 * Returns the first difference in the outcomes: how pipes ended, and which callbacks of the end were called for which
 * reason. One side's chunks that arrived may be a prefix of the other's.
 */
export function compareOutcomes(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(ending, expected, actual);
}

/** Compares results without the callbacks of the end. */
export function compareResults(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(result, expected, actual);
}

/** Returns the first difference in how pipes ended. */
export function comparePipes(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(result, expected, actual, () => []);
}

/** Returns the first difference in the chunks that arrived, up to the end of the shorter side. */
export function compareArrivals(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(/^$/, expected, actual);
}

/** Compares as {@linkcode compareOutcomes} does, without the ends of pipes. */
export function compareCallbacks(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(callback, expected, actual);
}

/** Compares as {@linkcode compareOutcomes} does; the chunks that only one side got need not be the last ones. */
export function compareWithoutLost(expected: readonly Event[], actual: readonly Event[]): Difference | undefined {
  return compareMatching(ending, expected, actual, withoutLost);
}

/** Returns the number of chunks that arrived anywhere. */
export function countArrivals(events: readonly Event[]): number {
  return events.filter(({ text }) => arrival.test(text)).length;
}

function compareMatching(
  outcome: RegExp,
  expected: readonly Event[],
  actual: readonly Event[],
  arrivedOf = firstOf,
): Difference | undefined {
  const sides = [expected, actual].map((events) => bySubject(events.map((event) => ({ ...event, turn: 0 }))));
  for (const subject of new Set([...sides[0].keys(), ...sides[1].keys()])) {
    const [one, other] = sides.map((side) => side.get(subject) ?? []);
    const isOutcome = (text: string): boolean => outcome.test(text);
    const difference = firstDifference(subject, one.filter(isOutcome), other.filter(isOutcome));
    if (difference !== undefined) return difference;
    const [some, more] = [one, other].map((lines) => lines.filter((text) => arrival.test(text)));
    const chunks = firstDifference(subject, arrivedOf(some, more), arrivedOf(more, some));
    if (chunks !== undefined) return chunks;
  }
  return undefined;
}

/** Returns the chunks up to the end of the other side. */
function firstOf(lines: readonly string[], others: readonly string[]): readonly string[] {
  return lines.slice(0, others.length);
}

/** Returns the chunks in the order in which the other side got them, without those that it did not get. */
function withoutLost(lines: readonly string[], others: readonly string[]): readonly string[] {
  return lines.length <= others.length ? lines : lines.filter((line) => others.includes(line));
}

export function lineOf({ subject, text }: Event): string {
  return `${subject}: ${text}`;
}

function bySubject(events: readonly Event[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { subject: name, turn, text } of events) {
    // The number of pulls of a source without further chunks depends on when it is read.
    if (text.endsWith(", idle")) continue;
    const subject = `turn ${turn}: ${name}`;
    const own = lines.get(subject) ?? [];
    lines.set(subject, own);
    own.push(withoutOrder(text));
  }
  return lines;
}

/**
 * Removes details that depend on the interleaving of several objects: errors' numbers, and intermediate desired sizes.
 */
function withoutOrder(text: string): string {
  return text.replaceAll(/#\d+/g, "").replace(/ desired \S+$/, "");
}

function firstDifference(
  subject: string,
  expected: readonly string[],
  actual: readonly string[],
): Difference | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    if (expected[index] !== actual[index]) return { subject, index, expected: expected[index], actual: actual[index] };
  }
  return undefined;
}
