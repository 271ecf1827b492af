import type { Readable } from "node:stream";
import { ReadableStream } from "../streams/mod.ts";
import { requireMethods } from "./methods.ts";
import { ReadableSource } from "./readable_source.ts";

/**
 * Makes a ReadableStream of a readable of `node:stream`: a request of `node:http` or `node:http2`, a socket, a file,
 * standard input.
 *
 * Chunks are Uint8Arrays; strings if the readable has an encoding; what the readable gives if it is in object mode. All
 * that the readable has buffered is taken at once, when the stream is read. Until then the stream takes nothing: how far
 * ahead the readable reads is for its own high-water mark to say.
 *
 * The stream is no byte stream: that would have to detach the chunks' buffers, and Node lets small chunks share one.
 *
 * Cancelling the stream destroys the readable; for a request of `node:http` whose body has not all arrived that closes
 * the connection. If the readable fails, or closes before its end, as a request whose visitor has left, the stream
 * errors. Nothing but a cancellation destroys it: after a pipe or a loop with `preventCancel` others can read the rest.
 *
 * @param readable The source. Nothing else should read from it meanwhile.
 * @throws {TypeError} if `readable` is no readable stream of Node.
 * @example A readable of objects
 * ```ts
 * import { fromNodeReadable } from "@millrace/streams/node";
 * import { Readable } from "node:stream";
 *
 * const words = fromNodeReadable<string>(Readable.from(["mill", "race"]));
 * for await (const word of words) console.log(word); // mill, race
 * ```
 */
export function fromNodeReadable<R = Uint8Array<ArrayBuffer>>(readable: Readable): ReadableStream<R> {
  requireMethods(readable, "the readable", "a readable stream of node:stream", ["read", "destroy", "on", "off"]);
  const source = new ReadableSource<R>(readable);
  const stream = new ReadableStream<R>(source, { highWaterMark: 0 });
  source.stream = stream;
  return stream;
}
