import { inMicrotask } from "../calls.ts";
import { toConnectionError } from "../connect/connection_error.ts";
import type { Connection, ConnectionOwner, Exchange, ExchangeHandler, HeaderList } from "../connection.ts";
import type { RequestBody, RequestHead, Transport, TransportEvents } from "../connection.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import { HttpError } from "../http_error.ts";
import type { BodyWriter, Forwarding } from "./request_writer.ts";
import { type ExchangeHost, Http1Exchange } from "./exchange.ts";
import { Timer } from "../../timers/mod.ts";
import { ResponseFault } from "./header_section.ts";
import { CHUNKED, type ParsedHead } from "./response_head.ts";
import { ResponseReader, type ResponseSink } from "./response_reader.ts";
import { afterPoll } from "../../runtime/mod.ts";

export interface Http1Options extends Pick<ResolvedOptions, "pipelining" | "maxHeaderSize" | "bodyTimeout"> {
  readonly origin: string;
  readonly forwarding?: Forwarding | undefined;
  /** The maximum bytes of a response that wait for their reader before the connection stops reading. */
  highWaterMark: number;
  /** The time in ms after which an idle connection is closed; a server's Keep-Alive may shorten it. */
  idleTimeout: number;
}

/** The time in ms by which a connection closes before the server would, whose close could cross a request. */
const KEEP_ALIVE_MARGIN = 1000;
/** The minimum time in ms that a connection is kept for its first request. */
const FIRST_USE = 1000;

/** The time in ms after a response during which other connections are preferred: surplus bytes of a server mostly come at once. */
const COOLDOWN = 2;
/** The same time after a body that ended after its response: a server may close the connection once it has read the body. */
const LATE_BODY_COOLDOWN = 100;

/** The bytes of a body from which it pays to receive several chunks as one. */
const LARGE = 64 * 1024;

const SPOKE = "sent something that nobody had asked for, or closed the connection, before the request was sent";
const UNANSWERED = "closed the connection without an answer";
const REQUEST_UNREAD = "closed the connection before it had the whole request";
const CUT = "closed the connection in the middle of its response";

/** HTTP/1.1 over a connected transport. @see {@link https://www.rfc-editor.org/rfc/rfc9112} */
export class Http1Connection implements Connection, TransportEvents, ResponseSink, ExchangeHost {
  readonly protocol = "http/1.1";
  closing = false;
  restsUntil = 0;
  readonly #transport: Transport;
  readonly #options: Http1Options;
  readonly #owner: ConnectionOwner;
  readonly #reader: ResponseReader;
  /** The timer of idleness; while the connection is busy, requests set no timer of the runtime. */
  readonly #idle: Timer;
  /** The requests in the order of their responses. None is sent while the first waits for a look at the socket. */
  readonly #exchanges: Http1Exchange[] = [];
  /** Whether the connection is new, so that its first request need not wait for a look at the socket. */
  #isNew = true;
  /** The look at the socket for which the first request waits; undefined if none waits. */
  #look: object | undefined = undefined;
  /** Whether the connection can be used again after the current response. */
  #reusable = true;
  #idleTimeout: number;
  #paused = false;
  #gathers = false;
  /** Whether the transport was ended: no more bytes are read or sent. */
  #ended = false;
  #error: HttpError | undefined = undefined;
  #toldClosing = false;

  constructor(transport: Transport, options: Http1Options, owner: ConnectionOwner) {
    this.#transport = transport;
    this.#options = options;
    this.#owner = owner;
    this.#idleTimeout = options.idleTimeout;
    this.#reader = new ResponseReader(this, options.maxHeaderSize);
    this.#idle = new Timer(() => this.#finish(), { keepsAlive: false });
    inMicrotask(() => this.#isNew = false);
    transport.attach(this);
    transport.keepProcess(false);
    this.#idle.start(Math.max(options.idleTimeout, FIRST_USE));
  }

  get waiting(): number {
    return this.#transport.waiting;
  }

  get active(): number {
    return this.#exchanges.length;
  }

  get free(): number {
    const { length } = this.#exchanges;
    if (this.closing) return 0;
    // No request follows one that is not safe to send again, or the first one: the server may answer only that (RFC 9112 section 9.3.2).
    const most = this.restsUntil === 0 ? 1 : this.#options.pipelining;
    return length === 0 || this.#exchanges[length - 1].pipelinable ? Math.max(0, most - length) : 0;
  }

  start(head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler): Exchange {
    const exchange = new Http1Exchange(this, head, body, handler);
    if (this.#ended) {
      const error = this.#error ?? this.#lost("had lost the connection before the request was sent");
      inMicrotask(() => exchange.fail(error));
      return exchange;
    }
    if (this.#exchanges.push(exchange) === 1) {
      this.#idle.setDue(Infinity);
      this.#transport.keepProcess(true);
      if (this.#isNew) this.#reader.expect(head.method);
      else this.#beginLook();
      this.#isNew = false;
    }
    if (this.#look === undefined) this.#send();
    return exchange;
  }

  close(): void {
    this.closing = true;
    if (this.#exchanges.length === 0) this.#end(true);
    else inMicrotask(() => this.#tellClosing()); // the owner opens other connections before these requests have ended
  }

  destroy(error: HttpError): void {
    this.#error ??= error;
    this.#end();
    this.#transport.destroy(); // also if written bytes are still being sent
  }

  onData(chunk: Uint8Array, isOwn?: boolean): void {
    if (this.#ended) return;
    try {
      this.#reader.read(chunk, isOwn);
    } catch (error) {
      if (!(error instanceof ResponseFault)) throw error;
      const { origin } = this.#options;
      const failure = new HttpError(error.code, `${origin}: ${error.message}`, { origin, cause: error });
      this.#failAll(failure, this.#lost("was left, because it answered a request before this one badly"));
    }
  }

  onDrain(): void {
    const exchange: Http1Exchange | undefined = this.#exchanges[0];
    if (exchange === undefined) return;
    exchange.writer?.onDrain();
    const isOver = exchange.isAnswered && !exchange.isSending;
    if (isOver) this.#exchanges.shift();
    exchange.tellSent();
    if (isOver) this.#afterResponse(LATE_BODY_COOLDOWN);
  }

  onEnd(): void {
    if (this.#ended) return;
    this.#leave();
    const state = this.#stateInWords();
    const first: Http1Exchange | undefined = this.#exchanges[0];
    if (first?.isAnswered && first.wholeRequestSent) return this.#transport.end(); // the end shows whether the system takes the rest
    if (this.#exchanges.length === 0) this.#finish();
    else if (!this.#reader.end() || this.#exchanges[0]?.isAnswered) this.#failAll(this.#lost(state));
  }

  onClose(error: Error | undefined): void {
    const state = this.#stateInWords();
    // An error after the transport's end has no meaning.
    if (error !== undefined && !this.#ended) this.#error ??= toConnectionError(error, this.#options.origin);
    this.#idle.stop();
    if (this.#exchanges.length > 0) this.#failAll(this.#error ?? this.#lost(state));
    else this.#finish();
    this.#owner.onClosed(this, this.#error);
  }

  // Events of the response reader.

  onInformational({ status, headers }: ParsedHead): void {
    this.#exchanges[0].handler.onInformational(status, headers.slice());
  }

  onResponseHead(head: ParsedHead): void {
    const exchange = this.#exchanges[0];
    const { status, statusText, headers, keepAliveTimeout } = head;
    if (keepAliveTimeout !== undefined) {
      this.#idleTimeout = Math.min(keepAliveTimeout - KEEP_ALIVE_MARGIN, this.#options.idleTimeout);
    }
    // While the connection is idle, bytes are not gathered: those that arrive then must be noticed at once.
    if (head.length < 0 || head.length >= LARGE) this.#gather(true);
    if (!head.keepsAlive || exchange.head.closes || this.#reader.endsWithConnection) this.#leave();
    // A server that sends the body that it announces, although none is allowed here, would have it taken for the next response.
    const isEmpty = exchange.head.method === "HEAD" || status === 204 || status === 304;
    if (isEmpty && (head.length > 0 || head.length === CHUNKED)) this.#leave();
    // A server that refuses an incomplete request does not want the rest.
    if (status >= 400 && !exchange.wholeRequestSent) this.#stopBody(exchange);
    exchange.isAccepted = status < 300;
    exchange.tellSent();
    exchange.handler.onHead({ status, statusText, headers: headers.slice() });
    if (this.closing) this.#tellClosing();
  }

  onResponseData(data: Uint8Array, isOwn: boolean): void {
    const exchange = this.#exchanges[0];
    exchange.unread += data.length;
    exchange.handler.onData(data, isOwn);
    if (exchange.unread > this.#options.highWaterMark && !this.#paused && !this.#ended) {
      this.#paused = true;
      this.#transport.pause();
    }
  }

  onResponseEnd(trailers: HeaderList | undefined, more: boolean): void {
    if (this.#gathers) this.#gather(false);
    if (this.#paused) this.#resume();
    const exchange = this.#exchanges[0];
    if (exchange.isAccepted && exchange.isSending) {
      exchange.isAnswered = true;
      return exchange.handler.onEnd(trailers, true);
    }
    this.#exchanges.shift();
    const next: Http1Exchange | undefined = this.#exchanges[0];
    if (!exchange.wholeRequestSent) this.#stopBody(exchange);
    else exchange.tellSent();
    // The next bytes have no request, or the server cannot have read the pending bytes: it is out of step.
    if (more && next === undefined || exchange.body !== undefined && this.#transport.waiting > 0) this.#leave();
    if (next?.cancelled) this.#leave();
    if (next !== undefined) this.#reader.expect(next.head.method);
    exchange.handler.onEnd(trailers, false);
    this.#afterResponse();
  }

  #afterResponse(rest: number = COOLDOWN): void {
    if (this.#exchanges.length === 0) this.restsUntil = performance.now() + rest;
    if (this.#ended) return;
    if (!this.#reusable && this.#exchanges.length > 0) return this.#failAll(this.#lost(UNANSWERED));
    if (this.closing && this.#exchanges.length === 0) return this.#finish();
    this.#tellFree();
    if (this.#exchanges.length > 0 || this.#ended) return;
    if (this.#idleTimeout <= 0) return this.#finish();
    this.#rest();
  }

  onSurplus(): void {
    if (this.#exchanges.length > 0) this.#failAll(this.#lost(SPOKE));
    else this.#finish();
  }

  // Events of exchanges and their bodies.

  onConsumed(exchange: Http1Exchange): void {
    if (!this.#paused || exchange !== this.#exchanges[0]) return;
    if (exchange.unread <= this.#options.highWaterMark / 2) this.#resume();
  }

  onCancel(exchange: Http1Exchange, reason: unknown): void {
    if (exchange.cancelled) return;
    exchange.cancelled = true;
    const index = this.#exchanges.indexOf(exchange);
    if (index < 0) return;
    exchange.stopBody(reason);
    // Earlier requests still get their responses; the connection ends when this request's turn comes.
    if (exchange.sent && index > 0) return;
    this.#exchanges.splice(index, 1);
    if (!exchange.sent) {
      if (this.#exchanges.length === 0 && !this.#ended) this.#rest();
      return inMicrotask(() => this.closing && this.#exchanges.length === 0 ? this.#finish() : this.#tellFree());
    }
    if (this.#exchanges.length > 0) {
      this.#error ??= this.#lost("was left, because a request before this one was given up");
    }
    this.#end();
  }

  onBodyFailed(writer: BodyWriter, error: HttpError): void {
    if (this.#exchanges[0]?.writer === writer) this.#failAll(error);
  }

  /** Sends the first request once the event loop has polled the socket: bytes that came since the last response would count as this one's. */
  #beginLook(): void {
    const look = this.#look = {};
    afterPoll(() => {
      if (this.#look !== look) return;
      this.#look = undefined;
      this.#reader.expect(this.#exchanges[0].head.method);
      this.#send();
    });
  }

  #send(): void {
    const { origin, forwarding } = this.#options;
    for (const exchange of this.#exchanges) {
      if (!exchange.sent) exchange.send(this.#transport, origin, forwarding);
    }
  }

  #rest(): void {
    this.#look = undefined;
    this.#transport.keepProcess(false);
    this.#idle.start(this.#idleTimeout);
  }

  #stateInWords(): string {
    if (this.#look !== undefined) return SPOKE;
    const exchange: Http1Exchange | undefined = this.#exchanges[0];
    if (exchange !== undefined && (exchange.isAnswered || !exchange.wholeRequestSent)) return REQUEST_UNREAD;
    return this.#reader.begun ? CUT : UNANSWERED;
  }

  #leave(): void {
    this.#reusable = false;
    this.closing = true;
  }

  #stopBody(exchange: Http1Exchange): void {
    exchange.stopBody(this.#lost("answered before it had the whole request"));
    this.#leave();
  }

  #gather(gathers: boolean): void {
    this.#gathers = gathers;
    this.#transport.gather(gathers);
  }

  #resume(): void {
    this.#paused = false;
    if (!this.#ended) this.#transport.resume();
  }

  /** @param isClean Whether no request is in progress. */
  #end(isClean: boolean = false): void {
    if (this.#ended) return;
    this.#leave();
    this.#ended = true;
    this.#look = undefined;
    this.#reader.stop();
    if (isClean) this.#transport.leave(this.#options.bodyTimeout);
    else this.#transport.destroy();
  }

  #finish(): void {
    this.#end(true);
    this.#tellClosing();
  }

  /** Fails all requests of the connection; `error` is that of the exchange whose response is awaited first. */
  #failAll(error: HttpError, others: HttpError = error): void {
    this.#error ??= error;
    this.#end();
    const failed = this.#exchanges.splice(0);
    for (let i = 0; i < failed.length; i++) failed[i].fail(i === 0 ? error : others);
    this.#tellClosing();
  }

  #lost(what: string): HttpError {
    return new HttpError("CONNECTION_LOST", `${this.#options.origin} ${what}`, { origin: this.#options.origin });
  }

  #tellFree(): void {
    if (this.free > 0) this.#owner.onFree(this);
  }

  #tellClosing(): void {
    this.closing = true;
    if (this.#toldClosing) return;
    this.#toldClosing = true;
    this.#owner.onClosing(this);
  }
}
