import { Buffer } from "node:buffer";
import type {
  Connection,
  ConnectionOwner,
  Exchange,
  ExchangeHandler,
  HeaderList,
  RequestBody,
  RequestHead,
  ResponseHead,
  Transport,
} from "../../../lib/http/connection.ts";
import type { Http2Options } from "../../../lib/http/h2/http2_stream.ts";
import { Session } from "../../../lib/http/h2/session.ts";
import { afterPoll } from "../../../lib/runtime/mod.ts";
import type { HttpError } from "../../../lib/http/http_error.ts";
import { MemoryPeer } from "./memory_peer.ts";

/** Fulfils once the requests of this turn are sent: an idle session looks at its socket first. */
export function turn(): Promise<void> {
  return new Promise((resolve) => afterPoll(() => setImmediate(resolve)));
}

export const OPTIONS: Http2Options = {
  origin: "http://test",
  maxConcurrentStreams: Infinity,
  streamWindow: 1024 * 1024,
  maxHeaderSize: 65_536,
  pingInterval: 0,
  pingTimeout: 60_000,
  headersTimeout: 60_000,
  idleTimeout: 0,
  allowedAtFirst: 100,
};

/** A record of a session's calls to its owner. */
export class OwnerLog implements ConnectionOwner {
  readonly calls: string[] = [];
  error: HttpError | undefined = undefined;
  /** Done inside onFree, as the scheduler does it. */
  whenFree: (() => void) | undefined = undefined;
  readonly closed: Promise<void>;
  #onClosed: () => void = () => {};

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  onFree(connection: Connection): void {
    this.calls.push(`free ${connection.free}`);
    this.whenFree?.();
  }

  onClosing(): void {
    this.calls.push("closing");
  }

  onClosed(_connection: Connection, error: HttpError | undefined): void {
    this.calls.push("closed");
    this.error = error;
    this.#onClosed();
  }
}

/** Records a session's events of a request, and checks their order. */
export class Answer implements ExchangeHandler {
  readonly informational: number[] = [];
  head: ResponseHead | undefined = undefined;
  readonly chunks: Uint8Array[] = [];
  trailers: HeaderList | undefined = undefined;
  isEnded = false;
  isSentLate = false;
  /** Whether the request's body continued after the response had ended. */
  isLate = false;
  error: HttpError | undefined = undefined;
  /** The reason why its server may not have read a body that was sent late. */
  unread: HttpError | undefined = undefined;
  isUntouched = false;
  isUnsent = false;
  exchange!: Exchange;
  /** Resolves at the end, and when it fails. */
  readonly over: Promise<void>;
  /** Done with each chunk. */
  whenData: ((chunk: Uint8Array) => void) | undefined = undefined;
  whenHead: (() => void) | undefined = undefined;
  #onOver: () => void = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.#onOver = resolve;
    });
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  get size(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  onInformational(status: number): void {
    this.#requireOpen();
    this.informational.push(status);
  }

  onHead(head: ResponseHead): void {
    this.#requireOpen();
    if (this.head !== undefined) throw new Error("a second head");
    this.head = head;
    this.whenHead?.();
  }

  onData(chunk: Uint8Array): void {
    this.#requireOpen();
    if (this.head === undefined || chunk.length === 0) throw new Error("a chunk without head, or without bytes");
    this.chunks.push(chunk);
    this.whenData?.(chunk);
  }

  onSent(): void {
    if (this.isEnded) this.isSentLate = true;
  }

  onUnread(error: HttpError): void {
    if (!this.isSentLate || this.unread !== undefined) {
      throw new Error("told of a body that was not sent late, or again");
    }
    this.unread = error;
  }

  onEnd(trailers: HeaderList | undefined, isSending: boolean): void {
    this.isLate = isSending;
    this.#requireOpen();
    if (this.head === undefined) throw new Error("an end without head");
    this.isEnded = true;
    this.trailers = trailers;
    this.#onOver();
  }

  onFail(error: HttpError, untouched: boolean, unsent: boolean): void {
    if (!this.isLate) this.#requireOpen();
    this.error = error;
    this.isUntouched = untouched;
    this.isUnsent = unsent;
    this.#onOver();
  }

  #requireOpen(): void {
    if (this.isEnded || this.error !== undefined) throw new Error("told after the end");
  }
}

export function requestHead(path: string, method: string = "GET", headers: HeaderList = []): RequestHead {
  return { method, scheme: "http", authority: "test", path, headers };
}

/** Starts a request. */
export function ask(
  session: Connection,
  path: string = "/",
  { method = "GET", headers, body }: { method?: string; headers?: HeaderList; body?: RequestBody } = {},
): Answer {
  const answer = new Answer();
  answer.exchange = session.start(requestHead(path, method, headers), body, answer);
  return answer;
}

export interface Opened {
  readonly session: Connection;
  readonly owner: OwnerLog;
}

/** Opens a session on a transport. */
export function openOn(transport: Transport, options: Partial<Http2Options> = {}): Opened {
  const owner = new OwnerLog();
  return { session: new Session(transport, { ...OPTIONS, ...options }, owner), owner };
}

/** Returns a session with a peer in memory, its preface and SETTINGS exchanged; `settings` are the server's. */
export async function openSession(
  options: Partial<Http2Options> = {},
  settings: Readonly<Record<number, number>> = {},
): Promise<Opened & { peer: MemoryPeer }> {
  const peer = new MemoryPeer();
  const opened = openOn(peer, options);
  peer.settings(settings);
  peer.acknowledgeSettings();
  await new Promise((resolve) => setImmediate(resolve));
  peer.take();
  opened.owner.calls.length = 0;
  return { ...opened, peer };
}
