import type { HttpError } from "../http_error.ts";

/**
 * For how long, in ms, a request is sent again that servers refuse without acting on it, as long as their connections answer others:
 * a server that lowers its SETTINGS, or closes its connections after every few requests, may do so several times.
 */
export const REFUSALS = 10_000;

/** The first pause between attempts, in ms; each further one is twice as long, up to {@link LONGEST_PAUSE}. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 2000;

/** Whether a request that may be repeated is worth another attempt. */
export function retryable({ code }: HttpError): boolean {
  return code === "CONNECTION_LOST" || code === "CONNECTION_STALE" || code === "REFUSED" || code === "RESET";
}

/**
 * How long to wait before the next attempt, in ms. Nothing the first time: a connection that was closed while it was unused is the
 * usual reason. Then longer each time, and by chance, so that a burst does not come back as one.
 */
export function backoff(error: HttpError, attempts: number): number {
  if (attempts === 1 && error.code !== "REFUSED") return 0;
  return Math.ceil(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(attempts - 1, 10)) * (0.5 + Math.random() / 2));
}
