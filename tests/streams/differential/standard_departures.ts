import {
  compareArrivals,
  compareCallbacks,
  compareOutcomes,
  comparePipes,
  compareResults,
  compareTurnsUnordered,
  compareWithoutLost,
  countArrivals,
} from "./comparison.ts";
import { type Behaviour, uses } from "./departures.ts";
import {
  countEndedReads,
  countLastReads,
  countMissedRequests,
  countPipesUnderWay,
  typeErrors,
  unanswered,
  withoutReasons,
} from "./log_patterns.ts";
import { hasPipes, type Program } from "./program.ts";

/** The standard's gaps and errors, and the intended differences of this package. */
export const standardBehaviours: readonly Behaviour[] = [
  {
    name: "a failed assertion",
    reason: "some orders of operations fail an assertion of the standard's: others throw it at the caller, and go on " +
      "from a state that cannot be; ours does what the steps after it say",
    arbitrated: false,
    shows: ({ theirs }) => theirs.some(({ text }) => text.includes("Assertion")),
  },
  {
    name: "algorithms of a terminated transform",
    reason:
      "terminate(), error() and cancel() drop the transformer's callbacks; abort(), cancel() and write() that come " +
      "to a transform after that call them all the same in the standard's steps, so that others throw a TypeError of " +
      "their own or never answer; ours always answers",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      endsTransform(program) &&
      ![...typeErrors(ours).difference(typeErrors(theirs))].some((answer) => answer.includes(" threw ")) &&
      (!typeErrors(theirs).isSubsetOf(typeErrors(ours)) || unanswered(theirs) > unanswered(ours) ||
        [...typeErrors(theirs)].some((answer) => answer.includes(" return "))), // and its reader stays locked
  },
  {
    name: "read(view) of a closing stream throws",
    reason: "others throw at once where Web IDL has a rejected promise",
    arbitrated: false,
    shows: ({ difference: { expected } }) => /readInto threw TypeError/.test(String(expected)),
  },
  {
    name: "a byte tee whose source closes and does not answer for a view",
    reason:
      "in the standard both branches wait for ever if one of them is read into views; ours end, and ask for nothing then",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      uses("tee")(program) && uses("readInto")(program) &&
      (countEndedReads(theirs) < countEndedReads(ours) || countLastReads(theirs) < countLastReads(ours) ||
        unanswered(theirs) > unanswered(ours) ||
        countMissedRequests(theirs) < countMissedRequests(ours)),
  },
  {
    name: "two pulls in one call",
    reason: "where an iterator reads, ours pulls again before a call ends that pulled, and not a microtask after it",
    arbitrated: false,
    shows: ({ theirs, ours, difference: { expected, actual } }, program) =>
      uses("iterator")(program) && [expected, actual].some((text) => /^(pull|next)\b/.test(String(text))) &&
      compareTurnsUnordered(theirs, ours) === undefined,
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
    name: "the end of a cancelled branch whose other one nobody reads",
    reason: "as above: a tee learns that its source has closed by a read, and only then has cancelled a lone branch",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      hasPipes(program) && uses("tee")(program) && hasFailure(program) &&
      countPipesUnderWay(theirs) !== countPipesUnderWay(ours) && compareCallbacks(theirs, ours) === undefined,
  },
  {
    name: "how far a pipe had come when it let go of a stream that stays open",
    reason: "as above; what others write to the stream or read from it afterwards follows on that",
    arbitrated: false,
    shows: (found, program) =>
      hasPipes(program) && hasFailure(program) && letsGo(program) &&
      compareWithoutLost(found.theirs, found.ours) === undefined,
  },
  {
    name: "which chunk a callback of a stream that stays open gets",
    reason: "as above: the callback of a chunk is that of another one where a chunk more or less came before",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      hasPipes(program) && hasFailure(program) && letsGo(program) &&
      countArrivals(theirs) !== countArrivals(ours) && comparePipes(theirs, ours) === undefined,
  },
  {
    name: "a failure of the last write of a pipe that does not close its destination",
    reason: "as above: the source has closed by then, so that the pipe tells of its end or of the failure",
    arbitrated: false,
    shows: (found, program) =>
      hasPipes(program) && hasFailure(program) && /"preventClose":true/.test(JSON.stringify(program.operations)) &&
      countPipesUnderWay(found.theirs) === countPipesUnderWay(found.ours) &&
      compareCallbacks(found.theirs, found.ours) === undefined,
  },
  {
    name: "which end of a transform goes first when one signal stops both of its pipes",
    reason:
      "as above: an end that is cancelled while the other one is aborted rejects, or waits as the other does, and " +
      "a pipe that is told so does not wait for an abort() of its destination that never ends",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      hasPipes(program) && uses("transform")(program) && uses("abortSignal")(program) &&
      /"kind":"never"/.test(JSON.stringify(program.operations)) &&
      countPipesUnderWay(theirs) !== countPipesUnderWay(ours) && compareCallbacks(theirs, ours) === undefined,
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
  {
    name: "a write that never ends was reached by one side only",
    reason: "as above, and so one side still waits for it",
    arbitrated: false,
    shows: ({ theirs, ours }, program) =>
      hasPipes(program) && hasFailure(program) && /"kind":"never"/.test(JSON.stringify(program.operations)) &&
      countArrivals(theirs) !== countArrivals(ours) && compareArrivals(theirs, ours) === undefined,
  },
  {
    name: "a chunk beside a failure",
    reason: "as above, and so what the callback does that gets the chunk in one of them",
    arbitrated: true,
    shows: (_, program) => hasPipes(program) && hasFailure(program),
  },
];

/** Whether a pipe leaves a stream to others when it fails. */
function letsGo({ operations }: Program): boolean {
  return /"prevent(Abort|Cancel)":true/.test(JSON.stringify(operations));
}

/** The calls of a pipe that reads ahead. */
const reading = /^(pull|next|size|transform)\b/;

function hasFailure(program: Program): boolean {
  return /"(error|throw|reject|terminate|abort\w*|cancel\w*)"/.test(JSON.stringify(program.operations));
}

function endsTransform(program: Program): boolean {
  if (!uses("transform")(program)) return false;
  return /"(terminate|error|cancel\w*|abort\w*)","on":"t\d/.test(JSON.stringify(program.operations));
}
