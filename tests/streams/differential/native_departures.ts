import { compareTurnsUnordered } from "./comparison.ts";
import { type Behaviour, type Departure, uses } from "./departures.ts";
import { countSizes, endsOnce, overlaps } from "./log_patterns.ts";
import { hasPipes } from "./program.ts";
import { standardBehaviours } from "./standard_departures.ts";

/** The differences in microtasks of Node's and Bun's own streams. */
const nodeTiming: readonly Departure[] = [
  {
    name: "read(view) is an async function",
    reason: "its promise is resolved with another promise and settles three microtasks late",
    touches: uses("readInto"),
  },
  {
    name: "async iterators",
    reason:
      "the first next() waits for a microtask before it reads; where one of ours reads, a pull that returned no " +
      "promise ends at once",
    touches: uses("iterator"),
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

/** The further differences in microtasks of Bun's streams. */
const bunTiming: readonly Departure[] = [
  ...nodeTiming,
  {
    name: "a promise that a sink's close() returns",
    reason: "it is taken as it is, two microtasks earlier than a new one that it resolves",
    touches: uses("closeWriter", "closeWritable"),
  },
];

const denoTiming: readonly Departure[] = [
  {
    name: "microtasks",
    reason: "hardly any promise settles in the microtask that the standard's steps would have it settle in",
    touches: () => true,
  },
];

/** The behaviours of native streams that differ from the standard, on one runtime or more. */
const behaviours: readonly Behaviour[] = [
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
    name: "answers of one turn in another order",
    reason: "Node tells of a branch's or a view's end late, as said above; Deno tells of every reader's late",
    arbitrated: true,
    shows: ({ difference: { expected, actual } }) =>
      [expected, actual].every((text) => /^(read|readInto|closed|cancel) /.test(`${text} `.replace("@", " "))),
  },
  {
    name: "a call from a callback before or after an answer of its turn",
    reason: "Deno calls pull() late, and so what it calls; Node answers a view late, as said above",
    arbitrated: true,
    shows: ({ difference: { expected, actual }, theirs, ours }, { operations }) =>
      [expected, actual].some((text) => text !== undefined && /^[a-zA-Z]+$/.test(text)) &&
      /"operations":\[\{/.test(JSON.stringify(operations)) &&
      compareTurnsUnordered(theirs, ours) === undefined,
  },
  {
    name: "a chunk that comes before an iterator reads",
    reason: "Node's first next() reads a microtask late: the chunk is queued, and its size asked for",
    arbitrated: true,
    shows: ({ theirs, ours }, program) => uses("next")(program) && countSizes(theirs) > countSizes(ours),
  },
  {
    name: "next() before the one before it has answered",
    reason: "they read for both at once, answers in the wrong order or not at all",
    arbitrated: false,
    shows: ({ theirs, ours }) => overlaps(theirs) && endsOnce(ours),
  },
  {
    name: "write() while the sink's close() runs",
    reason: "Deno errors the stream, where the standard's write() does no more than reject",
    arbitrated: true,
    shows: (_, program) => uses("write")(program) && uses("closeWriter", "closeWritable")(program),
  },
  {
    name: "branches of a byte stream that are read by views",
    reason: "Deno answers a branch's view when the stream closes, where the standard waits for respond(0)",
    arbitrated: true,
    shows: (_, program) => uses("bytes")(program) && uses("tee")(program) && uses("readInto")(program),
  },
  {
    name: "pipes of their own kind",
    reason: "Node's rejects where the last write fails after the source has closed, Deno's reads a turn later",
    arbitrated: true,
    shows: (_, program) => hasPipes(program),
  },
];

/** The differences in microtasks of this runtime. */
export const nativeTiming: readonly Departure[] = "Deno" in globalThis
  ? denoTiming
  : "Bun" in globalThis
  ? bunTiming
  : nodeTiming;

export const nativeBehaviours: readonly Behaviour[] = [...standardBehaviours, ...behaviours];
