import { openTransport } from "../../../lib/http/connect/open_transport.ts";
import type { Connection, Exchange, RequestBody } from "../../../lib/http/connection.ts";
import { Http1Connection, type Http1Options } from "../../../lib/http/h1/connection.ts";
import { certificates } from "../certificates.ts";
import { OwnerRecorder, Recorder, requestHead } from "./recorder.ts";

/** A connection to a server that listens. */
export class RealTalk {
  readonly owner: OwnerRecorder = new OwnerRecorder();
  readonly #url: URL;
  #connection: Connection = undefined as never; // set by open

  private constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Connects. */
  static async open(url: string, options: Partial<Http1Options> = {}): Promise<RealTalk> {
    const talk = new RealTalk(url);
    const { protocol, hostname, port, origin } = talk.#url;
    const target = { secure: protocol === "https:", host: hostname, port: Number(port) };
    const transport = await openTransport(target, {
      tls: { ca: certificates.ca },
      alpn: ["http/1.1"],
      timeout: 60_000,
    });
    const defaults = {
      pipelining: 1,
      bodyTimeout: 0,
      highWaterMark: 1024 * 1024,
      maxHeaderSize: 64 * 1024,
      idleTimeout: 4000,
    };
    talk.#connection = new Http1Connection(transport, { origin, ...defaults, ...options }, talk.owner);
    return talk;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Starts a request whose response is taken as it comes. */
  start(method: string, path: string, body?: RequestBody, recorder: Recorder = new Recorder()): RealStarted {
    const head = { ...requestHead(method, path, ["x-request", "1"]), authority: this.#url.host };
    const exchange = this.#connection.start(head, body, recorder);
    return { recorder, exchange };
  }

  /** Sends a request, and resolves when its response is there or will not come. */
  ask(method: string, path: string, body?: RequestBody): Promise<Recorder> {
    const recorder = new Recorder();
    recorder.hook = (call) => {
      if (call === "onData") exchange.consumed(recorder.lastSize);
    };
    const { exchange } = this.start(method, path, body, recorder);
    return recorder.over;
  }

  /** Closes it. */
  async end(): Promise<void> {
    this.#connection.close();
    await this.owner.closed;
  }
}

/** A started request. */
export interface RealStarted {
  readonly recorder: Recorder;
  readonly exchange: Exchange;
}
