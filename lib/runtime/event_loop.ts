import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";

const isDeno = "Deno" in globalThis;

/**
 * Immediates that run in turn until the event loop has looked at all sockets and handed out what it found.
 * Node and Bun run one after each look; the first may follow on an earlier look. Deno's scheduler, tokio, looks after
 * 61 tasks at the latest (its `event_interval`) while V8 has work in the background.
 */
const TURNS = isDeno ? 64 : 2;

/** The callbacks of {@linkcode afterPoll}, in the order in which they are due, which is counted as {@linkcode turns} is. */
const waiting: { readonly due: number; readonly callback: () => void }[] = [];
let turns = 0;
/** Whether an immediate is set. One a turn is for all: on Deno each took 80 µs by itself. */
let isTurning = false;

/** Calls back once the event loop has looked at all sockets, so that whatever they had received by now was handed out. */
export function afterPoll(callback: () => void): void {
  waiting.push({ due: turns + TURNS, callback });
  if (isTurning) return;
  isTurning = true;
  setImmediate(turn);
}

function turn(): void {
  turns++;
  try {
    while (waiting.length > 0 && waiting[0].due <= turns) waiting.shift()!.callback();
  } finally {
    isTurning = waiting.length > 0; // also if a callback of others threw
    if (isTurning) setImmediate(turn);
  }
}

/** The size below which other work makes enough objects. */
const LARGE = 16 * 1024;
/** The most bytes that count: a quarter of it is kept until the next call. */
const MOST = 256 * 1024;

/** Here, so that no compiler leaves it out. */
const kept: unknown[] = [undefined];

/**
 * Has V8 free the memory of large chunks in time: readers of them make few young objects, and V8 would mark its whole
 * heap. Arrays for nothing bring the cheap collection: 0.6 s of CPU a GB instead of 1.1 on Node, 120 MB instead of 160.
 */
export const makeYoungObjects: (bytes: number) => void = "Bun" in globalThis ? () => {} : (bytes) => {
  if (bytes >= LARGE) kept[0] = new Array(Math.min(bytes, MOST) >> 5);
};

/** The system's socket below a TLS socket, as Node and Deno have it inside. */
interface Inside {
  readonly _handle?: { readonly _parent?: { readStart?(): void; readStop?(): void } } | null;
}

/**
 * Has a TLS socket read nothing from the network, or read again, besides `pause()` and `resume()`: Deno's own receives
 * without a limit while it is paused (138 MB in 1.5 s). Does nothing where the inside looks different.
 */
export function holdTlsReads(socket: TLSSocket, held: boolean): void {
  if (!isDeno) return;
  const below = (socket as unknown as Inside)._handle?._parent;
  if (held) below?.readStop?.();
  else below?.readStart?.();
}

/** Whether the runtime lets no later import of a module succeed once one has failed, as for want of a descriptor: Bun 1.4. */
export const keepsFailedImports: boolean = "Bun" in globalThis;

/** Whether the runtime collects channels of `node:diagnostics_channel` that nothing holds, though they have subscribers: Bun 1.4. */
export const collectsChannels: boolean = "Bun" in globalThis;
