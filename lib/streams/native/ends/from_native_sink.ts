import { markAsHandled, react } from "../../language/promises.ts";
import {
  createWritableStream,
  type SinkAlgorithms,
  startWritableStreamDefaultController,
  type WritableControllerState,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../../writable/controller_state.ts";
import type { WritableStreamState } from "../../writable/stream_state.ts";
import {
  nativeGetWriter,
  nativeWriter,
  nativeWriterClosed,
  nativeWriterDesiredSize,
  nativeWriterReady,
} from "../../language/native_classes.ts";

/** A stream of ours that writes to one of the runtime's: at once while that has room, else when it has again. */
export function fromNativeSink(stream: globalThis.WritableStream): WritableStreamState {
  const sink = new FromNativeSink(nativeGetWriter.call(stream));
  const state = createWritableStream(sink, 1, undefined);
  sink.watch(state.controller);
  startWritableStreamDefaultController(state.controller, undefined);
  return state;
}

class FromNativeSink implements SinkAlgorithms {
  readonly #writer: globalThis.WritableStreamDefaultWriter;

  constructor(writer: globalThis.WritableStreamDefaultWriter) {
    this.#writer = writer;
  }

  watch(controller: WritableControllerState): void {
    react(
      nativeWriterClosed.call(this.#writer),
      () => {},
      (error) => writableStreamDefaultControllerErrorIfNeeded(controller, error),
    );
  }

  write(chunk: unknown): Promise<void> | undefined {
    const written = nativeWriter.write.call(this.#writer, chunk);
    const desiredSize = nativeWriterDesiredSize.call(this.#writer);
    if (desiredSize === null) return written;
    markAsHandled(written); // `closed` tells of its failure
    return desiredSize > 0 ? undefined : nativeWriterReady.call(this.#writer);
  }

  close(): Promise<void> {
    return nativeWriter.close.call(this.#writer);
  }

  abort(reason: unknown): Promise<void> {
    return nativeWriter.abort.call(this.#writer, reason);
  }
}
