import * as streams from "../../../lib/streams/mod.ts";
import {
  asReferenceAwaits,
  native,
  type PipeThrough,
  type PipeTo,
  reference,
  type StreamClasses,
} from "./implementations.ts";
import { nativeBehaviours, nativeTiming } from "./native_departures.ts";
import { referenceBehaviours, referenceTiming } from "./reference_departures.ts";
import type { Contest } from "./verdict.ts";

export const ours: StreamClasses = {
  ReadableStream: streams.ReadableStream,
  WritableStream: streams.WritableStream,
  TransformStream: streams.TransformStream,
} as unknown as StreamClasses;

const ourPipes = {
  pipeTo: streams.pipeTo as unknown as PipeTo,
  pipeThrough: streams.pipeThrough as unknown as PipeThrough,
};

const oursForReference = asReferenceAwaits(ours);

/** The contest with the reference: equal to the microtask, on every runtime, unless a pipe takes part. */
export const againstReference: Contest = {
  name: "ours against the reference",
  ours: oursForReference,
  theirs: reference,
  timing: referenceTiming,
  behaviours: referenceBehaviours,
  arbiter: { ours, theirs: native },
};

/** The contest with the runtime's own classes, whose differences are known. */
export const againstNative: Contest = {
  name: "ours against native",
  ours,
  theirs: native,
  timing: nativeTiming,
  behaviours: nativeBehaviours,
  arbiter: { ours: oursForReference, theirs: reference },
};

/** The contests of this package's pipes between native streams, and between native streams and its own. */
export const pipesAgainstNative: readonly Contest[] = [
  mixed("our pipes of native streams against native", native),
  mixed("our readable and transform streams and native sinks against native", {
    ...ours,
    WritableStream: native.WritableStream,
  }),
  mixed("native readable and transform streams and our sinks against native", {
    ...native,
    WritableStream: ours.WritableStream,
  }),
  mixed("native sources and sinks and our transform streams against native", {
    ...native,
    TransformStream: ours.TransformStream,
  }),
];

function mixed(name: string, classes: StreamClasses): Contest {
  const piped = { ...classes, ...ourPipes };
  return {
    name,
    ours: piped,
    theirs: native,
    timing: [],
    behaviours: nativeBehaviours,
    arbiter: { ours: piped, theirs: { ...reference, readsAreEvents: false } },
  };
}
