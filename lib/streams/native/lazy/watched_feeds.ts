import { isNativeWritableStreamLocked, nativeGetWriter, nativeWriter } from "../../language/native_classes.ts";
import { markAsHandled } from "../../language/promises.ts";
import type { ReadRequest } from "../../readable/stream_state.ts";
import { writableStreamCloseQueuedOrInFlight, type WritableStreamState } from "../../writable/stream_state.ts";
import { type NativeController, ReadableFeed, releaseReadableFeed } from "../feeds/readable_feed.ts";
import { WritableFeed } from "../feeds/writable_feed.ts";
import { type AskedController, hasSteps, PULL_STEPS, readDirectly, RELEASE_STEPS } from "./light_side.ts";

/**
 * The underlying source of a native side that is made when the runtime looks for it: that shows at all times what our
 * stream is.
 */
export class WatchedReadableFeed extends ReadableFeed {
  /** Whether the native side has pulled, for a BYOB reader: then it may have requests and bytes of its own, which come first. */
  #wasPulled = false;

  start(controller: AskedController): void {
    this.watch(controller);
    if (!hasSteps) return;
    const { [PULL_STEPS]: pullSteps, [RELEASE_STEPS]: releaseSteps } = controller;
    controller[PULL_STEPS] = (request) => {
      if (this.#wasPulled) pullSteps.call(controller, request);
      else readDirectly(this, controller, request as ReadRequest);
    };
    controller[RELEASE_STEPS] = () => {
      releaseSteps.call(controller);
      if (!this.#wasPulled) releaseReadableFeed(this.stream);
    };
  }

  override pull(controller: NativeController): void {
    this.#wasPulled = true;
    super.pull(controller);
  }
}

type Writer = globalThis.WritableStreamDefaultWriter;

/**
 * The underlying sink of a native side that is made when the runtime looks for it: that closes as soon as our stream
 * does, so that the runtime's own pipe refuses it at once rather than with the first chunk.
 */
export class WatchedWritableFeed extends WritableFeed {
  #isClosing = false;

  override close(): Promise<void> | undefined {
    const { closeRequest, inFlightCloseRequest } = this.stream;
    if (this.#isClosing) return (closeRequest ?? inFlightCloseRequest)?.promise;
    this.#isClosing = true; // from the side
    return super.close();
  }

  /** Closes the side, once nobody has locked it whom it could not be closed for. */
  closeSide(): void {
    const { nativeSide, writer } = this.stream;
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
