import { inheritNothing, nativeReadMany } from "../../language/native_classes.ts";
import { ReadableStreamState } from "../../readable/stream_state.ts";
import { type NativeController, ReadableFeed } from "../feeds/readable_feed.ts";
import { LendingFeed } from "./lending_feed.ts";

/** Whether the runtime takes all that is queued at once: else a chunk that is lent crosses no faster. */
const LENDS = nativeReadMany !== undefined;

/**
 * The underlying source of a native side that is made with its stream: the state itself, which has a feed made when the
 * runtime first pulls or cancels; of a byte stream a feed. The runtime never reads most streams, and a new one takes 0.95
 * of the time so, with a reader 0.93 (Bun).
 */
class LateFeed extends ReadableFeed {
  constructor(stream: ReadableStreamState, type: "bytes" | undefined) {
    if (type === undefined) return stream as unknown as LateFeed;
    super(stream, type);
  }
}

/** The feed of a native side that every stream is made with. */
export const EagerFeed: typeof ReadableFeed = LENDS ? LateFeed : ReadableFeed;

function feedOf(stream: ReadableStreamState): ReadableFeed {
  return stream.feed instanceof LendingFeed ? stream.feed : new LendingFeed(stream);
}

// Members for the runtime alone: our own code has none of these names on a state.
if (LENDS) {
  Object.defineProperties(ReadableStreamState.prototype, {
    pull: {
      value: function pull(this: ReadableStreamState, controller: NativeController): void {
        feedOf(this).pull(controller);
      },
    },
    cancel: {
      value: function cancel(this: ReadableStreamState, reason: unknown): Promise<void> {
        return feedOf(this).cancel(reason);
      },
    },
  });
  inheritNothing(ReadableStreamState);
}
