import type { CallContext } from "../calls.ts";
import type { ClientCore } from "../client_core.ts";
import type { DeadlineList, Timed } from "../../timers/mod.ts";
import type { RequestTrace } from "../diagnostics/diagnostics_channel.ts";
import type { Exchange, ExchangeHandler, HeaderList, ResponseHead } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { PooledConnection } from "../origin/connection_pool.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { type BodyControl, type Failure, ResponseBody } from "../response/response_body.ts";
import { responseHeaders } from "../response/response_headers.ts";
import type { AttemptBody } from "./attempt_body.ts";

/** The owner of an attempt, called with its progress. It gets one end, unless it cancelled or detached the attempt. */
export interface AttemptOwner {
  readonly context: CallContext | undefined;
  onHead(head: ResponseHead): void;
  /** The last byte of the response has come, or its reader wants no more, or enough of what is discarded has come. */
  onReceived(): void;
  onLost(error: HttpError, untouched: boolean): void;
  /** There is no whole response, and no other attempt will help: it was cut off, or came too late. */
  onBroken(reason: unknown): void;
}

/** Informational (1xx) responses to one request; their fields share the limit of a head. */
const MOST_INFORMATIONAL = 1000;
/** The bytes of an unread body which are received, so that the connection can be used again. */
const DISCARDED_BYTES = 65_536;
/** The wait for them, in ms. */
const DISCARDED_WITHIN = 1000;

/**
 * A request on its way over one connection, from its first byte to the last of the response. Its deadline is for one
 * thing at a time: the response's head, the next byte of a read, or the end of an unread body.
 */
export class Attempt implements ExchangeHandler, Timed, BodyControl {
  // Of Timed: an attempt is one itself, so that it costs no object a request.
  expiresAt = 0;
  previousTimed: Timed | undefined = undefined;
  nextTimed: Timed | undefined = undefined;
  /** The body of the response; undefined before it is wanted, and if it is discarded. */
  responseBody: ResponseBody | undefined = undefined;
  readonly #core: ClientCore;
  readonly #request: FetchRequest;
  readonly #trace: RequestTrace | undefined;
  readonly #upload: AttemptBody | undefined;
  readonly pooled: PooledConnection;
  #owner: AttemptOwner | undefined;
  #deadlines: DeadlineList | undefined = undefined;
  #exchange: Exchange | undefined = undefined;
  #hasHead = false;
  /** Informational responses so far, and the size of their fields. */
  #informational = 0;
  #informationalBytes = 0;
  #isDelivered = false;
  #isOver = false;
  /** Whether the response has ended, and the request's body is being sent on. */
  #sendsLate = false;
  /** The exchange's progress when it was last looked at. */
  #progress = 0;
  #holds = false;
  #isWanted = false;
  #discards = false;
  #discarded = 0;
  /** Whether the response was read from since {@link isUnread} was called. */
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
    this.#hold(true);
    this.#startDeadline(this.#request.limits.headersTimeout);
    const trace = this.#trace;
    if (trace === undefined) return;
    if (this.#upload?.pending) this.#upload.onSent = () => trace.onBodySent();
    else trace.onBodySent();
  }

  receive(): ResponseBody {
    return this.responseBody = new ResponseBody(this);
  }

  /** Discards the rest of the response. A little of it is received, within a short time, to keep the connection. */
  discard(): void {
    if (this.#isOver) return;
    this.#discards = true;
    this.#startDeadline(DISCARDED_WITHIN);
  }

  /** Discards the rest of the response, without further calls of the owner. What is left of the request is not sent. */
  letGo(): void {
    if (this.#upload?.pending) {
      return this.giveUp(new TypeError("The response came before the request's body had ended"));
    }
    this.#owner = undefined;
    this.#trace?.onEnd();
    this.#hold(false);
    this.discard();
  }

  /** The caller has the response: from now on only a reader who waits keeps the process alive. */
  onDelivered(): void {
    this.#isDelivered = true;
    if (!this.#isWanted && !this.#upload?.pending && !this.#sendsLate) this.#hold(false);
  }

  /** Ends it, whatever state it is in. The owner is not told. */
  giveUp(reason: unknown): void {
    this.#owner = undefined;
    this.#exchange?.cancel(reason);
    this.#end();
    this.#trace?.onError(reason);
    this.responseBody?.fail(reason);
  }

  /** Whether the caller has the response, and has not read from it, nor sent anything, since this was called `ms` ago. */
  isUnread(ms: number): boolean {
    const sends = this.#upload?.pending === true && performance.now() - this.#upload.readAt < ms;
    const isUnread = this.#isDelivered && !this.#isWanted && !this.#isRead && !sends;
    this.#isRead = false;
    return isUnread;
  }

  // What the connection tells.

  onInformational(status: number, fields: HeaderList): void {
    if (status === 100) this.#upload?.proceed();
    let size = 0;
    for (const part of fields) size += part.length;
    this.#informationalBytes += size;
    if (++this.#informational > MOST_INFORMATIONAL || this.#informationalBytes > this.#core.options.maxHeaderSize) {
      const message =
        `${this.#request.url.href} was answered with more informational responses than maxHeaderSize allows`;
      return this.#stop(this.#error("LIMIT_EXCEEDED", message));
    }
    const told = this.#request.limits.onInformational;
    if (told !== undefined) this.#core.tell(() => told(status, responseHeaders(fields)), this.#owner?.context);
  }

  onHead(head: ResponseHead): void {
    this.pooled.kept = true;
    this.#stopDeadline();
    this.#hasHead = true;
    if (head.status < 300) this.#upload?.proceed(); // it may answer as the body comes
    this.#owner!.onHead(head);
  }

  onData(chunk: Uint8Array, isOwn?: boolean): void {
    if (this.responseBody === undefined) return this.#discard(chunk.length);
    this.#stopDeadline();
    this.#isWanted = false;
    this.responseBody.push(chunk, isOwn);
    if (!this.#isWanted && this.#isDelivered && !this.#upload?.pending) this.#hold(false);
  }

  onEnd(trailers: HeaderList | undefined, isSending: boolean): void {
    if (isSending) this.#sendOn();
    else this.#end();
    this.#trace?.onEnd(trailers);
    this.responseBody?.end(trailers);
    if (!isSending) this.#owner?.onReceived();
  }

  onSentLate(): void {
    this.#end();
    this.#owner?.onReceived();
  }

  /** The server has answered early, and accepts the request: the time is for the rest of that. */
  #sendOn(): void {
    this.#sendsLate = true;
    this.#discards = this.#isWanted = false;
    this.#progress = this.#exchange!.progress;
    this.#startDeadline(this.#request.limits.bodyTimeout);
  }

  onFail(error: HttpError, untouched: boolean): void {
    if (this.#sendsLate) return this.onSentLate(); // the response is whole
    this.#end();
    this.#trace?.onError(error);
    // A failure of an unread body is reported as long as the caller waits for the response.
    if (this.#discards && this.#isDelivered) return this.#owner?.onReceived();
    if (this.#hasHead) return this.#break(error);
    this.#owner?.onLost(error, untouched);
  }

  onExpired(): void {
    if (this.#sendsLate && this.#exchange!.progress !== this.#progress) {
      this.#progress = this.#exchange!.progress;
      return this.#deadlines!.start(this);
    }
    const { href } = this.#request.url;
    // While the request's body is being sent, the time is counted from its last piece.
    const { headersTimeout, bodyTimeout } = this.#request.limits;
    if (!this.#hasHead || this.#discards || this.#sendsLate) { // a response without a body may come early
      const ms = this.#sendsLate ? bodyTimeout : this.#hasHead ? DISCARDED_WITHIN : headersTimeout;
      if (this.#upload?.pending && performance.now() - this.#upload.readAt < ms) return this.#deadlines!.start(this);
    }
    if (this.#discards || this.#sendsLate) return this.#leaveRest(undefined);
    const [code, message] = this.#hasHead
      ? ["BODY_TIMEOUT", `No byte of the body of ${href} came for ${bodyTimeout} ms`] as const
      : ["HEADERS_TIMEOUT", `${href} was not answered within ${headersTimeout} ms`] as const;
    this.#stop(this.#error(code, message));
  }

  // What the response's body tells.

  consumed(bytes: number): void {
    this.#exchange?.consumed(bytes);
  }

  /** A reader waits: only now is the server late. */
  wanted(): void {
    if (this.#isOver) return;
    this.#isWanted = true;
    this.#hold(true);
    if (this.expiresAt === 0) this.#startDeadline(this.#request.limits.bodyTimeout);
  }

  cancel(reason: unknown): void {
    if (this.revoked() !== undefined) this.#stop(reason);
    else this.#leaveRest(reason);
  }

  revoked(): Failure | undefined {
    this.#isRead = true;
    return this.#core.revocationOf(this.#request);
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded <= DISCARDED_BYTES) this.#exchange!.consumed(bytes);
    else this.#leaveRest(undefined);
  }

  /** Receives no more of a response whose rest is unwanted. */
  #leaveRest(reason: unknown): void {
    this.#exchange?.cancel(reason);
    this.#end();
    this.#trace?.onEnd();
    this.#owner?.onReceived();
  }

  #stop(reason: unknown): void {
    this.#exchange?.cancel(reason);
    this.#end();
    this.#trace?.onError(reason);
    this.#break(reason);
  }

  #break(reason: unknown): void {
    this.responseBody?.fail(reason);
    this.#owner?.onBroken(reason);
  }

  #end(): void {
    this.#isOver = true;
    this.#exchange = undefined;
    this.#stopDeadline();
    this.#hold(false);
  }

  /** Whether the connection keeps the process alive for this request. */
  #hold(holds: boolean): void {
    if (holds === this.#holds) return;
    this.#holds = holds;
    if (holds) this.pooled.hold();
    else this.pooled.release();
  }

  #startDeadline(ms: number): void {
    this.#stopDeadline();
    if (ms === 0) return;
    this.#deadlines = this.#core.deadlinesOf(ms);
    this.#deadlines.start(this);
  }

  #stopDeadline(): void {
    if (this.expiresAt !== 0) this.#deadlines!.stop(this);
  }

  #error(code: "HEADERS_TIMEOUT" | "BODY_TIMEOUT" | "LIMIT_EXCEEDED", message: string): HttpError {
    return new HttpError(code, message, { origin: this.#request.origin });
  }
}
