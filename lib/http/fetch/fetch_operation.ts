import type { ClientCore } from "../client_core.ts";
import type { Deadline, Deadlines } from "../deadlines.ts";
import type { Exchange, ExchangeHandler, HeaderList, ResponseHead } from "../exchange.ts";
import { HttpError } from "../http_error.ts";
import type { Origin } from "../origin/origin.ts";
import type { PooledConnection } from "../origin/pooled_connection.ts";
import type { WaitingRequest, WaitingRoom } from "../origin/waiting_list.ts";
import { AttemptBody } from "./attempt_body.ts";
import { decodedBody } from "./decoded_body.ts";
import { deliverSoon } from "./delivery.ts";
import { FailedAttempts } from "./failed_attempts.ts";
import type { FetchRequest } from "./fetch_request.ts";
import { createResponse } from "./http_response.ts";
import { verifiedBody } from "./integrity.ts";
import { redirected } from "./redirect.ts";
import type { BodySource } from "./request_body.ts";
import { ResponseBody } from "./response_body.ts";

/** Who waits for a response, over all redirects. */
export interface FetchCall {
  resolve(response: Response): void;
  reject(reason: unknown): void;
  /** Redirects so far. */
  redirects: number;
}

/** The call of an operation that has answered it. */
const ANSWERED: FetchCall = { resolve: () => {}, reject: () => {}, redirects: 0 };

/** Bytes of a redirect's body that are received so that its connection can be used again. */
const REDIRECT_BODY = 65_536;

/**
 * One request of one fetch call, from the queue of its origin to the last byte of the response: attempts, timeouts, abortion. A
 * redirect is another operation of the same call.
 */
export class FetchOperation implements ExchangeHandler, WaitingRequest, Deadline {
  readonly #core: ClientCore;
  readonly #request: FetchRequest;
  #call: FetchCall;
  readonly #origin: Origin;
  // Of WaitingRequest and Deadline: an operation is both itself, so that neither costs an object a request.
  previousWaiting: WaitingRequest | undefined = undefined;
  nextWaiting: WaitingRequest | undefined = undefined;
  waitingAt: WaitingRoom | undefined = undefined;
  readonly host: string;
  readonly pipelinable: boolean;
  expiresAt = 0;
  previousDeadline: Deadline | undefined = undefined;
  nextDeadline: Deadline | undefined = undefined;
  #deadlines: Deadlines | undefined = undefined;
  #pooled: PooledConnection | undefined = undefined;
  #exchange: Exchange | undefined = undefined;
  #body: AttemptBody | undefined = undefined;
  #head: ResponseHead | undefined = undefined;
  #responseBody: ResponseBody | undefined = undefined;
  /** Whether the response was given to the caller, or the call went on to another operation. */
  #answered = false;
  #ended = false;
  #holds = false;
  /** Whether a reader waits for bytes. */
  #isWanted = false;
  #discarded = 0;
  #failures: FailedAttempts | undefined = undefined;
  #since = 0;
  #backoff: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(core: ClientCore, request: FetchRequest, call: FetchCall) {
    this.#core = core;
    this.#request = request;
    this.#call = call;
    this.#origin = core.originOf(request.origin, request.url);
    this.host = this.#origin.target.host;
    this.pipelinable = request.idempotent && request.body === undefined;
  }

  /** Begins. */
  start(): void {
    this.#begin();
    if (this.#request.signal?.aborted) this.handleEvent();
    else this.#schedule();
  }

  /** The signal's "abort": an object that listens needs no closure. */
  handleEvent(): void {
    const { reason } = this.#request.signal!;
    this.waitingAt?.withdraw(this);
    this.#exchange?.cancel(reason);
    this.#fail(reason);
  }

  startOn(pooled: PooledConnection): void {
    // A session of another origin carries this request only if its certificate and its address are good for both.
    if (pooled.pool !== this.#origin && !pooled.carries(this.host)) {
      this.#origin.refuseAlias();
      return this.#origin.scheduleAgain(this);
    }
    this.#pooled = pooled;
    const { connection } = pooled;
    if (this.#core.options.onEvent !== undefined) this.#emitRequest(connection.protocol);
    const { body, headersTimeout = this.#core.options.headersTimeout } = this.#request;
    if (body !== undefined && !this.#openBody(body)) return;
    this.#exchange = connection.start(this.#request, this.#body, this);
    this.#hold(true);
    this.#startDeadline(headersTimeout);
  }

  /** Whether there is a body for this attempt; else the request has failed. */
  #openBody(body: BodySource): boolean {
    try {
      this.#body = this.#body?.renew() ?? new AttemptBody(body.open(), this.#request.origin);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  onNoConnection(error: unknown): void {
    this.#fail(error);
  }

  /** The client is destroyed while this waits for another attempt. */
  onDestroyed(): void {
    this.#fail(this.#core.closedError(this.#request.origin));
  }

  /** 100 and 103 tell the caller nothing that fetch has a place for. */
  onInformational(): void {}

  onHead(head: ResponseHead): void {
    this.#pooled!.onAnswer();
    this.#stopDeadline();
    this.#head = head;
    if (this.#core.options.onEvent !== undefined) this.#emitResponse(head.status);
    if (head.status === 421 && this.#origin.refuseAlias() && this.#mayRepeat()) return this.#leaveFor(this.#request);
    this.#body?.abandon();
    if (head.status >= 300 && head.status < 400 && this.#redirect(head)) return;
    // Also with HEAD and 204 there is one; it stays empty.
    this.#responseBody = new ResponseBody(this);
    deliverSoon(this);
  }

  onData(chunk: Uint8Array): void {
    if (this.#responseBody === undefined) return this.#discard(chunk.length);
    this.#stopDeadline();
    this.#isWanted = false;
    this.#responseBody.push(chunk);
    if (!this.#isWanted && this.#answered && !this.#body?.pending) this.#hold(false);
  }

  onEnd(): void {
    this.#responseBody?.end();
    this.#end();
  }

  onFail(error: HttpError, untouched: boolean): void {
    this.#exchange = undefined;
    this.#stopDeadline();
    this.#hold(false);
    if (this.#head === undefined) {
      this.#pooled!.onNoAnswer();
      if (this.#retry(error, untouched)) return;
    }
    this.#fail(error);
  }

  onExpired(): void {
    if (this.#head === undefined) return this.#onHeadersLate();
    const ms = this.#bodyTimeout;
    this.#giveUp(this.#error("BODY_TIMEOUT", `No byte of the body of ${this.#request.url.href} came for ${ms} ms`));
  }

  /** Gives the caller the response. */
  deliver(): void {
    // Aborted, or failed, in the same turn.
    if (this.#answered) return;
    this.#answered = true;
    const { url, integrity, method, origin } = this.#request;
    const head = this.#head!;
    let body: ResponseBody | undefined;
    if (method !== "HEAD" && !isNullBody(head.status)) {
      body = this.#responseBody!;
      const codings = this.#core.options.decompress ? fieldsOf(head.headers, "content-encoding") : "";
      if (codings !== "") body = decodedBody(body, codings, origin);
      if (integrity !== "") body = verifiedBody(body, integrity, origin);
    }
    const info = { url: withoutFragment(url), redirected: this.#call.redirects > 0 };
    const { resolve } = this.#call;
    // The connection holds this operation: nothing of it may lead to the response, or nobody could see that it was dropped.
    this.#call = ANSWERED;
    resolve(createResponse(head, body, info));
    if (!this.#body?.pending) this.#hold(false);
  }

  /** The reader took so many bytes (of {@link ResponseBody}). */
  consumed(bytes: number): void {
    this.#exchange?.consumed(bytes);
  }

  /** The reader waits (of {@link ResponseBody}): only now is the server late. */
  wanted(): void {
    if (this.#ended) return;
    this.#isWanted = true;
    this.#hold(true);
    if (this.expiresAt === 0) this.#startDeadline(this.#bodyTimeout);
  }

  /** The reader wants no more (of {@link ResponseBody}). */
  cancel(reason: unknown): void {
    this.#exchange?.cancel(reason);
    this.#end();
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded <= REDIRECT_BODY) return this.#exchange!.consumed(bytes);
    this.#exchange!.cancel(undefined);
    this.#end();
  }

  /** Follows a redirect; false if the response is the caller's. */
  #redirect(head: ResponseHead): boolean {
    const call = this.#call;
    const { maxRedirects } = this.#core.options;
    try {
      const next = redirected(this.#request, head.status, fieldsOf(head.headers, "location") || undefined);
      if (next === undefined) return false;
      if (call.redirects >= maxRedirects) {
        throw this.#error("REDIRECT_FAILED", `${this.#request.url.href} is one redirect more than ${maxRedirects}`);
      }
      call.redirects++;
      this.#leaveFor(next);
    } catch (error) {
      this.#giveUp(error);
    }
    return true;
  }

  /** Another operation goes on with the call; this one receives what is left of its response. */
  #leaveFor(next: FetchRequest): void {
    this.#answered = true;
    this.#hold(false);
    this.#request.signal?.removeEventListener("abort", this);
    const operation = new FetchOperation(this.#core, next, this.#call);
    operation.#begin();
    // At the end of the turn this one's response has usually ended, so that an HTTP/1.1 connection is there for the next.
    deliverSoon({ deliver: () => operation.#scheduleLate() });
  }

  #begin(): void {
    this.#core.onBegin();
    this.#request.signal?.addEventListener("abort", this);
  }

  #schedule(): void {
    if (this.#ended) return;
    if (this.#core.destroyed) return this.#fail(this.#core.closedError(this.#request.origin));
    this.#since = performance.now();
    this.#origin.schedule(this);
  }

  #scheduleLate(): void {
    this.#core.remember(this.#origin);
    this.#schedule();
  }

  #mayRepeat(): boolean {
    const { body } = this.#request;
    return body === undefined || body.replayable || !this.#body!.begun;
  }

  #retry(error: HttpError, untouched: boolean): boolean {
    if (this.#core.destroyed || !this.#mayRepeat()) return false;
    const { method, url, idempotent, body } = this.#request;
    const { kept, pool: { fruitless } } = this.#pooled!;
    const terms = { retries: this.#core.options.retries, idempotent, fruitless, kept };
    const failures = this.#failures ??= new FailedAttempts();
    const pause = failures.add(error, untouched, terms);
    if (pause === undefined) return false;
    // A body in memory is opened anew; a stream of which nothing was read goes over to the next attempt.
    if (body?.replayable) this.#body = undefined;
    this.#core.retries++;
    this.#core.emit({ type: "retry", method, url: url.href, attempt: failures.count, error });
    if (pause === 0) this.#origin.scheduleAgain(this);
    else this.#scheduleLater(pause);
    return true;
  }

  #scheduleLater(ms: number): void {
    this.#core.backoffs.add(this);
    this.#backoff = setTimeout(() => {
      this.#core.backoffs.delete(this);
      this.#core.remember(this.#origin);
      this.#origin.scheduleAgain(this);
    }, ms);
  }

  #onHeadersLate(): void {
    const ms = this.#request.headersTimeout ?? this.#core.options.headersTimeout;
    // While the body is being sent, the time is counted from its last piece.
    if (this.#body?.pending && performance.now() - this.#body.readAt < ms) return this.#deadlines!.start(this);
    this.#giveUp(this.#error("HEADERS_TIMEOUT", `${this.#request.url.href} was not answered within ${ms} ms`));
  }

  /** Whether the connection keeps the process alive for this request. */
  #hold(holds: boolean): void {
    if (holds === this.#holds) return;
    this.#holds = holds;
    if (holds) this.#pooled!.hold();
    else this.#pooled!.release();
  }

  get #bodyTimeout(): number {
    return this.#request.bodyTimeout ?? this.#core.options.bodyTimeout;
  }

  #startDeadline(ms: number): void {
    if (ms === 0) return;
    this.#deadlines = this.#core.deadlinesOf(ms);
    this.#deadlines.start(this);
  }

  #stopDeadline(): void {
    if (this.expiresAt !== 0) this.#deadlines!.stop(this);
  }

  #giveUp(error: unknown): void {
    this.#exchange?.cancel(error);
    this.#fail(error);
  }

  #fail(reason: unknown): void {
    if (this.#ended) return;
    this.#releaseBody(reason);
    if (this.#core.options.onEvent !== undefined && !(this.#answered && this.#responseBody === undefined)) {
      const { method, url } = this.#request;
      this.#core.emit({ type: "failed", method, url: url.href, error: reason });
    }
    this.#responseBody?.fail(reason);
    if (!this.#answered) {
      this.#answered = true;
      this.#call.reject(reason);
    }
    this.#end();
  }

  /** Nobody sends the rest of the body: a stream is told. */
  #releaseBody(reason: unknown): void {
    const { body } = this.#request;
    if (this.#body !== undefined) {
      this.#body.cancel(reason);
      this.#body.abandon();
    } else if (body !== undefined && !body.replayable) {
      try {
        body.open().cancel(reason);
      } catch {
        // One that cannot be opened, which may be why it fails, has nothing to cancel.
      }
    }
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopDeadline();
    this.#hold(false);
    if (this.#backoff !== undefined) {
      clearTimeout(this.#backoff);
      this.#core.backoffs.delete(this);
    }
    this.#exchange = undefined;
    this.#request.signal?.removeEventListener("abort", this);
    this.#core.onEnd();
  }

  #error(code: "HEADERS_TIMEOUT" | "BODY_TIMEOUT" | "REDIRECT_FAILED", message: string): HttpError {
    return new HttpError(code, message, { origin: this.#request.origin });
  }

  #emitRequest(protocol: "h2" | "http/1.1"): void {
    const { method, url } = this.#request;
    const now = performance.now();
    this.#core.emit({ type: "request", method, url: url.href, protocol, queuedMs: now - this.#since });
    this.#since = now;
  }

  #emitResponse(status: number): void {
    const { method, url } = this.#request;
    this.#core.emit({ type: "response", method, url: url.href, status, ms: performance.now() - this.#since });
  }
}

/** Whether responses of a status have no body (fetch: null body status). */
function isNullBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** What a response calls its URL: without the fragment, as the standard has it. */
function withoutFragment({ href }: URL): string {
  const hash = href.indexOf("#");
  return hash < 0 ? href : href.slice(0, hash);
}

/** The values of a field, joined; empty if there is none. */
function fieldsOf(headers: HeaderList, name: string): string {
  let values = "";
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name) values = values === "" ? headers[at + 1] : `${values}, ${headers[at + 1]}`;
  }
  return values;
}
