import type { Transport } from "../transport.ts";
import { BodyWriter, type BodyWriterEvents } from "./body_writer.ts";
import type { Http1Exchange } from "./http1_exchange.ts";
import { type Forwarding, writeRequestStart } from "./request_head.ts";

/** How a pipeline behaves. */
export interface PipelineOptions {
  /** Of the server, for errors. */
  readonly origin: string;
  /** Most requests that are sent before the first of them is answered: GET, HEAD and OPTIONS without a body only. */
  readonly pipelining: number;
  /** The additions to requests that a proxy forwards. */
  readonly forwarding?: Forwarding | undefined;
}

/** The requests of a connection in the order of their responses. Those that are sent come first. */
export class RequestPipeline {
  readonly #transport: Transport;
  readonly #limit: number;
  readonly #events: BodyWriterEvents;
  readonly #origin: string;
  readonly #forwarding: Forwarding | undefined;
  readonly #exchanges: Http1Exchange[] = [];

  /**
   * Makes an empty one.
   *
   * @param events The callbacks for request bodies that break.
   */
  constructor(transport: Transport, { pipelining, origin, forwarding }: PipelineOptions, events: BodyWriterEvents) {
    this.#transport = transport;
    this.#limit = Math.max(1, pipelining);
    this.#events = events;
    this.#origin = origin;
    this.#forwarding = forwarding;
  }

  /** How many there are. */
  get length(): number {
    return this.#exchanges.length;
  }

  /** How many more there may be. None follows a request that is not safe to send again. */
  get free(): number {
    const { length } = this.#exchanges;
    if (length === 0) return this.#limit;
    return this.#exchanges[length - 1].pipelinable ? Math.max(0, this.#limit - length) : 0;
  }

  /** The one that is answered now or next. */
  get first(): Http1Exchange | undefined {
    return this.#exchanges[0];
  }

  /** Adds one; {@link sendWaiting} sends it. Returns how many there are. */
  push(exchange: Http1Exchange): number {
    return this.#exchanges.push(exchange);
  }

  /** Removes the first exchange, which was answered, and returns it. */
  shift(): Http1Exchange {
    return this.#exchanges.shift()!;
  }

  /** Returns the index of an exchange; -1 if it is over. */
  indexOf(exchange: Http1Exchange): number {
    return this.#exchanges.indexOf(exchange);
  }

  /** Removes the exchange at an index. */
  remove(index: number): void {
    this.#exchanges.splice(index, 1);
  }

  /** Removes all exchanges, and returns them. */
  takeAll(): Http1Exchange[] {
    return this.#exchanges.splice(0);
  }

  /** Sends what may be sent: the first, and as many after it as are safe to send again. */
  sendWaiting(): void {
    for (let i = 0; i < this.#exchanges.length; i++) {
      const exchange = this.#exchanges[i];
      if (exchange.sent) continue;
      if (i > 0 && !(exchange.pipelinable && this.#exchanges[i - 1].pipelinable)) return;
      this.#send(exchange);
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
