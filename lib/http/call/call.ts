import type { ClientCore } from "../client_core.ts";
import { Deadline, type DeadlineList, type Timed, Timer } from "../../timers/mod.ts";
import { openTrace, type RequestTrace } from "../diagnostics/diagnostics_channel.ts";
import type { ResponseHead } from "../connection.ts";
import { isPipelinable } from "../h1/exchange.ts";
import { wantsHttp1 } from "../h2/protocol.ts";
import { HttpError, type HttpErrorCode } from "../http_error.ts";
import { ANSWERED, type CallContext, type Caller, type CallOwner, inMicrotask } from "../calls.ts";
import type { LiveCall, OwnedCall } from "../calls.ts";
import { responses } from "../origin/open_connection.ts";
import type { Origin } from "../origin/origin.ts";
import { PooledConnection, type WaitingRequest, type WaitingRoom } from "../origin/connection_pool.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { redirected } from "../request/redirect.ts";
import type { BodySource } from "../request/stream_body.ts";
import type { HttpResponse } from "../response/http_response.ts";
import type { ResponseBody } from "../response/response_body.ts";
import { hasField, joinedField } from "../response/response_headers.ts";
import { Attempt, type AttemptOwner } from "./attempt.ts";
import { AttemptBody } from "./attempt_body.ts";
import { type Fate, retryAfter, RetryPolicy, TRANSIENT } from "./retries.ts";

let deliveries: Pick<Call, "deliver">[] = [];

/** Calls `deliver` in a microtask, one for all calls of a turn: a body of one piece has arrived by then. */
function deliverInMicrotask(delivery: Pick<Call, "deliver">): void {
  deliveries.push(delivery);
  if (deliveries.length === 1) inMicrotask(deliverAll);
}

function deliverAll(): void {
  const due = deliveries;
  deliveries = [];
  for (const delivery of due) delivery.deliver();
}

/** The statuses of responses without content. */
const NULL_BODY: readonly number[] = [204, 205, 304];

/** A call of fetch over all its redirects and attempts, to the last byte of the final response. `#end` runs once, whatever ends the call. */
export class Call implements WaitingRequest, Timed, AttemptOwner, OwnedCall {
  readonly #core: ClientCore;
  #request: FetchRequest;
  #caller: Caller;
  readonly #owner: CallOwner;
  #origin: Origin;
  // From LiveCall, WaitingRequest and Timed (the time in the queue), which the call implements itself to save objects for each request.
  previousCall: LiveCall | undefined = undefined;
  nextCall: LiveCall | undefined = undefined;
  previousWaiting: WaitingRequest | undefined = undefined;
  nextWaiting: WaitingRequest | undefined = undefined;
  waitingAt: WaitingRoom | undefined = undefined;
  pipelinable: boolean;
  newerThan = 0;
  expiresAt = 0;
  previousTimed: Timed | undefined = undefined;
  nextTimed: Timed | undefined = undefined;
  #deadlines: DeadlineList | undefined = undefined;
  #total: Deadline | undefined = undefined;
  #upload: AttemptBody | undefined = undefined;
  #attempt: Attempt | undefined = undefined;
  #head: ResponseHead | undefined = undefined;
  #responseBody: ResponseBody | undefined = undefined;
  #redirects = 0;
  #isReceived = false;
  #isAnswered = false;
  #isOver = false;
  #failures: RetryPolicy | undefined = undefined;
  #since = 0;
  #trace: RequestTrace | undefined = undefined;
  readonly context: CallContext | undefined;
  #backoff: Timer | undefined = undefined;

  constructor(core: ClientCore, request: FetchRequest, caller: Caller, owner: CallOwner = core) {
    this.#core = core;
    this.#request = request;
    this.#caller = caller;
    this.#owner = owner;
    this.context = core.contextOf(request);
    this.#origin = core.originOf(request.origin, request.url, false);
    this.pipelinable = isPipelinable(request, request.body);
  }

  start(): void {
    const { signal, limits: { timeout } } = this.#request;
    this.#owner.onBegin(this);
    if (signal?.aborted) return this.fail(signal.reason);
    signal?.addEventListener("abort", this);
    if (timeout > 0) this.#total = new Deadline(this.#core.deadlinesOf(timeout), () => this.#onTimeout(timeout));
    const settling = this.#request.body?.settle?.();
    if (settling === undefined) this.#schedule();
    else settling.then((body) => this.#onSettled(body), (error) => this.fail(error));
  }

  handleEvent(): void {
    this.fail(this.#request.signal!.reason);
  }

  // Events of the origin while the call waits.

  startOn(pooled: PooledConnection): void {
    this.#deadlines?.stop(this);
    if (this.#core.options.onEvent !== undefined || this.#trace !== undefined) {
      const { method, url } = this.#request;
      const { connection: { protocol }, transport } = pooled;
      const now = performance.now();
      this.#core.emit({ type: "request", method, url: url.href, protocol, queuedMs: now - this.#since }, this.context);
      this.#since = now;
      if (!this.#isOver) this.#trace?.onSend(transport);
      if (this.#isOver) return;
      // A hook may have used the room for another request, or closed the connection.
      if (!pooled.takes(this)) return this.#queue(false);
    }
    const { body } = this.#request;
    if (body !== undefined && !this.#openBody(body)) return;
    this.#attempt = new Attempt(this.#core, this.#request, this.#upload, pooled, this.#trace, this);
    this.#attempt.start();
  }

  onExpired(): void {
    const ms = this.#request.limits.queueTimeout;
    const message = `${this.#request.url.href} got no connection within ${ms} ms (queueTimeout)`;
    this.fail(this.#error("QUEUE_TIMEOUT", message));
  }

  onDestroyed(): void {
    this.fail(this.#core.closedError(this.#request.origin));
  }

  giveUpUnread(): void {
    const { closeTimeout } = this.#core.options;
    if (this.#attempt?.isUnread(closeTimeout) !== true) return;
    const { href } = this.#request.url;
    const message =
      `The client was closed, and the response of ${href} was not read for ${closeTimeout} ms (closeTimeout)`;
    this.fail(this.#error("CLIENT_CLOSED", message));
  }

  // Events of the attempt.

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#trace?.onHeaders(head);
    if (this.#isOver) return;
    if (this.#core.options.onEvent !== undefined) {
      const { method, url } = this.#request;
      const ms = performance.now() - this.#since;
      this.#core.emit({ type: "response", method, url: url.href, status: head.status, ms }, this.context);
      if (this.#isOver) return;
    }
    const attempt = this.#attempt!;
    if (this.#retryStatus(head)) return;
    this.#upload?.abandon();
    if (head.status >= 300 && head.status < 400 && this.#redirect(head)) return;
    if (this.#request.method === "HEAD" || NULL_BODY.includes(head.status)) attempt.discard();
    else this.#responseBody = attempt.receive();
    deliverInMicrotask(this);
  }

  onReceived(lost?: HttpError): void {
    if (lost !== undefined) this.#emitFailed(lost);
    this.#isReceived = true;
    if (this.#isAnswered) this.#end();
  }

  onLost(error: HttpError, fate: Fate): void {
    const { kept, connection, pool } = this.#attempt!.pooled;
    if (wantsHttp1(error)) pool.requireHttp1();
    else if (!kept && !fate.unsent && connection.closing && TRANSIENT.has(error.code)) pool.onProved(false);
    if (!this.#retry(error, fate)) this.fail(error);
  }

  deliver(): void {
    if (this.#isOver) return; // the call was aborted, or failed, in the same turn
    const terms = { decompress: this.#request.limits.decompress, redirected: this.#redirects > 0 };
    let response: HttpResponse;
    try {
      response = responses.buildResponse(this.#request, this.#head!, this.#responseBody, terms);
    } catch (error) {
      return this.fail(error);
    }
    const { resolve } = this.#caller;
    // The connection has a reference to this call, through which an unreachable response would stay reachable.
    this.#caller = ANSWERED;
    this.#isAnswered = true;
    resolve(response);
    if (this.#isReceived) this.#end();
    else this.#attempt?.onDelivered();
  }

  #onSettled(body: BodySource): void {
    if (this.#isOver) return;
    this.#request = { ...this.#request, body };
    this.#schedule();
  }

  /** Whether the next attempt can have a body; otherwise the request has failed. */
  #openBody(body: BodySource): boolean {
    try {
      const { origin, expectsContinue, trailers, onUploadProgress: told } = this.#request;
      const { context } = this;
      const onProgress = told &&
        ((progress: Parameters<typeof told>[0]) => this.#core.notify(() => told(progress), context));
      const terms = { origin, expectsContinue, trailers, context, onProgress };
      this.#upload = this.#upload?.renew() ?? new AttemptBody(body.open(), terms);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  #redirect(head: ResponseHead): boolean {
    const { maxRedirects } = this.#core.options;
    try {
      const location = hasField(head.headers, "location") ? joinedField(head.headers, "location") : undefined;
      const next = redirected(this.#request, head.status, location);
      if (next === undefined) return false;
      if (this.#redirects >= maxRedirects) {
        throw this.#error("REDIRECT_FAILED", `${this.#request.url.href} is one redirect more than ${maxRedirects}`);
      }
      this.#redirects++;
      this.#leaveFor(next);
    } catch (error) {
      this.fail(error);
    }
    return true;
  }

  /** Continues with another request, and drops the rest of this response. */
  #leaveFor(next: FetchRequest): void {
    this.#attempt!.detach();
    this.#attempt = undefined;
    this.#trace = undefined;
    this.#upload = undefined;
    this.newerThan = 0;
    this.#origin = this.#inContext(() => this.#core.originOf(next.origin, next.url, true));
    this.#request = next;
    this.pipelinable = isPipelinable(next, next.body);
    // By the end of the turn, that response has usually ended, so that an HTTP/1.1 connection is free for this request.
    deliverInMicrotask({ deliver: () => this.#schedule() });
  }

  #schedule(): void {
    if (this.#isOver) return;
    if (this.#core.options.onEvent !== undefined) this.#since = performance.now();
    this.#queue();
  }

  /** @param isFirst Whether the call queues for the first time, and so behind all other calls. */
  #queue(isFirst: boolean = true): void {
    if (this.context !== undefined) this.#trace ??= openTrace(this.#request, this.context);
    if (this.#isOver) return this.#trace?.onError(undefined);
    this.#core.remember(this.#origin);
    if (isFirst) this.#origin.schedule(this);
    else this.#origin.scheduleAgain(this);
    const ms = this.#request.limits.queueTimeout;
    if (this.waitingAt === undefined || this.expiresAt !== 0 || ms === 0) return;
    this.#deadlines = this.#core.deadlinesOf(ms);
    this.#deadlines.start(this);
  }

  #mayRepeat(): boolean {
    const { body } = this.#request;
    return body === undefined || body.replayable || !this.#upload!.begun;
  }

  /** Whether another attempt follows one that got no response. */
  #retry(error: HttpError, fate: Fate): boolean {
    if (!this.#mayRepeat()) return false;
    const { kept, connection } = this.#attempt!.pooled;
    const stale = (!fate.unsent && kept && connection.closing) || wantsHttp1(error);
    const pause = (this.#failures ??= new RetryPolicy()).add(error, this.#request, { ...fate, stale });
    if (pause === undefined) return false;
    this.#request.alone = true; // the server may answer no pipeline (RFC 9112 section 9.3.2)
    this.pipelinable = false;
    if (stale) this.newerThan = PooledConnection.opened;
    this.#tryAgain(pause, error, undefined);
    return true;
  }

  /** Whether another attempt follows one with a status that is to be retried. */
  #retryStatus({ status, headers }: ResponseHead): boolean {
    if (!this.#request.limits.retryStatuses.includes(status) || !this.#mayRepeat()) return false;
    const pause = (this.#failures ??= new RetryPolicy()).addAnswered(retryAfter(headers), this.#request);
    // If no time is left for another attempt, the caller gets this response instead of a timeout.
    if (pause === undefined || pause >= Math.min(this.#total?.left ?? Infinity, this.#owner.timeLeft)) return false;
    if (this.#request.body?.replayable) this.#upload?.abandon();
    this.#attempt!.detach();
    this.#tryAgain(pause, undefined, status);
    return true;
  }

  #tryAgain(pause: number, error: HttpError | undefined, status: number | undefined): void {
    const { method, url, body } = this.#request;
    this.#attempt = undefined;
    this.#trace = undefined;
    // A body in memory is opened again; an unread stream is passed on to the next attempt.
    if (body?.replayable) this.#upload = undefined;
    this.#core.retries++;
    const attempt = this.#failures!.count;
    this.#core.emit({ type: "retry", method, url: url.href, attempt, error, status, ms: pause }, this.context);
    if (this.#isOver) return;
    if (pause === 0) return this.#queue(false);
    this.#backoff ??= new Timer(() => this.#queue(false));
    this.#backoff.start(pause);
  }

  #onTimeout(ms: number): void {
    this.fail(this.#error("TIMEOUT", `${this.#request.url.href} took more than ${ms} ms (timeout)`));
  }

  fail(reason: unknown): void {
    this.#end({ reason });
  }

  #end(failure?: { readonly reason: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.waitingAt?.withdraw(this);
    this.#deadlines?.stop(this);
    this.#total?.stop();
    this.#request.signal?.removeEventListener("abort", this);
    this.#backoff?.stop();
    if (failure !== undefined) {
      const { reason } = failure;
      this.#attempt?.giveUp(reason);
      this.#trace?.onError(reason);
      this.#releaseBody(reason);
      this.#emitFailed(reason);
      const { reject } = this.#caller;
      this.#caller = ANSWERED;
      reject(reason);
    }
    this.#trace = this.#attempt = this.#upload = undefined;
    // On Deno, errors keep the called objects alive as long as they live.
    this.#request.body = this.#request.trailers = undefined;
    this.#request.onUploadProgress = this.#request.signalOwner = undefined;
    this.#owner.onEnd(this);
  }

  #releaseBody(reason: unknown): void {
    const { body } = this.#request;
    if (this.#upload !== undefined) {
      this.#upload.cancel(reason);
      this.#upload.abandon();
    } else if (body !== undefined && !body.replayable) {
      try {
        this.#inContext(() => body.open().cancel(reason));
      } catch {
        // A body that cannot be opened, which may be the failure itself, has nothing to cancel.
      }
    }
  }

  #inContext<T>(steps: () => T): T {
    return this.context === undefined ? steps() : this.context.run(steps);
  }

  #error(code: HttpErrorCode, message: string): HttpError {
    return new HttpError(code, message, { origin: this.#request.origin });
  }

  #emitFailed(error: unknown): void {
    const { method, url } = this.#request;
    this.#core.emit({ type: "failed", method, url: url.href, error }, this.context);
  }
}
