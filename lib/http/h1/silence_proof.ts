import { clearImmediate, setImmediate } from "node:timers";
import { afterPoll } from "../../runtime/mod.ts";

/** For so many ms the event loop cannot have missed much: what was read together with the last response is all there is. */
const FRESH = 1;

/**
 * Proves that an idle connection is silent, before the next request is sent on it. Bytes that came while the event loop was busy wait
 * in the system; without a look at them they would be taken for the response to the next request.
 */
export class SilenceProof {
  readonly #onProven: () => void;
  #idleSince = performance.now();
  #isNew = true;
  #cancel: (() => void) | undefined = undefined;
  #immediate: ReturnType<typeof setImmediate> | undefined = undefined;

  /** @param onProven Called once per {@link prove} at most, never within it. */
  constructor(onProven: () => void) {
    this.#onProven = onProven;
    setImmediate(() => this.#isNew = false);
  }

  /** The connection is idle from now on. */
  start(): void {
    this.#isNew = false;
    this.#idleSince = performance.now();
  }

  /** Whether nothing can have come: the connection was made in this turn. */
  get isGiven(): boolean {
    return this.#isNew;
  }

  /** Whether a proof is under way. */
  get pending(): boolean {
    return this.#immediate !== undefined || this.#cancel !== undefined;
  }

  /** Begins the proof that nothing has come since the connection was idle. */
  prove(): void {
    this.stop();
    // Of what was read at once, the rest may still be on its way here: a record of TLS after the other.
    const isFresh = performance.now() - this.#idleSince < FRESH;
    if (isFresh) this.#immediate = setImmediate(this.#proven);
    else this.#cancel = afterPoll(this.#proven);
  }

  /** Gives a proof up. */
  stop(): void {
    clearImmediate(this.#immediate);
    this.#cancel?.();
    this.#immediate = undefined;
    this.#cancel = undefined;
  }

  readonly #proven = (): void => {
    this.#immediate = undefined;
    this.#cancel = undefined;
    this.#onProven();
  };
}
