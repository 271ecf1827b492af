import process from "node:process";
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";

/**
 * Whether what a socket has received at once is handed out within a turn of the event loop, be it in several events: the records of TLS, or
 * more than a buffer of bytes. Deno hands out one event a turn.
 */
export const readsWithinTurn: boolean = !process.versions.deno;

/**
 * Calls back once the event loop has looked at all sockets, so that whatever they had received by now was handed out.
 *
 * Node and Bun run immediates after each look. A first one may follow on a look that was over before, the second does not. Deno runs
 * immediates without a look between them, and takes one before it runs timers; again the first may be too early (1 of 40 was).
 *
 * @returns gives it up.
 */
export const afterPoll: (callback: () => void) => () => void = process.versions.deno ? afterTimers : afterImmediates;

function afterTimers(callback: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(callback, 0);
  }, 0);
  return () => clearTimeout(timer);
}

function afterImmediates(callback: () => void): () => void {
  let immediate = setImmediate(() => {
    immediate = setImmediate(callback);
  });
  return () => clearImmediate(immediate);
}
