import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The time limit of a response, in ms. */
const LIMIT = 60_000;

/** A response over a persistent connection. */
export interface ReceivedAnswer {
  readonly status: number;
  /** The fields by lower-case name; lines with the same name are joined with ", ". */
  readonly fields: ReadonlyMap<string, string>;
  /** The body, without the chunked coding. */
  readonly body: Buffer;
  /** Whether the body was complete before the connection was closed. */
  readonly isWhole: boolean;
}

interface Head {
  readonly status: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly bodyStart: number;
}

/**
 * A client that sends one request after the other over the same connection, and opens another one when the server has
 * closed it.
 */
export class PersistentConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #wake: () => void = () => {};
  #isClosed = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request, and waits for the answer to it. */
  async ask(
    method: string,
    target: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<ReceivedAnswer> {
    if (this.#socket === undefined || this.#isClosed) await this.#open();
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket!.write(`${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join("")}\r\n`);
    const head = await this.#head(`${method} ${target}`);
    const { body, end } = await this.#body(head, method);
    const rest = this.#all().subarray(end);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    if (rest.length > 0) throw new Error(`${rest.length} bytes follow the answer to ${method} ${target}`);
    return { status: head.status, fields: head.fields, body, isWhole: end >= 0 };
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<void> {
    const socket = this.#socket = connect(this.#port, "127.0.0.1");
    socket.setNoDelay(true);
    this.#isClosed = false;
    this.#chunks = [];
    this.#size = 0;
    await once(socket, "connect");
    socket.on("error", () => {}); // it closes then
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
      this.#wake();
    });
    socket.on("close", () => {
      if (socket !== this.#socket) return;
      this.#isClosed = true;
      this.#wake();
    });
  }

  async #head(what: string): Promise<Head> {
    for (;;) {
      const all = this.#all();
      const end = all.indexOf("\r\n\r\n");
      if (end >= 0) return parsedHead(all.toString("latin1", 0, end), end + 4);
      if (this.#isClosed) throw new Error(`the connection was closed instead of an answer to ${what}`);
      await this.#more(what);
    }
  }

  /** Returns the body and the position of its end in the received bytes; -1 if it is incomplete. */
  async #body({ status, fields, bodyStart }: Head, method: string): Promise<{ body: Buffer; end: number }> {
    const isChunked = fields.get("transfer-encoding")?.toLowerCase() === "chunked";
    const hasNone = method === "HEAD" || status === 204 || status === 304;
    const length = hasNone ? 0 : Number(fields.get("content-length") ?? (isChunked ? Infinity : NaN));
    if (Number.isNaN(length)) throw new Error(`a ${status} with neither a length nor chunks`);
    for (;;) {
      if (this.#size >= bodyStart + length) {
        return { body: this.#all().subarray(bodyStart, bodyStart + length), end: bodyStart + length };
      }
      const unchunked = isChunked && !hasNone ? outOfChunks(this.#all(), bodyStart) : undefined;
      if (unchunked) return unchunked;
      if (this.#isClosed) return { body: this.#all().subarray(bodyStart), end: -1 };
      await this.#more(`the rest of a ${status}`);
    }
  }

  #all(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0];
  }

  #more(what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`nothing more comes of ${what} after ${this.#size} bytes`)),
        LIMIT,
      );
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function parsedHead(text: string, bodyStart: number): Head {
  const [statusLine, ...lines] = text.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an answer: ${statusLine}`);
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const former = fields.get(name);
    const value = line.slice(colon + 1).trim();
    fields.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return { status, fields, bodyStart };
}

/** Decodes a chunked body; undefined if it is incomplete. */
function outOfChunks(all: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start;;) {
    const line = all.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = parseInt(all.toString("latin1", at, line), 16);
    const end = line + 2 + size + 2;
    if (Number.isNaN(size)) throw new Error("not a chunk");
    if (end > all.length) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), end };
    chunks.push(all.subarray(line + 2, line + 2 + size));
    at = end;
  }
}
