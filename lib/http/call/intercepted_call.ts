import type { ClientCore } from "../client_core.ts";
import { HttpError } from "../http_error.ts";
import type { HttpInterceptor, HttpRequest } from "../http_interceptor.ts";
import type { LiveCall } from "../live_calls.ts";
import { type HttpResponse, withTrailers } from "../response/http_response.ts";
import { ANSWERED, type Caller, type CallOwner, type OwnedCall } from "./caller.ts";
import { send } from "./send.ts";
import { TotalDeadline } from "./total_deadline.ts";

/**
 * A call of fetch that goes through interceptors: it owns the calls that they make by `next`. Whatever ends it (the interceptors'
 * response or error, the signal, the timeout, the client), it answers its caller once, and takes its calls along if it fails.
 */
export class InterceptedCall implements CallOwner, LiveCall {
  previousCall: LiveCall | undefined = undefined;
  nextCall: LiveCall | undefined = undefined;
  readonly #core: ClientCore;
  readonly #request: HttpRequest;
  readonly #interceptors: readonly HttpInterceptor[];
  #caller: Caller;
  readonly #calls = new Set<OwnedCall>();
  #total: TotalDeadline | undefined = undefined;
  #isAnswered = false;
  #isLive = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  /** @param interceptors The outermost first; at least one. */
  constructor(core: ClientCore, request: HttpRequest, interceptors: readonly HttpInterceptor[], caller: Caller) {
    this.#core = core;
    this.#request = request;
    this.#interceptors = interceptors;
    this.#caller = caller;
  }

  /**
   * Begins.
   *
   * @throws {HttpError} CLIENT_CLOSED if the client is closed.
   */
  start(): void {
    if (this.#core.closed) throw this.#core.closedError(originOf(this.#request.url));
    const { signal, timeout = this.#core.options.timeout } = this.#request;
    this.#live();
    if (signal?.aborted) return this.#fail(signal.reason);
    signal?.addEventListener("abort", this);
    if (timeout > 0) this.#total = new TotalDeadline(this.#core.deadlinesOf(timeout), () => this.#onTimeout(timeout));
    this.#pass(this.#request, 0).then((response) => this.#answer(response), (reason) => this.#fail(reason));
  }

  get timeLeft(): number {
    return this.#total?.left ?? Infinity;
  }

  /** The signal's "abort". */
  handleEvent(): void {
    this.#fail(this.#request.signal!.reason);
  }

  onDestroyed(): void {
    this.#fail(this.#core.closedError(originOf(this.#request.url)));
  }

  onBegin(call: OwnedCall): void {
    this.#calls.add(call);
    this.#live();
  }

  onEnd(call: OwnedCall): void {
    this.#calls.delete(call);
    this.#endIfOver();
  }

  /** Gives a request to an interceptor, or to the server after the last. */
  async #pass(request: HttpRequest, at: number): Promise<HttpResponse> {
    if (this.#failure !== undefined) throw this.#failure.reason;
    const interceptor = this.#interceptors[at];
    if (interceptor === undefined) return await this.#send(request);
    const response = await interceptor(request, (next) => this.#pass(next, at + 1));
    if (typeof response?.status === "number" && "headers" in response) return withTrailers(response);
    throw new TypeError(`An interceptor must return a Response, not ${String(response)}`);
  }

  #send(request: HttpRequest): Promise<HttpResponse> {
    if (typeof request !== "object" || request === null) {
      throw new TypeError("next() must be given the request to send");
    }
    // A call that an interceptor makes when its own was answered is a new one.
    if (this.#core.closed && !this.#isLive) throw this.#core.closedError(originOf(request.url));
    return new Promise((resolve, reject) => send(this.#core, request.url, request, { resolve, reject }, this));
  }

  #answer(response: HttpResponse): void {
    if (this.#isAnswered) return discard(response);
    this.#isAnswered = true;
    const { resolve } = this.#caller;
    // As in a call: nothing that a connection holds may lead to the response.
    this.#caller = ANSWERED;
    resolve(response);
    this.#endIfOver();
  }

  #onTimeout(ms: number): void {
    this.#fail(
      new HttpError("TIMEOUT", `${this.#request.url} took more than ${ms} ms (timeout)`, {
        origin: originOf(this.#request.url),
      }),
    );
  }

  /** Fails for good: also what it has answered with, as far as the client has it to read. */
  #fail(reason: unknown): void {
    if (this.#failure !== undefined || (this.#isAnswered && !this.#isLive)) return;
    this.#failure = { reason };
    for (const call of [...this.#calls]) call.abort(reason);
    if (!this.#isAnswered) this.#caller.reject(reason);
    this.#isAnswered = true;
    this.#endIfOver();
  }

  #live(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#core.onBegin(this);
  }

  #endIfOver(): void {
    if (!this.#isLive || !this.#isAnswered || this.#calls.size > 0) return;
    this.#isLive = false;
    this.#total?.stop();
    this.#total = undefined;
    this.#request.signal?.removeEventListener("abort", this);
    this.#core.onEnd(this);
  }
}

/** The origin of a URL, which may be none that can be parsed. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Lets go of a response that came when nobody waited any more. */
function discard({ body }: Response): void {
  // What an interceptor gives may be no more than like one.
  if (body?.locked === false) body.cancel().catch(() => {});
}
