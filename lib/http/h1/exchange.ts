import type { Exchange, ExchangeHandler, RequestBody, RequestHead, Transport } from "../connection.ts";
import type { HttpError } from "../http_error.ts";
import { BodyWriter, type BodyWriterEvents, type Forwarding, LARGE, writeRequestStart } from "./request_writer.ts";

export interface ExchangeHost extends BodyWriterEvents {
  /** The written bytes that the system has not taken. */
  readonly waiting: number;
  onConsumed(exchange: Http1Exchange): void;
  onCancel(exchange: Http1Exchange, reason: unknown): void;
}

/** Whether further requests may be sent before a request's response: if it is safe to send again, has no body, and does not end its connection, as HEAD does. */
export function isPipelinable({ method, closes, alone }: RequestHead, body: unknown): boolean {
  return body === undefined && !closes && !alone && (method === "GET" || method === "OPTIONS");
}

export class Http1Exchange implements Exchange {
  readonly #host: ExchangeHost;
  readonly head: RequestHead;
  readonly body: RequestBody | undefined;
  readonly handler: ExchangeHandler;
  readonly pipelinable: boolean;
  /** Whether bytes of the request were given to the transport. */
  sent = false;
  writer: BodyWriter | undefined = undefined;
  cancelled = false;
  /** Whether the server accepts the request, so that its body is sent to the end although the response has ended. */
  isAccepted = false;
  /** Whether the response has ended while the body is still being sent. */
  isAnswered = false;
  #isSentTold = false;
  /** The bytes of the response that its reader has not taken yet. */
  unread = 0;

  constructor(host: ExchangeHost, head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler) {
    this.#host = host;
    this.head = head;
    this.body = body;
    this.handler = handler;
    this.pipelinable = isPipelinable(head, body);
  }

  /** Whether the server has all of the request, or certainly will. */
  get wholeRequestSent(): boolean {
    return this.sent && (this.writer === undefined || this.writer.sent);
  }

  get isSending(): boolean {
    return this.body !== undefined && (!this.wholeRequestSent || this.#host.waiting > 0);
  }

  /** Reports that the body is sent, if it is. */
  tellSent(): void {
    if (this.#isSentTold || this.cancelled || this.body === undefined || this.isSending) return;
    this.#isSentTold = true;
    this.handler.onSent(true);
  }

  get progressAt(): number {
    return this.writer?.progressAt ?? 0;
  }

  stopBody(reason: unknown): void {
    if (this.writer !== undefined) this.writer.stop(reason);
    else if (!this.sent) this.body?.cancel(reason);
  }

  fail(error: HttpError): void {
    if (this.cancelled) return;
    this.stopBody(error);
    this.handler.onFail(error, !this.sent, !this.sent);
  }

  consumed(bytes: number): void {
    this.unread -= bytes;
    this.#host.onConsumed(this);
  }

  cancel(reason: unknown): void {
    this.#host.onCancel(this, reason);
  }

  send(transport: Transport, origin: string, forwarding: Forwarding | undefined): void {
    this.sent = true;
    const { head, body } = this;
    const { bytes, withBody } = writeRequestStart(head, body, forwarding);
    if (body === undefined || withBody) return transport.write(bytes, withBody);
    if (body.bytes !== undefined && body.bytes.length <= LARGE) {
      transport.write(bytes);
      return transport.write(body.bytes, true);
    }
    this.writer = new BodyWriter(transport, body, this.#host, origin);
    this.writer.start(bytes);
  }
}
