import { type ByteStreams, byteStreams as all } from "./byte_streams.ts";

/** Undefined in a page until a module that makes byte streams has called {@linkcode withByteStreams}. */
export let byteStreams: ByteStreams | undefined;

/** Returns a class after its streams can be byte streams: bundlers drop the call, and byte streams, with the result. */
export function withByteStreams<Class>(ReadableStream: Class): Class {
  byteStreams = all;
  return ReadableStream;
}
