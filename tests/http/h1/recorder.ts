import type {
  Connection,
  ConnectionOwner,
  ExchangeHandler,
  HeaderList,
  RequestBody,
  RequestHead,
  ResponseHead,
} from "../../../lib/http/connection.ts";
import type { HttpError } from "../../../lib/http/http_error.ts";
import { textOf } from "./memory_transport.ts";

/** A recorder of the events of one request. */
export class Recorder implements ExchangeHandler {
  readonly informational: [number, HeaderList][] = [];
  head: ResponseHead | undefined = undefined;
  body = "";
  /** Bytes of the last chunk. */
  lastSize = 0;
  trailers: HeaderList | undefined = undefined;
  error: HttpError | undefined = undefined;
  untouched: boolean | undefined = undefined;
  /** The calls in order; successive `onData` calls count as one. */
  readonly calls: string[] = [];
  /** Fulfilled when nothing more is called. */
  readonly over: Promise<this>;
  /** Called at the end of each call, with its name. */
  hook: (call: string) => void = () => {};
  #settle: (self: this) => void = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  onInformational(status: number, headers: HeaderList): void {
    this.informational.push([status, headers]);
    this.#note("onInformational");
  }

  onHead(head: ResponseHead): void {
    this.head = head;
    this.#note("onHead");
  }

  onData(chunk: Uint8Array): void {
    if (chunk.length === 0) throw new Error("an empty chunk");
    this.body += textOf(chunk);
    this.lastSize = chunk.length;
    this.#note("onData");
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.trailers = trailers;
    this.#note("onEnd");
    this.#settle(this);
  }

  onSent(): void {
    if (this.calls.includes("onEnd")) this.#note("onSent");
  }

  onFail(error: HttpError, untouched: boolean): void {
    this.error = error;
    this.untouched = untouched;
    this.#note("onFail");
    this.#settle(this);
  }

  #note(call: string): void {
    if ((this.calls.includes("onEnd") && call !== "onSent" && call !== "onFail") || this.calls.includes("onFail")) {
      throw new Error(`${call} after the end`);
    }
    if (call !== "onData" || this.calls.at(-1) !== "onData") this.calls.push(call);
    this.hook(call);
  }
}

/** A recorder of a connection's calls to its owner. */
export class OwnerRecorder implements ConnectionOwner {
  readonly calls: string[] = [];
  error: HttpError | undefined = undefined;
  /** Fulfilled when the connection has closed. */
  readonly closed: Promise<void>;
  #settle: () => void = () => {};

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  onFree(): void {
    this.calls.push("onFree");
  }

  onClosing(connection: Connection): void {
    if (!connection.closing) throw new Error("it is not closing");
    this.calls.push("onClosing");
  }

  onClosed(_: Connection, error: HttpError | undefined): void {
    this.calls.push("onClosed");
    this.error = error;
    this.#settle();
  }
}

/** Returns a request's head. */
export function requestHead(method: string, path = "/", headers: HeaderList = []): RequestHead {
  return { method, scheme: "http", authority: "example.org", path, headers };
}

/** A body that is read in pieces, as the test gives them. */
export class PiecesBody implements RequestBody {
  readonly length: number | undefined;
  readonly bytes = undefined;
  readonly #pieces: (string | Error)[];
  /** The number of reads. */
  reads = 0;
  /** The reason of its cancellation. */
  cancelled: unknown = undefined;

  constructor(pieces: (string | Error)[], length?: number) {
    this.#pieces = pieces;
    this.length = length;
  }

  read(): Promise<Uint8Array | undefined> {
    this.reads++;
    const piece = this.#pieces.shift();
    if (piece instanceof Error) return Promise.reject(piece);
    return Promise.resolve(piece === undefined ? undefined : new TextEncoder().encode(piece));
  }

  cancel(reason: unknown): void {
    this.cancelled = reason;
  }
}

/** Returns a body in memory. */
export function bytesBody(text: string): RequestBody {
  const bytes = new TextEncoder().encode(text);
  return {
    length: bytes.length,
    bytes,
    read: () => Promise.reject(new Error("its bytes are there")),
    cancel: () => {},
  };
}
