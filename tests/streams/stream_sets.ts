import * as streams from "../../lib/streams/mod.ts";

/** The classes that a chain of streams is made of, and the functions that pipe it. */
export interface StreamSet {
  readonly name: string;
  readonly ReadableStream: typeof globalThis.ReadableStream;
  readonly TransformStream: typeof globalThis.TransformStream;
  readonly WritableStream: typeof globalThis.WritableStream;
  pipeTo(source: ReadableStream, destination: WritableStream, options?: StreamPipeOptions): Promise<void>;
  pipeThrough<T>(source: ReadableStream, pair: ReadableWritablePair<T>, options?: StreamPipeOptions): ReadableStream<T>;
}

type Classes = Pick<StreamSet, "ReadableStream" | "TransformStream" | "WritableStream">;

const native: Classes = {
  ReadableStream: globalThis.ReadableStream,
  TransformStream: globalThis.TransformStream,
  WritableStream: globalThis.WritableStream,
};

const ours: Classes = {
  ReadableStream: streams.ReadableStream,
  TransformStream: streams.TransformStream,
  WritableStream: streams.WritableStream,
} as unknown as Classes;

const byMethod: Pick<StreamSet, "pipeTo" | "pipeThrough"> = {
  pipeTo: (source, destination, options) => source.pipeTo(destination, options),
  pipeThrough: (source, pair, options) => source.pipeThrough(pair, options),
};

const byFunction: Pick<StreamSet, "pipeTo" | "pipeThrough"> = {
  pipeTo: (source, destination, options) => streams.pipeTo(source, destination, options),
  pipeThrough: (source, pair, options) => streams.pipeThrough(source, pair, options),
};

/** The runtime's own streams and pipes. */
export const nativeSet: StreamSet = { name: "native streams", ...native, ...byMethod };

/** Our streams and their own pipes. */
export const ourSet: StreamSet = { name: "our streams", ...ours, ...byMethod };

/** Every mix of sources, transforms and sinks, native and of this package, piped by this package's functions. */
export const mixedSets: readonly StreamSet[] = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => {
  const of = (bit: number): Classes => bits & bit ? ours : native;
  const who = (bit: number): string => bits & bit ? "our" : "native";
  return {
    name: `${who(1)} source, ${who(2)} transform and ${who(4)} sink by our pipeTo()`,
    ReadableStream: of(1).ReadableStream,
    TransformStream: of(2).TransformStream,
    WritableStream: of(4).WritableStream,
    ...byFunction,
  };
});
