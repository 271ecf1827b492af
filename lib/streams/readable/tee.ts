import { ByteControllerState } from "./byte_controller_state.ts";
import { ByteTee } from "./byte_tee.ts";
import { DefaultTee } from "./default_tee.ts";
import type { ReadableStreamState } from "./stream_state.ts";

/**
 * The two kinds have classes of their own: one class for both makes a chunk take a third longer.
 *
 * @see {@link https://streams.spec.whatwg.org/#readable-stream-tee}
 */
export function readableStreamTee(stream: ReadableStreamState): [ReadableStreamState, ReadableStreamState] {
  const { branches } = stream.controller instanceof ByteControllerState ? new ByteTee(stream) : new DefaultTee(stream);
  return [branches[0].stream, branches[1].stream];
}
