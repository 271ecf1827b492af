import * as streams from "../../../lib/streams/mod.ts";
import { nodeBehaviours, nodeTiming, pipeBehaviours, referenceBehaviours, referenceTiming } from "./departures.ts";
import {
  asReferenceAwaits,
  native,
  type PipeThrough,
  type PipeTo,
  reference,
  type StreamClasses,
} from "./implementations.ts";
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

/** To the microtask where no pipe takes part, on every runtime. */
export const againstReference: Contest = {
  name: "ours against the reference",
  ours: oursForReference,
  theirs: reference,
  timing: referenceTiming,
  behaviours: referenceBehaviours,
  arbiter: { ours, theirs: native },
};

/** The same against Node's own classes, whose departures are known. */
export const againstNative: Contest = {
  name: "ours against native",
  ours,
  theirs: native,
  timing: nodeTiming,
  behaviours: nodeBehaviours,
  arbiter: { ours: oursForReference, theirs: reference },
};

/** What our pipes do between native streams, and between native streams and ours. */
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
  return {
    name,
    ours: { ...classes, ...ourPipes },
    theirs: native,
    timing: [],
    behaviours: pipeBehaviours,
    arbiter: { ours: oursForReference, theirs: reference },
  };
}
