import assert from "node:assert/strict";

/** A server's action on a request; each server that sees the request takes the next one, and the last one repeats. */
export type Deed =
  | "answer"
  | "answer slowly"
  | "answer before the body"
  | "answer in pieces"
  | "refuse"
  | "go away"
  | "reset"
  | "cut"
  | "cut before acting"
  | "never answer"
  | "never end"
  | "redirect";

/** The end of a request, as its caller saw it. */
export type Outcome = "answered" | "cancelled" | "aborted" | `failed ${string}`;

/** The record of a request: what servers saw of it, and what its caller saw. */
export class Entry {
  readonly id: number;
  /** The host of each hop: the first, and where redirects lead. */
  readonly hosts: readonly string[];
  readonly deeds: readonly Deed[];
  /** Whether the caller allows more than one time. */
  readonly isIdempotent: boolean;
  /** The number of times that each hop was acted on, by its number. */
  readonly acted: number[] = [];
  /** The number of attempts that servers saw, and the number that the client reports. */
  seen = 0;
  sent = 0;
  /** The number of attempts at its last retry. */
  attempts = 0;
  /** The number of redirects. */
  redirects = 0;
  /** The reason for which it may be aborted or fail, though nothing else goes wrong. */
  isGivenUp = false;
  outcome: Outcome | undefined = undefined;
  readonly wrong: string[] = [];

  constructor(id: number, hosts: readonly string[], deeds: readonly Deed[], isIdempotent: boolean) {
    this.id = id;
    this.hosts = hosts;
    this.deeds = deeds;
    this.isIdempotent = isIdempotent;
  }

  /** A server acts on a hop of it. */
  act(hop: number, method: string): void {
    this.acted[hop] = (this.acted[hop] ?? 0) + 1;
    if (this.acted[hop] > 1 && method === "POST" && !this.isIdempotent) this.wrong.push(`hop ${hop} was done twice`);
  }

  /** Records the end that its caller saw. */
  end(outcome: Outcome): void {
    assert.equal(this.outcome, undefined, `request ${this.id} ended twice`);
    this.outcome = outcome;
  }

  /**
   * Checks it, after everything.
   *
   * @param isCalm Whether nothing went wrong with servers, names and addresses.
   * @param retries Attempts after the first that it may have, besides the one after a stale connection.
   */
  check(isCalm: boolean, retries: number): void {
    const most = 1 + retries + 1 + this.redirects;
    if (this.seen > most || this.sent > most) this.wrong.push(`more than ${most} attempts`);
    if (this.outcome === undefined) this.wrong.push("it never ended");
    if (isCalm && !this.isGivenUp && this.outcome !== "answered") this.wrong.push("it was not answered");
    assert.deepEqual(this.wrong, [], `request ${this.id}: ${JSON.stringify(this)}`);
  }
}
