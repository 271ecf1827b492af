import { setImmediate } from "node:timers";
import { afterPoll, readsWithinTurn } from "../../runtime/mod.ts";
import { type Context, currentContext, runIn } from "../../streams/internal.ts";

/** For so many ms the event loop cannot have missed much: what was read together with the last response is all there is. */
const FRESH = 1;

/** Proofs that end with this turn: one immediate is for all of them. */
let fresh: SilenceProof[] = [];

/**
 * Proves that an idle connection is silent, before the next request is sent on it. Bytes that came while the event loop was busy wait
 * in the system; without a look at them they would be taken for the response to the next request.
 */
export class SilenceProof {
  readonly #proven: { readonly run: () => void };
  /** The one of the request that waits: an immediate that others share is in that of one of them. */
  #context: Context = undefined;
  #idleSince = performance.now();
  #isNew = true;
  #isPending = false;
  #cancel: (() => void) | undefined = undefined;

  /** @param onProven Called once per {@link prove} at most, never within it, in its asynchronous context. */
  constructor(onProven: () => void) {
    this.#proven = { run: onProven };
    setImmediate(() => this.#isNew = false);
  }

  /** The connection is idle from now on. */
  start(): void {
    this.#isNew = false;
    this.#idleSince = performance.now();
  }

  /** Whether there is nothing to wait for: the connection was made in this turn, or nothing more is known at its end. */
  get isGiven(): boolean {
    return this.#isNew || (!readsWithinTurn && this.#isFresh);
  }

  get pending(): boolean {
    return this.#isPending;
  }

  /** Begins the proof that nothing has come since the connection was idle. */
  prove(): void {
    this.stop();
    this.#isPending = true;
    this.#context = currentContext();
    if (!this.#isFresh) {
      this.#cancel = afterPoll(() => {
        this.#cancel = undefined;
        this.end();
      });
      return;
    }
    // Of what was read at once, the rest may still be on its way here: a record of TLS after the other.
    if (fresh.push(this) === 1) setImmediate(endAll);
  }

  stop(): void {
    this.#isPending = false;
    this.#context = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Nothing came, unless the proof was given up. */
  end(): void {
    if (!this.#isPending || this.#cancel !== undefined) return;
    const context = this.#context;
    this.stop();
    runIn(context, this.#proven);
  }

  get #isFresh(): boolean {
    return performance.now() - this.#idleSince < FRESH;
  }
}

function endAll(): void {
  const due = fresh;
  fresh = [];
  for (const proof of due) proof.end();
}
