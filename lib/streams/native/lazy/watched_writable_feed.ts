import { markAsHandled } from "../../language/promises.ts";
import { isNativeWritableStreamLocked, nativeGetWriter, nativeWriter } from "../../language/native_classes.ts";
import { writableStreamCloseQueuedOrInFlight, type WritableStreamState } from "../../writable/stream_state.ts";
import { WritableFeed } from "../feeds/writable_feed.ts";

type Writer = globalThis.WritableStreamDefaultWriter;

/**
 * The underlying sink of a native side that is made when the runtime looks for it: that closes as soon as our stream
 * does, so that the runtime's own pipe refuses it at once rather than with the first chunk.
 */
export class WatchedWritableFeed extends WritableFeed {
  readonly #stream: WritableStreamState;
  #isClosing = false;

  constructor(stream: WritableStreamState) {
    super(stream);
    this.#stream = stream;
  }

  override close(): Promise<void> | undefined {
    const { closeRequest, inFlightCloseRequest } = this.#stream;
    if (this.#isClosing) return (closeRequest ?? inFlightCloseRequest)?.promise;
    this.#isClosing = true; // from the side
    return super.close();
  }

  /** Closes the side, once nobody has locked it whom it could not be closed for. */
  closeSide(): void {
    const { nativeSide, writer } = this.#stream;
    if (this.#isClosing || nativeSide === undefined) return;
    const lock = writer?.nativeSide as Writer | undefined;
    if (lock === undefined && isNativeWritableStreamLocked(nativeSide as WritableStream)) return; // until it is released
    this.#isClosing = true;
    const closer = lock ?? nativeGetWriter.call(nativeSide as WritableStream);
    markAsHandled(nativeWriter.close.call(closer));
    if (lock === undefined) nativeWriter.releaseLock.call(closer);
  }
}

/** Closes the native side of a stream, if there is one, and the stream has closed or is about to. */
export function closeEndedSide(state: WritableStreamState): void {
  const { feed } = state;
  if (!(feed instanceof WatchedWritableFeed)) return;
  if (state.state === "closed" || writableStreamCloseQueuedOrInFlight(state)) feed.closeSide();
}
