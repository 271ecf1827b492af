import { setImmediate } from "node:timers";
import type { Connection, RequestBody } from "../../../lib/http/connection.ts";
import { Http1Connection, type Http1Options } from "../../../lib/http/h1/connection.ts";
import { afterPoll } from "../../../lib/runtime/mod.ts";
import { MemoryTransport } from "./memory_transport.ts";
import { OwnerRecorder, Recorder, requestHead } from "./recorder.ts";

export const ORIGIN = "http://example.org";

const OPTIONS: Http1Options = {
  origin: ORIGIN,
  pipelining: 1,
  bodyTimeout: 0,
  highWaterMark: 1024 * 1024,
  maxHeaderSize: 64 * 1024,
  idleTimeout: 4000,
};

/** A connection whose server is the test, with a record of its events. */
export class Talk {
  readonly transport: MemoryTransport = new MemoryTransport();
  readonly owner: OwnerRecorder = new OwnerRecorder();
  readonly connection: Connection;

  constructor(options: Partial<Http1Options> = {}) {
    this.connection = new Http1Connection(this.transport, { ...OPTIONS, ...options }, this.owner);
  }

  /** Starts a request. */
  send(method = "GET", body?: RequestBody, path = "/"): Recorder {
    return this.start(method, body, path).recorder;
  }

  /** Starts a request, and returns the exchange as well. */
  start(method = "GET", body?: RequestBody, path = "/"): Started {
    const recorder = new Recorder();
    const exchange = this.connection.start(requestHead(method, path), body, recorder);
    if (recorder.calls.length > 0) throw new Error("told within start");
    return { recorder, exchange };
  }

  /** Ends it, so that no timer is left. */
  async end(): Promise<void> {
    this.transport.destroy();
    await this.owner.closed;
  }
}

/** A started request. */
export interface Started {
  readonly recorder: Recorder;
  readonly exchange: ReturnType<Connection["start"]>;
}

/** Parses one response whose bytes arrive at once, or cut at these positions. */
export async function answerTo(
  method: string,
  text: string,
  cuts: readonly number[] = [],
  options: Partial<Http1Options> = {},
): Promise<Talk & { recorder: Recorder }> {
  const talk = new Talk(options);
  const recorder = talk.send(method);
  talk.transport.giveCut(text, cuts);
  await settled();
  return Object.assign(talk, { recorder });
}

/** Waits for queued tasks and for those they queue; an idle connection was checked for stray data by then. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => afterPoll(resolve));
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
