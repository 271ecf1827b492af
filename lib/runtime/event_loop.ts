import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";

const isDeno = "Deno" in globalThis;

/**
 * The number of successive immediates after which the event loop has polled all sockets and delivered the events. Node
 * and Bun run one after each poll; the first may belong to an earlier poll. Deno's scheduler, tokio, polls at least
 * every 61 tasks (its `event_interval`).
 */
const TURNS = isDeno ? 64 : 2;

/** The callbacks of {@linkcode afterPoll}, ordered by their due times, which are counts of {@linkcode turns}. */
const waiting: { readonly due: number; readonly callback: () => void }[] = [];
let turns = 0;
/** Whether an immediate is set. One serves all callbacks, since each took 80 µs on Deno. */
let isTurning = false;

/** Calls back once the event loop has polled all sockets and delivered the data received before the call. */
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
    isTurning = waiting.length > 0; // also after a callback threw
    if (isTurning) setImmediate(turn);
  }
}

/** The size below which other work allocates enough young objects. */
const LARGE = 16 * 1024;
/** The maximum counted size of a chunk: an array of a quarter of that is kept until the next call. */
const MAX_COUNTED_SIZE = 256 * 1024;

/** A variable of the module, so that no compiler removes the allocation. */
const kept: unknown[] = [undefined];

/**
 * Makes V8 free the memory of large chunks in time. Their readers make few young objects, so V8 would mark its whole
 * heap. Unused arrays cause minor collections instead: 0.6 s of CPU a GB instead of 1.1 on Node, and 120 MB instead of
 * 160.
 */
export const makeYoungObjects: (bytes: number) => void = "Bun" in globalThis ? () => {} : (bytes) => {
  if (bytes >= LARGE) kept[0] = new Array(Math.min(bytes, MAX_COUNTED_SIZE) >> 5);
};

/** The internal TCP socket of a TLS socket on Node and Deno. */
interface Inside {
  readonly _handle?: { readonly _parent?: { readStart?(): void; readStop?(): void } } | null;
}

/** Pauses or resumes reads of a TLS socket, if it can: a paused one of Deno receives without limit, 138 MB in 1.5 s. */
export function pauseTlsReads(socket: TLSSocket, held: boolean): void {
  if (!isDeno) return;
  const below = (socket as unknown as Inside)._handle?._parent;
  if (held) below?.readStop?.();
  else below?.readStart?.();
}

/** Whether later imports of a module fail once one has failed, for example without a free descriptor: on Bun 1.4. */
export const keepsFailedImports: boolean = "Bun" in globalThis;

/** Whether the runtime collects unreferenced channels of `node:diagnostics_channel` in spite of subscribers: on Bun 1.4. */
export const collectsChannels: boolean = "Bun" in globalThis;
