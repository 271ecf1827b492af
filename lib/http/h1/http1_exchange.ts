import type { Exchange, ExchangeHandler, RequestBody, RequestHead } from "../exchange.ts";
import type { HttpError } from "../http_error.ts";
import type { BodyWriter } from "./body_writer.ts";

/** The callbacks of an exchange to its connection. */
export interface ExchangeHost {
  /** The reader of a response took some of it. */
  onConsumed(exchange: Http1Exchange): void;
  /** Nobody wants the response any more. */
  onCancel(exchange: Http1Exchange, reason: unknown): void;
}

/** A request and its response on an HTTP/1.1 connection. */
export class Http1Exchange implements Exchange {
  readonly #host: ExchangeHost;
  /** The request, and the handler of its response. */
  readonly head: RequestHead;
  readonly body: RequestBody | undefined;
  readonly handler: ExchangeHandler;
  /** Whether others may follow before its response has come: it is safe to send again, and has no body. */
  readonly pipelinable: boolean;
  /** Whether something of it was given to the transport. */
  sent = false;
  /** Sends the body, unless that went out with the head. */
  writer: BodyWriter | undefined = undefined;
  /** Nobody waits for its response any more. */
  cancelled = false;
  /** Bytes of the response that its reader has not taken yet. */
  unread = 0;

  /** Creates an exchange that is not sent yet. */
  constructor(host: ExchangeHost, head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler) {
    this.#host = host;
    this.head = head;
    this.body = body;
    this.handler = handler;
    const { method, closes } = head;
    this.pipelinable = body === undefined && !closes && (method === "GET" || method === "HEAD" || method === "OPTIONS");
  }

  /** Whether the server has, or will have, all of the request. */
  get wholeRequestSent(): boolean {
    return this.sent && (this.writer === undefined || this.writer.sent);
  }

  /** The rest of the body is not wanted. */
  stopBody(reason: unknown): void {
    if (this.writer !== undefined) this.writer.stop(reason);
    else if (!this.sent) this.body?.cancel(reason);
  }

  /** The response, or the rest of it, will not come. */
  fail(error: HttpError): void {
    if (this.cancelled) return;
    this.stopBody(error);
    this.handler.onFail(error, !this.sent);
  }

  /** The reader took so many bytes. */
  consumed(bytes: number): void {
    this.unread -= bytes;
    this.#host.onConsumed(this);
  }

  /** Cancels the exchange. */
  cancel(reason: unknown): void {
    this.#host.onCancel(this, reason);
  }
}
