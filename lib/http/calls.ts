import { type Context, currentContext, runIn } from "../streams/internal.ts";
import type { HttpResponse } from "./response/http_response.ts";

/** An asynchronous context, that of a call of fetch or of a client's making, in which functions of the user's are called. */
export class CallContext {
  readonly #context: Context = currentContext();

  run<T>(steps: () => T): T {
    let result: T;
    runIn(this.#context, { run: () => void (result = steps()) });
    return result!;
  }
}

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

export interface OwnedCall extends LiveCall {
  abort(reason: unknown): void;
}

export const ANSWERED: Caller = { resolve: () => {}, reject: () => {} };

export interface LiveCall {
  /** The client is destroyed: ends it, whatever state it is in. */
  onDestroyed(): void;
  /** The client is closed: gives its response up if that was not read from since the last call of this. */
  giveUpUnread(): void;
}
