import type { Transport, TransportEvents } from "../../../lib/http/connection.ts";

/** The events of a transport, in order. */
export class Record implements TransportEvents {
  /** `data`, `drain`, `end`, `close`; pieces of data that follow each other count as one. */
  readonly order: string[] = [];
  received = "";
  bytes = 0;
  error: Error | undefined;
  /** Whether a callback ran while the transport was being called. */
  reentered = false;
  readonly #transport: Transport;
  #calling = false;
  #waiting: { until: () => boolean; resolve: () => void }[] = [];

  constructor(transport: Transport) {
    this.#transport = transport;
    this.calling(() => transport.attach(this));
  }

  /** Calls a method of the transport, during which no callback may run. */
  calling(call: () => void): void {
    this.#calling = true;
    call();
    this.#calling = false;
  }

  write(text: string): void {
    this.calling(() => this.#transport.write(new TextEncoder().encode(text)));
  }

  onData(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.received.length < 1_000) this.received += new TextDecoder().decode(chunk);
    this.#told("data");
  }

  onDrain(): void {
    this.#told("drain");
  }

  onEnd(): void {
    this.#told("end");
  }

  onClose(error: Error | undefined): void {
    this.error = error;
    this.#told("close");
  }

  /** Resolves once the condition holds; it is checked after each event. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ until: condition, resolve }));
  }

  closed(): Promise<void> {
    return this.until(() => this.order.includes("close"));
  }

  #told(what: string): void {
    if (this.#calling) this.reentered = true;
    if (what !== "data" || this.order.at(-1) !== "data") this.order.push(what);
    const ready = this.#waiting.filter(({ until }) => until());
    this.#waiting = this.#waiting.filter((waiting) => !ready.includes(waiting));
    for (const { resolve } of ready) resolve();
  }
}
