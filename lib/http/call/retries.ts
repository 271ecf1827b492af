import { parseHTTPDate } from "../../semantics/mod.ts";
import type { HeaderList } from "../connection.ts";
import type { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { joinedField } from "../response/response_headers.ts";

/**
 * Returns the wait that the Retry-After of a response demands, in ms; undefined without that field. A date counts from the server's own `Date`, if there is one, since
 * clocks differ.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3}
 */
export function retryAfter(headers: HeaderList): number | undefined {
  const value = joinedField(headers, "retry-after");
  if (/^[0-9]+$/.test(value)) return Number(value) * 1000;
  const time = parseHTTPDate(value);
  if (time === undefined) return undefined;
  return Math.max(0, time - (parseHTTPDate(joinedField(headers, "date")) ?? Date.now()));
}

/** The first pause between attempts, in ms; each further one is twice as long. */
const FIRST_PAUSE = 20;
const MAX_RETRY_DELAY = 2000;
/** The first pause after a response without Retry-After, in ms: the server has shown that it is busy. */
const FIRST_PAUSE_OF_STATUS = 500;

/** Transient failures, of a connection or its server, after which an idempotent request is sent again. */
export const TRANSIENT: ReadonlySet<string> = new Set(["CONNECTION_LOST", "CONNECTION_STALE", "REFUSED", "RESET"]);

/** The fate of a request on its connection, as of {@link ExchangeHandler.onFail}. */
export type Fate = Readonly<Record<"untouched" | "unsent", boolean>>;

type Repeated = Pick<FetchRequest, "idempotent" | "limits">;

/** The attempts of a call without a response for its caller: `1 + retries`, and one more on a new connection if one was stale. */
export class RetryPolicy {
  count = 0;
  #free = 0;
  /** The time of the first attempt of which nothing was sent. For as long as a request may wait for a connection, these are waits, and not counted. */
  #unsentSince: number | undefined = undefined;

  /**
   * Adds an attempt without a response. `stale`: the connection had ended, or speaks a refused protocol. @returns the ms to wait before the next attempt, or undefined.
   */
  add(
    { code }: HttpError,
    { idempotent, limits: { retries, queueTimeout } }: Repeated,
    { untouched, unsent, stale }: Fate & { readonly stale: boolean },
  ): number | undefined {
    if (unsent && performance.now() - (this.#unsentSince ??= performance.now()) < (queueTimeout || Infinity)) return 0;
    this.count++;
    if (!untouched && !(idempotent && TRANSIENT.has(code))) return undefined;
    if (stale) this.#free = 1;
    if (this.count > retries + this.#free) return undefined;
    // No pause the first time: usually the server had closed the connection while it was idle.
    if (stale || (this.count === 1 && code !== "REFUSED")) return 0;
    return byChance(Math.min(MAX_RETRY_DELAY, FIRST_PAUSE * 2 ** Math.min(this.count - 1, 10)));
  }

  /** Adds an attempt whose response has a status to retry, with its Retry-After. @returns as {@link add}. */
  addAnswered(asked: number | undefined, { idempotent, limits }: Repeated): number | undefined {
    this.count++;
    const { retries, maxRetryAfter: longest } = limits;
    if (!idempotent || this.count > retries + this.#free) return undefined;
    const pause = asked === undefined
      ? byChance(Math.min(longest, FIRST_PAUSE_OF_STATUS * 2 ** Math.min(this.count - 1, 10)))
      : Math.max(asked, byChance(FIRST_PAUSE));
    return pause > longest ? undefined : pause;
  }
}

/** Returns a random time from half of a pause to all of it, so that the requests of a burst are not retried at once. */
function byChance(ms: number): number {
  return Math.ceil(ms * (0.5 + Math.random() / 2));
}
