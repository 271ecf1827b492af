import { globalFunction } from "#streams/host";

/** Captured once, like all functions that streams depend on, so that faked timers do not stop them. */
const immediately = globalFunction("setImmediate");

/** Runs `steps` when the current turn of the event loop ends: after all microtasks, before the loop waits. */
export function atEndOfTurn(steps: () => void): void {
  if (immediately !== undefined) immediately(steps);
  else postMessage(steps);
}

const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined = undefined;

/** Posts a message to this page: browsers have no `setImmediate()`, and their `setTimeout()` waits for 4 ms. */
function postMessage(steps: () => void): void {
  if (channel === undefined) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()!();
  }
  waiting.push(steps);
  channel.port2.postMessage(undefined);
}
