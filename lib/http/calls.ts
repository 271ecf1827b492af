import { type Context, currentContext, runIn } from "../streams/internal.ts";
import type { HttpResponse } from "./response/http_response.ts";

/** An asynchronous context in which user functions are called: that of a call of fetch, or of the client's creation. */
export class CallContext {
  readonly #context: Context = currentContext();

  run<T>(steps: () => T): T {
    return runIn(this.#context, { run: steps });
  }
}

/** Returns a user function's result. @throws {TypeError} if it is a promise, since no code awaits it. */
export function atOnce<T>(option: string, answer: T): T {
  if (typeof (answer as Partial<PromiseLike<unknown>> | null | undefined)?.then !== "function") return answer;
  Promise.resolve(answer).catch(() => {});
  throw new TypeError(`${option} returned a promise, but has to answer at once: it cannot be asynchronous`);
}

const RESOLVED = Promise.resolve();

/** Calls back in a microtask: unlike queueMicrotask(), without an AsyncResource on Node, and also if a test's clock has replaced that. */
export function inMicrotask(callback: () => void): void {
  void RESOLVED.then(callback);
}

export interface Caller {
  resolve(response: HttpResponse): void;
  reject(reason: unknown): void;
}

/** The owner of unfinished calls: the client, or one of its intercepted calls. */
export interface CallOwner {
  /** The time in ms after which the owner ends its unfinished calls. */
  readonly timeLeft: number;
  onBegin(call: OwnedCall): void;
  onEnd(call: OwnedCall): void;
}

export interface OwnedCall extends LiveCall {
  fail(reason: unknown): void;
}

export const ANSWERED: Caller = { resolve: () => {}, reject: () => {} };

export interface LiveCall {
  /** The neighbours in the list; only {@link LiveCalls} sets them. */
  previousCall: LiveCall | undefined;
  nextCall: LiveCall | undefined;
  /** Ends the call in any state, because the client is destroyed. */
  onDestroyed(): void;
  /** Gives the response up, if it was not read from since the last call of this method; the client is closed. */
  giveUpUnread(): void;
}

/** The unfinished calls of a client. Not a Set: former tables refer to young calls, which stayed alive on Deno. */
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

  /** Removes a call; does nothing if it is not in the list. */
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
