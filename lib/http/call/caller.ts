import type { LiveCall } from "../live_calls.ts";
import type { HttpResponse } from "../response/http_response.ts";

/** The caller, who waits for a response. */
export interface Caller {
  resolve(response: HttpResponse): void;
  reject(reason: unknown): void;
}

/** The owner of the calls that have not ended: the client, or an intercepted call of it. */
export interface CallOwner {
  /** The time in ms until it ends its calls, if they have not ended by then. */
  readonly timeLeft: number;
  onBegin(call: OwnedCall): void;
  onEnd(call: OwnedCall): void;
}

/** A call that its owner can end. */
export interface OwnedCall extends LiveCall {
  abort(reason: unknown): void;
}

/** The caller of a call that was answered. */
export const ANSWERED: Caller = { resolve: () => {}, reject: () => {} };
