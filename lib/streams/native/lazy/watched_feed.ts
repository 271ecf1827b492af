import type { ReadRequest } from "../../readable/read_requests.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import { type NativeController, ReadableFeed, releaseReadableFeed } from "../feeds/readable_feed.ts";
import { type AskedController, hasSteps, PULL_STEPS, readDirectly, RELEASE_STEPS } from "./direct_reads.ts";

/**
 * The underlying source of a native side that is made when the runtime looks for it: that shows at all times what our
 * stream is.
 */
export class WatchedReadableFeed extends ReadableFeed {
  readonly #stream: ReadableStreamState;
  /** Whether the native side has pulled, for a BYOB reader: then it may have requests and bytes of its own, which come first. */
  #wasPulled = false;

  constructor(stream: ReadableStreamState, type: "bytes" | undefined) {
    super(stream, type);
    this.#stream = stream;
  }

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
      if (!this.#wasPulled) releaseReadableFeed(this.#stream);
    };
  }

  override pull(controller: NativeController): void {
    this.#wasPulled = true;
    super.pull(controller);
  }
}
