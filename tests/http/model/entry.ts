import assert from "node:assert/strict";

/** What a server does with a request; the next that sees it does the next of these, and others the last. */
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

/** How a request ended, as its caller was told. */
export type Outcome = "answered" | "cancelled" | "aborted" | `failed ${string}`;

/** A request in the books: what servers saw of it, and what its caller was told. */
export class Entry {
  readonly id: number;
  /** The host of each hop: the first, and where redirects lead. */
  readonly hosts: readonly string[];
  readonly deeds: readonly Deed[];
  /** Whether the caller allows more than one time. */
  readonly isIdempotent: boolean;
  /** How often each hop was acted on, by its number. */
  readonly acted: number[] = [];
  /** How many attempts servers saw, and how many the client says that it sent. */
  seen = 0;
  sent = 0;
  /** How often servers led it elsewhere. */
  redirects = 0;
  /** Why it may be aborted or fail, though nothing else goes wrong. */
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

  /** Its caller is told the end. */
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
