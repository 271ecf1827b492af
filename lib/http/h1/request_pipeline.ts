import type { Exchange, ExchangeHandler, RequestBody, RequestHead, Transport } from "../connection.ts";
import type { HttpError } from "../http_error.ts";
import { BodyWriter, type BodyWriterEvents } from "./body_writer.ts";
import { type Forwarding, writeRequestStart } from "./request_head.ts";

/** The callbacks of an exchange to its connection. */
export interface ExchangeHost {
  onConsumed(exchange: Http1Exchange): void;
  onCancel(exchange: Http1Exchange, reason: unknown): void;
}

/** Whether others may follow a request before its response has come: it is safe to send again, and has no body. */
export function isPipelinable({ method, closes }: Pick<RequestHead, "method" | "closes">, body: unknown): boolean {
  return body === undefined && !closes && (method === "GET" || method === "HEAD" || method === "OPTIONS");
}

/** A request and its response on an HTTP/1.1 connection. */
export class Http1Exchange implements Exchange {
  readonly #host: ExchangeHost;
  readonly head: RequestHead;
  readonly body: RequestBody | undefined;
  readonly handler: ExchangeHandler;
  readonly pipelinable: boolean;
  /** Whether something of it was given to the transport. */
  sent = false;
  /** Sends the body, unless that went out with the head. */
  writer: BodyWriter | undefined = undefined;
  cancelled = false;
  /** Bytes of the response that its reader has not taken yet. */
  unread = 0;

  constructor(host: ExchangeHost, head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler) {
    this.#host = host;
    this.head = head;
    this.body = body;
    this.handler = handler;
    this.pipelinable = isPipelinable(head, body);
  }

  /** Whether the server has, or will have, all of the request. */
  get wholeRequestSent(): boolean {
    return this.sent && (this.writer === undefined || this.writer.sent);
  }

  stopBody(reason: unknown): void {
    if (this.writer !== undefined) this.writer.stop(reason);
    else if (!this.sent) this.body?.cancel(reason);
  }

  fail(error: HttpError): void {
    if (this.cancelled) return;
    this.stopBody(error);
    this.handler.onFail(error, !this.sent);
  }

  consumed(bytes: number): void {
    this.unread -= bytes;
    this.#host.onConsumed(this);
  }

  cancel(reason: unknown): void {
    this.#host.onCancel(this, reason);
  }
}

export interface PipelineOptions {
  /** Of the server, for errors. */
  readonly origin: string;
  /** Most requests that are sent before the first of them is answered: GET, HEAD and OPTIONS without a body only. */
  readonly pipelining: number;
  /** The additions to requests that a proxy forwards. */
  readonly forwarding?: Forwarding | undefined;
}

/** The requests of a connection in the order of their responses. All are sent, or none is as long as the first waits for a look. */
export class RequestPipeline {
  readonly #transport: Transport;
  readonly #limit: number;
  readonly #events: BodyWriterEvents;
  readonly #origin: string;
  readonly #forwarding: Forwarding | undefined;
  readonly #exchanges: Http1Exchange[] = [];

  constructor(transport: Transport, { pipelining, origin, forwarding }: PipelineOptions, events: BodyWriterEvents) {
    this.#transport = transport;
    this.#limit = Math.max(1, pipelining);
    this.#events = events;
    this.#origin = origin;
    this.#forwarding = forwarding;
  }

  get length(): number {
    return this.#exchanges.length;
  }

  /** How many more there may be. None follows a request that is not safe to send again. */
  get free(): number {
    const { length } = this.#exchanges;
    if (length === 0) return this.#limit;
    return this.#exchanges[length - 1].pipelinable ? Math.max(0, this.#limit - length) : 0;
  }

  get first(): Http1Exchange | undefined {
    return this.#exchanges[0];
  }

  /** Adds one; {@link send} sends it. Returns how many there are. */
  push(exchange: Http1Exchange): number {
    return this.#exchanges.push(exchange);
  }

  shift(): Http1Exchange {
    return this.#exchanges.shift()!;
  }

  /** -1 if it is over. */
  indexOf(exchange: Http1Exchange): number {
    return this.#exchanges.indexOf(exchange);
  }

  remove(index: number): void {
    this.#exchanges.splice(index, 1);
  }

  takeAll(): Http1Exchange[] {
    return this.#exchanges.splice(0);
  }

  /** Sends those that are not sent. */
  send(): void {
    for (const exchange of this.#exchanges) {
      if (!exchange.sent) this.#send(exchange);
    }
  }

  #send(exchange: Http1Exchange): void {
    exchange.sent = true;
    const { head, body } = exchange;
    const { bytes, withBody } = writeRequestStart(head, body, this.#forwarding);
    if (body === undefined || withBody) return this.#transport.write(bytes);
    if (body.bytes !== undefined) {
      this.#transport.write(bytes);
      return this.#transport.write(body.bytes);
    }
    exchange.writer = new BodyWriter(this.#transport, body, this.#events, this.#origin);
    exchange.writer.start(bytes);
  }
}
