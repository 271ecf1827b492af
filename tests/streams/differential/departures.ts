/**
 * Where the implementations that ours is compared with depart from the standard, or choose otherwise where it leaves a
 * choice. Each entry is named and counted, and says as narrowly as it can which programs it is about.
 *
 * @module
 */

import { compareOutcomes, compareResults, type Difference } from "./comparison.ts";
import type { Event } from "./events.ts";
import { hasPipes, type OperationKind, type Program } from "./program.ts";

/** Such programs go through the same turns of the event loop, not through the same microtasks. */
export interface Departure {
  readonly name: string;
  readonly reason: string;
  touches(program: Program): boolean;
}

/** Two logs that differ, and where. */
export interface Found {
  readonly difference: Difference;
  readonly theirs: readonly Event[];
  readonly ours: readonly Event[];
}

/** Something else happens, even when every operation has a turn of its own. */
export interface Behaviour {
  readonly name: string;
  readonly reason: string;
  /** Whether a third implementation has to do as ours before this explains anything. */
  readonly arbitrated: boolean;
  shows(found: Found, program: Program): boolean;
}

function uses(...kinds: OperationKind[]): (program: Program) => boolean {
  return ({ operations }) => operations.some(({ kind }) => kinds.includes(kind));
}

export const nodeTiming: readonly Departure[] = [
  {
    name: "read(view) is an async function",
    reason: "its promise is resolved with another promise and settles three microtasks late",
    touches: uses("readInto"),
  },
  {
    name: "async iterators",
    reason: "the first next() waits for a microtask before it reads; later ones answer earlier than Web IDL's steps",
    touches: uses("next", "return"),
  },
  {
    name: "ReadableStream.from()",
    reason: "the iterator is driven by an async function, in other microtasks than the standard's reactions",
    touches: uses("from"),
  },
  {
    name: "tee()",
    reason: "branches are closed from process.nextTick",
    touches: uses("tee"),
  },
  {
    name: "writes to a transform",
    reason: "one that waits for the readable side to make room settles some microtasks away from the standard's steps",
    touches: (program) => uses("transform")(program) && uses("write", "closeWriter", "closeWritable")(program),
  },
  {
    name: "aborting and cancelling a transform",
    reason: "what a transformer without cancel() does is awaited, and so done some microtasks late",
    touches: (program) => uses("transform")(program) && uses("abort", "abortWriter", "cancel", "cancelReader")(program),
  },
];

export const referenceTiming: readonly Departure[] = [
  {
    name: "async iterators",
    reason: "next() and return() wait for the ones before them in other microtasks than Web IDL says",
    touches: uses("next", "return"),
  },
  {
    name: "ReadableStream.from()",
    reason: "iterators are wrapped in other microtasks than the language says",
    touches: uses("from"),
  },
];

/** What the standard itself leaves open or gets wrong. */
const standard: readonly Behaviour[] = [
  {
    name: "a failed assertion",
    reason: "some orders of operations fail an assertion of the standard's: others throw it at the caller, and go on " +
      "from a state that cannot be; ours does what the steps after it say",
    arbitrated: false,
    shows: ({ theirs }) => theirs.some(({ text }) => text.includes("Assertion")),
  },
  {
    name: "algorithms of a transform that are gone",
    reason:
      "terminate(), error() and cancel() drop the transformer's callbacks; abort(), cancel() and write() that come " +
      "to a transform after that call them all the same in the standard's steps, so that others throw a TypeError of " +
      "their own or never answer; ours always answers",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      endsTransform(program) && !ours.some((event) => isAlgorithmCall(event) && event.text.includes("threw")) &&
      (theirs.some(isAlgorithmCall) || unanswered(theirs) > unanswered(ours)),
  },
  {
    name: "how far a pipe had come when something failed",
    reason: "the standard leaves it open when in a turn a pipe reads; what comes of it in the end is the same",
    arbitrated: false,
    shows: (found, program) => hasPipes(program) && compareOutcomes(found.theirs, found.ours) === undefined,
  },
  {
    name: "reading for a destination that is failing",
    reason: "while its desiredSize is null nothing may be read for it; others take a chunk more, which is lost",
    arbitrated: false,
    shows: ({ difference: { expected, actual } }, program) =>
      hasPipes(program) && reading.test(String(expected)) && !reading.test(String(actual)),
  },
  {
    name: "which of two failures in one turn a pipe saw first",
    reason: "as above; all but the reasons that are handed on is the same in the end",
    arbitrated: false,
    shows: (found, program) =>
      hasPipes(program) && compareOutcomes(withoutReasons(found.theirs), withoutReasons(found.ours)) === undefined,
  },
  {
    name: "whether a pipe's end or a failure in it came first",
    reason: "as above, and so which of the callbacks of the end are called; chunks and what pipes tell are the same",
    arbitrated: false,
    shows: (found, program) =>
      hasPipes(program) && hasFailure(program) &&
      compareResults(withoutReasons(found.theirs), withoutReasons(found.ours)) === undefined,
  },
];

export const nodeBehaviours: readonly Behaviour[] = [
  ...standard,
  {
    name: "one error for all released readers or writers",
    reason: "the standard makes a new TypeError for each",
    arbitrated: true,
    shows: ({ difference: { expected, actual } }) =>
      [expected, actual].every((text) => text !== undefined && / rejected: TypeError#\d+$/.test(text)),
  },
  {
    name: "ready of a writer after an error while closing",
    reason: "it is derived from the stream's state, which is closed, where the standard's promise stays rejected",
    arbitrated: true,
    shows: ({ difference: { expected, actual } }) =>
      /ready@\d+ fulfilled/.test(String(expected)) && /ready@\d+ rejected/.test(String(actual)),
  },
  {
    name: "events of one turn in another order",
    reason: "as said above of tee() and read(view), and seen by a reader of that branch or view",
    arbitrated: true,
    shows: ({ difference: { expected, actual } }, program) =>
      uses("tee", "readInto")(program) && /^(read|closed)/.test(String(expected)) &&
      /^(read|closed)/.test(String(actual)),
  },
  {
    name: "next() before the one before it has answered",
    reason: "Node reads for both at once, answers in the wrong order or not at all",
    arbitrated: false,
    shows: ({ theirs, ours }) => overlaps(theirs) && endsOnce(ours),
  },
];

/** What is known of any other implementation, where pipes take part. */
export const pipeBehaviours: readonly Behaviour[] = nodeBehaviours;

export const referenceBehaviours: readonly Behaviour[] = [
  ...standard,
  {
    name: "next() before the one before it has answered",
    reason: "its reader is released twice, and a TypeError of its own is thrown at whoever settles the read",
    arbitrated: false,
    shows: ({ theirs, ours }) => overlaps(theirs) && endsOnce(ours),
  },
  {
    name: "read(view) of a closing stream throws",
    reason: "it returns a rejected promise in the standard",
    arbitrated: false,
    shows: ({ difference: { expected } }) => /readInto threw TypeError/.test(String(expected)),
  },
];

/** What a pipe does to read ahead. */
const reading = /^(pull|next|size|transform)\b/;

function hasFailure(program: Program): boolean {
  return /"(error|throw|reject|terminate|abort\w*|cancel\w*)"/.test(JSON.stringify(program.operations));
}

/** A call that makes the standard's steps call an algorithm that is gone, and what comes of it. */
function isAlgorithmCall({ text }: Event): boolean {
  return /^(cancel|cancelReader|abort|abortWriter|return|write|close|closeWriter)( \d+)? (threw|rejected:) TypeError/
    .test(text);
}

/** How many calls that tear something down have not been answered. */
function unanswered(events: readonly Event[]): number {
  const calls = events.filter(({ text }) => /^(cancel|cancelReader|abort|abortWriter|return|write|pipeTo)$/.test(text));
  const answers = events.filter(({ text }) =>
    /^(cancel|abort|return|write|pipe)( \d+)? (fulfilled|rejected|threw)/.test(text)
  );
  return calls.length - answers.length;
}

function withoutReasons(events: readonly Event[]): readonly Event[] {
  return events.map((event) => ({
    ...event,
    text: event.text.replace(/(rejected:|^abort\(\d\)|^cancel\(\d\)) .*/, "$1"),
  }));
}

function endsTransform(program: Program): boolean {
  return /"(terminate|error|cancel\w*|abort\w*)","on":"t\d/.test(JSON.stringify(program.operations));
}

/** Whether an iterator was asked again before it had answered. */
function overlaps(events: readonly Event[]): boolean {
  const waiting = new Map<string, number>();
  for (const { subject, text } of events) {
    const count = waiting.get(subject) ?? 0;
    if (text === "next" || text === "return") {
      if (count > 0) return true;
      waiting.set(subject, count + 1);
    } else if (/^(next \d+|return) (fulfilled|rejected)/.test(text)) {
      waiting.set(subject, count - 1);
    }
  }
  return false;
}

/** Whether no iterator gives a chunk to a next() that was asked after one that it told that there are no more. */
function endsOnce(events: readonly Event[]): boolean {
  const answers = new Map<string, boolean[]>();
  for (const { subject, text } of events) {
    const answer = /^next (\d+) (.*)/.exec(text);
    if (answer === null) continue;
    const own = answers.get(subject) ?? [];
    answers.set(subject, own);
    own[Number(answer[1])] = answer[2].endsWith("done: false }");
  }
  return [...answers.values()].every((gave) => gave.lastIndexOf(true) < gave.indexOf(false) || !gave.includes(false));
}
