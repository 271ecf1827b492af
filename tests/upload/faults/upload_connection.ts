import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The time limit of a response, in ms. */
const LIMIT = 60_000;

/** The ways of a client to end: it closes the connection, resets it, or only ends its own side. */
export type Leaving = "close" | "reset" | "half-close";

/** A server's response, parsed here so that no client's leniency hides a fault. */
export interface UploadAnswer {
  readonly status: number;
  /** The fields by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  /** The body, decoded if it was chunked. */
  readonly body: string;
}

/** A client's connection that sends exactly the given bytes. */
export class UploadConnection {
  /** The number of interim responses (100 Continue). */
  interim = 0;
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  readonly #changes = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#tell();
    });
    socket.on("error", () => {}); // it closes then
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.#isClosed = true;
        this.#tell();
      });
    }
  }

  /** Opens one to a port of 127.0.0.1. */
  static async open(port: number): Promise<UploadConnection> {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return new UploadConnection(socket);
  }

  /**
   * Sends bytes; the characters of a string are bytes with their codes. Fulfils when the system has taken them, with
   * false if more bytes would be useless, because an answer has come or the connection is closed. (The caller may still
   * send more.)
   */
  async send(bytes: string | Uint8Array): Promise<boolean> {
    if (this.#isClosed) return false;
    let isTaken = false;
    this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, () => {
      isTaken = true;
      this.#tell();
    });
    await this.#until(() => isTaken || this.#isDone(), "the server takes nothing more");
    return !this.#isDone();
  }

  /** Sends bytes in pieces as long as there is use in it. */
  async sendAll(bytes: Uint8Array, pieceSize = 65_536): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += pieceSize) {
      if (!await this.send(bytes.subarray(at, at + pieceSize))) return false;
    }
    return true;
  }

  /** Returns the next final answer; undefined if the connection was closed without one. */
  async answer(): Promise<UploadAnswer | undefined> {
    for (;;) {
      let parsed = parseAnswer(this.#received, this.#isClosed);
      if (!parsed) {
        if (this.#isClosed) return undefined;
        await this.#until(
          () => this.#isClosed || (parsed = parseAnswer(this.#received, false)) !== undefined,
          "no answer",
        );
        continue;
      }
      this.#received = this.#received.subarray(parsed.size);
      if (parsed.status >= 200) return parsed;
      this.interim++;
    }
  }

  /** Waits until the server has closed the connection. */
  closed(): Promise<void> {
    return this.#until(() => this.#isClosed, "the server does not close the connection");
  }

  /** Ends the connection in the given way, even during a request. */
  leave(how: Leaving = "close"): void {
    if (how === "half-close") this.#socket.end();
    else if (how === "reset") this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  #isDone(): boolean {
    return this.#isClosed || parseHead(this.#received)?.isFinal === true;
  }

  #tell(): void {
    for (const change of [...this.#changes]) change();
  }

  #until(holds: () => boolean, otherwise: string): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const received = (): string => JSON.stringify(this.#received.toString("latin1", 0, 500));
      const timer = setTimeout(() => {
        this.#changes.delete(check);
        reject(new Error(`${otherwise} after ${LIMIT} ms; received ${received()}, closed ${this.#isClosed}`));
      }, LIMIT);
      const check = (): void => {
        if (!holds()) return;
        clearTimeout(timer);
        this.#changes.delete(check);
        resolve();
      };
      this.#changes.add(check);
    });
  }
}

interface Head {
  readonly status: number;
  readonly isFinal: boolean;
  readonly fields: ReadonlyMap<string, string>;
  readonly size: number;
}

function parseHead(received: Buffer): Head | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine, ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an answer: ${JSON.stringify(statusLine)}`);
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status, isFinal: status >= 200, fields, size: end + 4 };
}

/** Parses the first response in the received bytes, with its size; undefined if it is incomplete. */
function parseAnswer(received: Buffer, isClosed: boolean): UploadAnswer & { readonly size: number } | undefined {
  const head = parseHead(received);
  if (!head) return undefined;
  const { status, fields, size } = head;
  if (!head.isFinal || status === 204) return { status, fields, body: "", size };
  if (fields.get("transfer-encoding")?.toLowerCase() === "chunked") {
    const content = outOfChunks(received, size);
    return content && { status, fields, ...content };
  }
  const length = Number(fields.get("content-length") ?? NaN);
  if (Number.isNaN(length) && !isClosed) return undefined;
  const end = Number.isNaN(length) ? received.length : size + length;
  return end > received.length ? undefined : { status, fields, body: received.toString("utf8", size, end), size: end };
}

function outOfChunks(received: Buffer, start: number): { body: string; size: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start;;) {
    const line = received.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = parseInt(received.toString("latin1", at, line), 16);
    const end = line + 2 + size + 2;
    if (Number.isNaN(size)) throw new Error("the answer has a malformed chunk");
    if (end > received.length) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks).toString("utf8"), size: end };
    chunks.push(received.subarray(line + 2, line + 2 + size));
    at = end;
  }
}
