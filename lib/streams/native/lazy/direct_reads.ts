import type { ReadRequest } from "../../readable/read_requests.ts";
import { readableStreamDefaultReaderRead } from "../../readable/reader_state.ts";
import type { NativeController, ReadableFeed } from "../feeds/readable_feed.ts";

/** The name under which Deno's readers ask a controller of theirs for a chunk. */
export const PULL_STEPS: symbol = stepsNamed("[[PullSteps]]");
/** The name of what they call when they are released. */
export const RELEASE_STEPS: symbol = stepsNamed("[[ReleaseSteps]]");
/** The name of what they call to cancel the source. */
export const CANCEL_STEPS: symbol = stepsNamed("[[CancelSteps]]");

/** A native controller of Deno's. */
export type AskedController = NativeController & {
  [steps: symbol]: (argument?: unknown) => unknown;
};

/** Whether the runtime's controllers have all these names. */
export const hasSteps: boolean = [PULL_STEPS, RELEASE_STEPS, CANCEL_STEPS].every((name) =>
  name in ReadableStreamDefaultController.prototype
);

function stepsNamed(name: string): symbol {
  const symbols = Object.getOwnPropertySymbols(ReadableStreamDefaultController.prototype);
  return symbols.find(({ description }) => description === name) ?? Symbol(name);
}

/**
 * The pull steps of our own controller, for a request of a native reader: requests have the same methods there as ours, so
 * they can wait in our stream itself, without a call of `pull()`, and a microtask, for each.
 */
export function readDirectly(feed: ReadableFeed, controller: NativeController, request: ReadRequest): void {
  let reader;
  try {
    reader = feed.lockStream();
  } catch (error) { // as of a pull that throws
    controller.error(error);
    request.errorSteps(error);
    return;
  }
  readableStreamDefaultReaderRead(reader, request);
}
