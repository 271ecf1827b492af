import { parseHTTPDate } from "../../semantics/mod.ts";
import type { HeaderList } from "../connection.ts";
import type { HttpError } from "../http_error.ts";
import { joinedField } from "../response/response_headers.ts";

/**
 * How long a response asks to wait before the next attempt, in ms; undefined if it does not say. A date counts from the server's own
 * `Date` where there is one, as clocks differ.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3}
 */
export function retryAfter(headers: HeaderList): number | undefined {
  const value = joinedField(headers, "retry-after");
  if (/^[0-9]+$/.test(value)) return Number(value) * 1000;
  const time = parseHTTPDate(value);
  if (time === undefined) return undefined;
  return Math.max(0, time - (parseHTTPDate(joinedField(headers, "date")) ?? Date.now()));
}

/**
 * For how long, in ms, a request is sent again that servers refuse without acting on it, as long as their connections answer others:
 * a server that lowers its SETTINGS, or closes its connections after every few requests, may do so several times.
 */
const REFUSALS = 10_000;
/** The first pause between attempts, in ms; each further one is twice as long. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 2000;
/** The same after a response that does not say when to come back: its server has told that it is busy. */
const FIRST_PAUSE_OF_STATUS = 500;

/** The facts that decide about retries of a request, besides its failures. */
export interface RetryTerms {
  /** Attempts after the first that it may have. */
  readonly retries: number;
  /** Whether it may be acted on twice. */
  readonly idempotent: boolean;
  /** Connections in a row that answered nobody. */
  readonly fruitless: number;
  /** Whether the connection had been kept from an answer before, so that its server may have closed it meanwhile. */
  readonly kept: boolean;
}

/** The attempts at a request that failed: no response came, or one whose status is a reason to try again. Times are in ms. */
export class FailedAttempts {
  count = 0;
  #refusals = 0;
  #stale = 0;
  #refusedSince = 0;

  /** Adds one. @returns how long to wait before the next attempt; undefined if there is to be none. */
  add(error: HttpError, untouched: boolean, terms: RetryTerms): number | undefined {
    this.count++;
    if (terms.kept && (untouched || terms.idempotent) && error.code === "CONNECTION_LOST") {
      // It says nothing of the server, and each uses up a connection that is no more.
      this.#stale++;
      return 0;
    }
    const worthIt = untouched ? this.#mayAskAgain(terms) : this.#mayRetry(error, terms);
    return worthIt ? this.#pause(error) : undefined;
  }

  /** Adds one that was answered with a status to be retried, and may have asked to wait for so long. @returns As {@link add}. */
  addAnswered(asked: number | undefined, longest: number, terms: RetryTerms): number | undefined {
    if (!terms.idempotent || this.#counted >= terms.retries) return undefined;
    this.count++;
    const pause = asked === undefined
      ? byChance(Math.min(longest, FIRST_PAUSE_OF_STATUS * 2 ** Math.min(this.#counted - 1, 10)))
      : Math.max(asked, byChance(FIRST_PAUSE));
    return pause > longest ? undefined : pause;
  }

  /** How many count for the limit of retries. */
  get #counted(): number {
    return this.count - this.#refusals - this.#stale;
  }

  /** Servers refuse each request now and then, and some always. */
  #mayAskAgain({ retries, fruitless }: RetryTerms): boolean {
    if (fruitless > retries) return false;
    const now = performance.now();
    if (++this.#refusals === 1) this.#refusedSince = now;
    return this.#refusals <= retries || now - this.#refusedSince < REFUSALS;
  }

  #mayRetry({ code }: HttpError, { retries, idempotent }: RetryTerms): boolean {
    if (!idempotent || this.#counted > retries) return false;
    return code === "CONNECTION_LOST" || code === "CONNECTION_STALE" || code === "REFUSED" || code === "RESET";
  }

  /**
   * None the first time: a connection that was closed while it was unused is the usual reason. Then longer each time, and by
   * chance, so that a burst does not come back as one.
   */
  #pause({ code }: HttpError): number {
    if (this.count === 1 && code !== "REFUSED") return 0;
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(this.count - 1, 10));
    return byChance(longest);
  }
}

/** From half of a pause to the whole. */
function byChance(ms: number): number {
  return Math.ceil(ms * (0.5 + Math.random() / 2));
}
