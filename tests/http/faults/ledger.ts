import assert from "node:assert/strict";
import type { HttpErrorCode } from "../../../lib/http/mod.ts";

/** The outcome of one fetch, as its caller saw it. */
export type Outcome = HttpErrorCode | "ok" | "aborted" | "cancelled";

/** The properties of a fetch that are known at its start. */
export interface Made {
  readonly method: string;
  /** Whether the server may act on it more than once. */
  readonly mayRepeat: boolean;
  /** Whether its body can be sent again. */
  readonly isReplayable: boolean;
}

/** The record of one fetch: the server's actions, and the client's outcome. */
export interface Entry extends Made {
  /** The number of times the server received it. */
  seen: number;
  /** The number of times the server acted on it. */
  acted: number;
  /** The server's faults with this request, in order. */
  readonly faults: string[];
  /** The time of its start in ticks. */
  readonly began: number;
  /** Faults of whole connections or of the server that it may have met. */
  ambient: number;
  /** Whether an attempt received a response head: later faults are final. */
  hadHead: boolean;
  outcome: Outcome | undefined;
}

/** The time after a fault of a connection during which a client may still run into it, in ticks. */
const ECHO = 25;
/** The length of a tick in ms. A process that is stalled has fewer ticks, not a later fault. */
const TICK = 10;

/** Accounts for every request: nothing hangs, nothing is lost, nothing is done twice that must not be. */
export class Ledger {
  /** The number of fetches that have ended. */
  closed = 0;
  #now = 0;
  readonly #clock = setInterval(() => this.#now++, TICK);
  readonly #entries = new Map<string, Entry>();
  /** Faults of connections or of the whole server. */
  readonly #ambient: { ended: number }[] = [];

  open(id: string, made: Made): Entry {
    const entry: Entry = {
      ...made,
      ...{ seen: 0, acted: 0, faults: [], began: this.#now, ambient: 0, hadHead: false, outcome: undefined },
    };
    this.#entries.set(id, entry);
    return entry;
  }

  get(id: string | undefined): Entry {
    const entry = this.#entries.get(String(id));
    assert.ok(entry, `the server got a request that nobody made: ${id}`);
    return entry;
  }

  /** Stops the clock after the last fault. */
  stop(): void {
    clearInterval(this.#clock);
  }

  /** A connection, or the whole server, goes wrong. */
  fault(): void {
    this.#ambient.push({ ended: this.#now });
  }

  /** Notes a fault that lasts. @returns a function to call at its end. */
  lastingFault(): () => void {
    const fault = { ended: Infinity };
    this.#ambient.push(fault);
    return () => {
      fault.ended = this.#now;
    };
  }

  close(entry: Entry, outcome: Outcome): void {
    assert.equal(entry.outcome, undefined, "it ended twice");
    this.closed++;
    entry.outcome = outcome;
    const isMet = ({ ended }: { readonly ended: number }): boolean => ended + ECHO >= entry.began;
    entry.ambient = this.#ambient.filter(isMet).length;
  }

  /** Checks the books. @param retries Attempts beyond the first that the client makes. */
  check(retries: number): void {
    const wrong: string[] = [];
    for (const [id, entry] of this.#entries) {
      const fault = wrongIn(entry, retries);
      if (fault) wrong.push(`${id}: ${fault} ${JSON.stringify(entry)}`);
    }
    assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} of ${this.#entries.size} requests`);
  }

  /** Returns the count of each outcome. */
  outcomes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { outcome = "none" } of this.#entries.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
    return counts;
  }
}

function wrongIn(entry: Entry, retries: number): string | undefined {
  const { outcome, acted, mayRepeat, isReplayable, faults, ambient, hadHead } = entry;
  const causes = faults.length + ambient;
  if (outcome === undefined) return "it never ended";
  if (!mayRepeat && acted > 1) return "it was done more than once";
  if (outcome === "ok" && acted === 0) return "it was answered, but not done";
  if (outcome === "ok" || outcome === "aborted" || outcome === "cancelled") return undefined;
  if (causes === 0) return "it failed without a cause";
  // A fault of many connections may meet one request more than once.
  const isRetried = outcome === "CONNECTION_LOST" || outcome === "RESET" || outcome === "CONNECTION_STALE";
  if (isRetried && mayRepeat && isReplayable && !hadHead && ambient === 0 && causes <= retries) {
    return "it was given up too early";
  }
  return undefined;
}
