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

/** Passes on the answer of a function of the user's. @throws {TypeError} if it is a promise, which nothing waits for. */
export function atOnce<T>(option: string, answer: T): T {
  if (typeof (answer as Partial<PromiseLike<unknown>> | null | undefined)?.then !== "function") return answer;
  Promise.resolve(answer).catch(() => {});
  throw new TypeError(`${option} returned a promise, but has to answer at once: it cannot be asynchronous`);
}

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
  fail(reason: unknown): void;
}

export const ANSWERED: Caller = { resolve: () => {}, reject: () => {} };

export interface LiveCall {
  /** Neighbours in the list; only {@link LiveCalls} sets them. */
  previousCall: LiveCall | undefined;
  nextCall: LiveCall | undefined;
  /** The client is destroyed: ends it, whatever state it is in. */
  onDestroyed(): void;
  /** The client is closed: gives its response up if that was not read from since the last call of this. */
  giveUpUnread(): void;
}

/** The calls of a client that have not ended. A Set would leave its former tables behind, which lead to young calls: on Deno those lived on. */
export class LiveCalls {
  #first: LiveCall | undefined = undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  add(call: LiveCall): void {
    call.nextCall = this.#first;
    if (this.#first !== undefined) this.#first.previousCall = call;
    this.#first = call;
  }

  /** Takes one out; does nothing if it is not there. */
  delete(call: LiveCall): void {
    const { previousCall, nextCall } = call;
    if (previousCall === undefined && this.#first !== call) return;
    if (previousCall === undefined) this.#first = nextCall;
    else previousCall.nextCall = nextCall;
    if (nextCall !== undefined) nextCall.previousCall = previousCall;
    call.previousCall = undefined;
    call.nextCall = undefined;
  }

  all(): LiveCall[] {
    const calls: LiveCall[] = [];
    for (let call = this.#first; call !== undefined; call = call.nextCall) calls.push(call);
    return calls;
  }
}
