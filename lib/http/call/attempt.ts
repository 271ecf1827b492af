import type { CallContext } from "../calls.ts";
import type { ClientCore } from "../client_core.ts";
import type { DeadlineList, Timed } from "../../timers/mod.ts";
import type { RequestTrace } from "../diagnostics/diagnostics_channel.ts";
import type { Exchange, ExchangeHandler, HeaderList, ResponseHead } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { PooledConnection } from "../origin/connection_pool.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { type BodyControl, type Failure, ResponseBody, Unreachable } from "../response/response_body.ts";
import { responseHeaders } from "../response/response_headers.ts";
import type { AttemptBody } from "./attempt_body.ts";
import type { Fate } from "./retries.ts";

/** The owner of an attempt, called with its progress. It gets exactly one end, unless it cancelled or detached the attempt. */
export interface AttemptOwner {
  readonly context: CallContext | undefined;
  onHead(head: ResponseHead): void;
  /** The response has ended, or its rest is unwanted. @param lost The reason why the server may not have all of the request's body. */
  onReceived(lost?: HttpError): void;
  onLost(error: HttpError, fate: Fate): void;
  /** There is no complete response, and no other attempt will help: the response was cut off, or came too late. */
  fail(reason: unknown): void;
}

/** The maximum of informational (1xx) responses to one request; their fields share the limit of a head. */
const MAX_INFORMATIONAL = 1000;
/** The maximum bytes of an unread body that are received so that the connection can be reused. */
const DISCARDED_BYTES = 65_536;
/** The maximum time in ms for receiving the rest of an unread body. */
const DISCARDED_WITHIN = 1000;

const ignore = (): void => {};

type EndedRequest = Pick<FetchRequest, "signal" | "origin"> & { readonly core: ClientCore };

/** Returns the reason why the request has ended; one shared function, since a closure would take a fiftieth of a request's time. */
function revoked(this: EndedRequest): Failure | undefined {
  return this.core.revocationOf(this);
}

/** A request on its way over one connection. Its deadline covers one wait at a time: for the head, a read's next byte, or an unread body's end. */
export class Attempt implements ExchangeHandler, Timed, BodyControl {
  // From Timed, which the attempt implements itself to save an object for each request.
  expiresAt = 0;
  previousTimed: Timed | undefined = undefined;
  nextTimed: Timed | undefined = undefined;
  /** The body of the response; undefined before the caller wants it, and if it is discarded. */
  responseBody: ResponseBody | undefined = undefined;
  readonly #core: ClientCore;
  readonly #request: FetchRequest;
  readonly #trace: RequestTrace | undefined;
  #upload: AttemptBody | undefined;
  readonly pooled: PooledConnection;
  #owner: AttemptOwner | undefined;
  #deadlines: DeadlineList | undefined = undefined;
  #exchange: Exchange | undefined = undefined;
  #hasHead = false;
  #isAccepted = false;
  /** The number of informational responses so far, and the size of their fields. */
  #informational = 0;
  #informationalBytes = 0;
  #isDelivered = false;
  #isOver = false;
  /** Whether the response has ended while the request's body is still being sent. */
  #sendsLate = false;
  /** The trailers of a response that has ended before its request. */
  #trailers: HeaderList | undefined = undefined;
  #holds = false;
  #isWanted = false;
  #discards = false;
  #discarded = 0;
  /** Whether an unreachable response is kept for up to `bodyTimeout`, since its server may still read the request. */
  #lingers = false;
  /** Whether the response was read from since the last call of {@link isUnread}. */
  #isRead = true;

  constructor(
    core: ClientCore,
    request: FetchRequest,
    upload: AttemptBody | undefined,
    pooled: PooledConnection,
    trace: RequestTrace | undefined,
    owner: AttemptOwner,
  ) {
    this.#core = core;
    this.#request = trace?.request ?? request;
    this.#trace = trace;
    this.#upload = upload;
    this.pooled = pooled;
    this.#owner = owner;
  }

  start(): void {
    this.#exchange = this.pooled.connection.start(this.#request, this.#upload, this);
    if (this.#isOver) return this.#exchange.cancel(undefined); // the body's first step has ended the attempt
    this.#keepProcess(true);
    this.#startDeadline(this.#request.limits.headersTimeout);
    if (this.#upload === undefined) this.#trace?.onBodySent();
  }

  receive(): ResponseBody {
    return this.responseBody = new ResponseBody(this);
  }

  /** Discards the rest of the response, up to {@link DISCARDED_BYTES} of which are received to keep the connection. */
  discard(): void {
    if (this.#isOver) return;
    this.#discards = true;
    this.#startDeadline(this.#exchange!.isSending ? this.#request.limits.bodyTimeout : this.#discardedWithin);
  }

  /** Discards the rest of the response, and does not send the rest of the request. The owner is not called any more. */
  detach(): void {
    if (this.#exchange?.isSending) {
      return this.giveUp(new TypeError("The response came before the request's body had ended"));
    }
    this.#owner = undefined;
    this.#trace?.onEnd();
    this.#keepProcess(false);
    this.discard();
  }

  onDelivered(): void {
    this.#isDelivered = true;
    this.#holdIfNeeded();
  }

  /** Ends the attempt in any state, without a call of the owner. */
  giveUp(reason: unknown): void {
    this.#owner = undefined;
    this.#exchange?.cancel(reason);
    this.#end();
    this.#trace?.onError(reason);
    this.responseBody?.fail(reason);
  }

  /** Whether the caller has the response, but has neither read from it nor sent bytes since the last call, `ms` ago. */
  isUnread(ms: number): boolean {
    const sends = this.#exchange !== undefined && performance.now() - this.#exchange.progressAt < ms;
    const isUnread = this.#isDelivered && !this.#isWanted && !this.#isRead && !this.#sendsLate && !sends;
    this.#isRead = false;
    return isUnread;
  }

  // Events of the connection.

  onInformational(status: number, fields: HeaderList): void {
    if (status === 100) this.#upload?.proceed();
    let size = 0;
    for (const part of fields) size += part.length;
    this.#informationalBytes += size;
    if (++this.#informational > MAX_INFORMATIONAL || this.#informationalBytes > this.#core.options.maxHeaderSize) {
      const message =
        `${this.#request.url.href} was answered with more informational responses than maxHeaderSize allows`;
      return this.#stop(this.#error("LIMIT_EXCEEDED", message));
    }
    const told = this.#request.limits.onInformational;
    if (told !== undefined) this.#core.notify(() => told(status, responseHeaders(fields)), this.#owner?.context);
  }

  onHead(head: ResponseHead): void {
    if (!this.pooled.kept) this.pooled.pool.onProved(true);
    this.pooled.kept = true;
    this.#deadlines?.stop(this);
    this.#hasHead = true;
    this.#isAccepted = head.status < 300;
    if (this.#isAccepted) this.#upload?.proceed(); // the server may respond while the body arrives
    this.#owner?.onHead(head);
  }

  onData(chunk: Uint8Array, isOwn?: boolean): void {
    if (this.responseBody === undefined) {
      this.#discarded += chunk.length;
      if (this.#discarded <= DISCARDED_BYTES || this.#exchange!.isSending) this.#exchange!.consumed(chunk.length);
      else if (!this.#lingers) this.#leaveRest(undefined);
      return;
    }
    this.#deadlines?.stop(this);
    this.#isWanted = false;
    this.responseBody.push(chunk, isOwn);
    this.#holdIfNeeded();
  }

  onEnd(trailers: HeaderList | undefined, isSending: boolean): void {
    if (!isSending) {
      this.#end();
      this.#trace?.onEnd(trailers);
      this.responseBody?.end(trailers);
      return this.#owner?.onReceived();
    }
    // The server accepts the request although it has responded early: the rest is sent, and the deadline is for that.
    this.#sendsLate = true;
    this.#trailers = trailers;
    this.#discards = this.#isWanted = false;
    this.#keepProcess(true);
    this.#startDeadline(this.#request.limits.bodyTimeout);
    this.responseBody?.end(trailers);
  }

  onSent(isWhole: boolean): void {
    if (isWhole) {
      this.#upload?.tellProgress();
      this.#trace?.onBodySent();
    }
    if (!this.#sendsLate) {
      if (this.#discards) this.#startDeadline(this.#discardedWithin);
      return this.#holdIfNeeded();
    }
    this.#end();
    this.#trace?.onEnd(this.#trailers);
    this.#owner?.onReceived();
  }

  onUnread(error: HttpError): void {
    this.#owner?.onReceived(error);
  }

  onFail(error: HttpError, untouched: boolean, unsent: boolean): void {
    if (this.#sendsOn) return this.#loseRest(error);
    // A failure of an unread body is reported as long as the caller waits for the response.
    const isUnread = this.#discards && this.#isDelivered;
    if (this.#hasHead && !isUnread) return this.#stop(error);
    this.#end();
    this.#trace?.onError(error);
    if (isUnread) this.#owner?.onReceived();
    else this.#owner?.onLost(error, { untouched, unsent });
  }

  /** Whether only the request's body is still being transferred: the response is complete or unwanted. */
  get #sendsOn(): boolean {
    return this.#sendsLate || (this.#discards && this.#exchange!.isSending);
  }

  onExpired(): void {
    const { url: { href }, limits: { headersTimeout, bodyTimeout } } = this.#request;
    const sendsOn = this.#sendsOn;
    // Counted from the last progress of the request's body, too; in eighths of the timeout, since each length has a timer.
    const ms = !this.#hasHead ? headersTimeout : this.#discards && !sendsOn ? this.#discardedWithin : bodyTimeout;
    const left = this.#exchange!.progressAt + ms - performance.now();
    if (left > 0) return this.#startDeadline(Math.ceil(left * 8 / ms) * ms / 8);
    if (this.#discards && !sendsOn) return this.#leaveRest(undefined);
    const error = !this.#hasHead
      ? this.#error("HEADERS_TIMEOUT", `${href} was not answered within ${headersTimeout} ms`)
      : sendsOn
      ? this.#error("BODY_TIMEOUT", `${href} took no byte of the request's body for ${bodyTimeout} ms`)
      : this.#error("BODY_TIMEOUT", `No byte of the body of ${href} came for ${bodyTimeout} ms`);
    if (!sendsOn) return this.#stop(error);
    this.#exchange!.cancel(error);
    this.#loseRest(error);
  }

  // Events of the response's body.

  consumed(bytes: number): void {
    this.#exchange?.consumed(bytes);
  }

  /** A reader waits for bytes: only from now on can the server be late. */
  wanted(): void {
    if (this.#isOver) return;
    this.#isWanted = true;
    this.#keepProcess(true);
    if (this.expiresAt === 0) this.#startDeadline(this.#request.limits.bodyTimeout);
  }

  cancel(reason: unknown, unread: number): void {
    if (this.revoked() !== undefined) return this.#stop(reason);
    if (!(reason instanceof Unreachable) || !this.#isAccepted || this.#upload === undefined) {
      return this.#leaveRest(reason);
    }
    this.#lingers = true;
    this.responseBody = undefined;
    this.#exchange!.consumed(unread);
    this.discard();
  }

  revoked(): Failure | undefined {
    this.#isRead = true;
    return this.#core.revocationOf(this.#request);
  }

  ended(): BodyControl & EndedRequest {
    const { signal, origin } = this.#request;
    return { core: this.#core, signal, origin, consumed: ignore, cancel: ignore, revoked };
  }

  get #discardedWithin(): number {
    return this.#lingers ? this.#request.limits.bodyTimeout : DISCARDED_WITHIN;
  }

  /** Stops sending the request's body. A failure of its source also fails a response that was not read to its end. */
  #loseRest(error: HttpError): void {
    this.#end();
    this.#trace?.onError(error);
    if (error.code === "BODY_FAILED") this.responseBody?.cancel(error);
    this.#owner?.onReceived(error);
  }

  /** Stops receiving a response whose rest is unwanted. */
  #leaveRest(reason: unknown): void {
    this.#exchange?.cancel(reason);
    this.#end();
    this.#trace?.onEnd();
    this.#owner?.onReceived();
  }

  #stop(reason: unknown): void {
    const owner = this.#owner;
    this.giveUp(reason);
    owner?.fail(reason);
  }

  #end(): void {
    this.#isOver = true;
    this.#exchange = this.#upload = undefined;
    this.#deadlines?.stop(this);
    this.#keepProcess(false);
  }

  /** Keeps the process alive, once the caller has the response, only for a waiting reader or the request's body. */
  #holdIfNeeded(): void {
    if (this.#isDelivered && !this.#isWanted && !this.#isOver && !this.#exchange!.isSending) this.#keepProcess(false);
  }

  /** Whether the connection keeps the process alive for this request. */
  #keepProcess(holds: boolean): void {
    if (holds === this.#holds) return;
    this.#holds = holds;
    if (holds) this.pooled.keepProcess();
    else this.pooled.release();
  }

  #startDeadline(ms: number): void {
    this.#deadlines?.stop(this);
    if (ms === 0) return;
    this.#deadlines = this.#core.deadlinesOf(ms);
    this.#deadlines.start(this);
  }

  #error(code: "HEADERS_TIMEOUT" | "BODY_TIMEOUT" | "LIMIT_EXCEEDED", message: string): HttpError {
    return new HttpError(code, message, { origin: this.#request.origin });
  }
}
