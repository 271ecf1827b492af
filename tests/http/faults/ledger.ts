import assert from "node:assert/strict";
import type { HttpErrorCode } from "../../../lib/http/mod.ts";

/** What became of one fetch, as its caller was told. */
export type Outcome = HttpErrorCode | "ok" | "aborted" | "cancelled";

/** One fetch in the books: what the server did about it, and what the client was told. */
export interface Entry {
  readonly method: string;
  /** Whether it may be acted on more than once. */
  readonly mayRepeat: boolean;
  /** How often the server saw it. */
  seen: number;
  /** How often the server acted on it. */
  acted: number;
  /** Faults that hit this request, in their order. */
  readonly faults: string[];
  /** Faults of the whole server while it was under way. */
  ambient: number;
  /** Whether the response's head had come. */
  hadHead: boolean;
  outcome: Outcome | undefined;
}

/** Accounts for every request: nothing hangs, nothing is lost, nothing is done twice that must not be. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  /** Faults that hit connections, or the whole server, so far. */
  ambient = 0;

  open(id: string, method: string, mayRepeat: boolean): Entry {
    const entry: Entry = {
      ...{ method, mayRepeat, seen: 0, acted: 0, faults: [], ambient: -this.ambient, hadHead: false },
      outcome: undefined,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  get(id: string): Entry {
    const entry = this.#entries.get(id);
    assert.ok(entry, `the server got a request that nobody made: ${id}`);
    return entry;
  }

  close(entry: Entry, outcome: Outcome): void {
    assert.equal(entry.outcome, undefined, "it ended twice");
    entry.outcome = outcome;
    entry.ambient += this.ambient;
  }

  /** Checks the books. @param retries Attempts beyond the first that the client makes. */
  check(retries: number): void {
    const wrong: string[] = [];
    for (const [id, entry] of this.#entries) {
      const fault = this.#wrong(entry, retries);
      if (fault) wrong.push(`${id}: ${fault} ${JSON.stringify(entry)}`);
    }
    assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} of ${this.#entries.size} requests`);
  }

  /** How often each outcome occurred. */
  outcomes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { outcome = "none" } of this.#entries.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
    return counts;
  }

  #wrong(entry: Entry, retries: number): string | undefined {
    const { outcome, acted, mayRepeat, faults, ambient, hadHead } = entry;
    if (outcome === undefined) return "it never ended";
    if (!mayRepeat && acted > 1) return "it was done more than once";
    if (outcome === "ok" && acted === 0) return "it was answered, but not done";
    if (outcome === "ok" || outcome === "aborted" || outcome === "cancelled") return undefined;
    if (faults.length + ambient === 0) return "it failed without a cause";
    const worthRetries = outcome === "CONNECTION_LOST" || outcome === "RESET" || outcome === "CONNECTION_STALE";
    if (worthRetries && mayRepeat && !hadHead && faults.length + ambient <= retries) return "it was given up too early";
    return undefined;
  }
}
