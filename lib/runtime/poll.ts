import process from "node:process";
import { clearImmediate, setImmediate } from "node:timers";

const isDeno = process.versions.deno !== undefined;

/**
 * Whether what a socket has received at once is handed out within a turn of the event loop, be it in several events: the records of TLS, or
 * more than a buffer of bytes. Deno hands out one event a turn.
 */
export const readsWithinTurn: boolean = !isDeno;

/**
 * Immediates that run one after the other until the event loop has looked at all sockets and handed out what it found.
 *
 * Node and Bun run an immediate after each look. The first one may follow on a look that was over before, the second does not. Deno's loop
 * is a task of its scheduler, tokio, which looks after 61 tasks at the latest (its `event_interval`): while V8 has work in the background,
 * turns and timers follow each other without a look. What a look finds is handed out before the immediates of the next turn.
 */
const TURNS = isDeno ? 64 : 2;

/**
 * Calls back once the event loop has looked at all sockets, so that whatever they had received by now was handed out.
 *
 * @returns gives it up.
 */
export function afterPoll(callback: () => void): () => void {
  let left = TURNS;
  const turn = (): void => {
    if (--left === 0) callback();
    else immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  return () => clearImmediate(immediate);
}
