import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { until } from "../../support/waits.ts";

/** A response as received. */
export interface ClientAnswer {
  readonly status: number;
  /** The fields by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
  /** The whole response as text. */
  readonly all: string;
}

/** A client that sends the given bytes, one by one, and waits for nothing. */
export class RawClient {
  readonly socket: Socket;
  /** The received bytes that are not parsed yet, one character each. */
  received = "";
  /** Whether the server has ended the connection. */
  isOver = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.received += text);
    socket.on("error", () => {}); // it closes then
    socket.on("end", () => this.isOver = true).on("close", () => this.isOver = true);
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** Sends a header; every character is sent as the byte of its code. */
  ask(method: string, target: string, lines: readonly string[] = []): void {
    this.send([`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "", ""].join("\r\n"));
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Sends 64 KiB at a time until the server has ended the connection, or `most` bytes are out; gives how many. */
  async flood(most: number, wrap: (piece: Uint8Array) => Uint8Array = (piece) => piece): Promise<number> {
    const piece = wrap(new Uint8Array(65_536).fill(120));
    let sent = 0;
    while (sent < most && !this.isOver && this.socket.writable) {
      sent += 65_536;
      if (this.socket.write(piece)) continue;
      const changed = new AbortController();
      const { signal } = changed;
      await Promise.race(["drain", "close"].map((event) => once(this.socket, event, { signal }).catch(() => {})));
      changed.abort();
    }
    return sent;
  }

  /** Returns the next response once it is complete. */
  async answer(method = "PUT"): Promise<ClientAnswer> {
    let parsed: { answer: ClientAnswer; length: number } | undefined;
    await until(() => (parsed = parsedAnswer(this.received, method)) !== undefined || this.isOver, "an answer is here");
    // Bun sends the answer in a chunk, and the end of the chunks just before it cuts the connection of who still sends.
    if (this.isOver && this.received.endsWith("}\r\n")) parsed = parsedAnswer(`${this.received}0\r\n\r\n`, method);
    if (parsed === undefined) throw new Error(`no answer, but ${JSON.stringify(this.received)}`);
    this.received = this.received.slice(parsed.length);
    return parsed.answer;
  }

  close(): void {
    this.socket.destroy();
  }
}

function parsedAnswer(text: string, method: string): { answer: ClientAnswer; length: number } | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine, ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})\b/.exec(statusLine)?.[1]);
  const fields = new Map(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const isEmpty = method === "HEAD" || status < 200 || status === 204;
  const isChunked = fields.get("transfer-encoding") === "chunked" && !isEmpty;
  const content = isChunked
    ? outOfChunks(text, end + 4)
    : outOfLength(text, end + 4, isEmpty ? "0" : fields.get("content-length"));
  if (content === undefined) return undefined;
  const body = Buffer.from(content.text, "latin1").toString();
  return { answer: { status, fields, body, all: text.slice(0, content.end) }, length: content.end };
}

/** A body, one character a byte, and the position of its end; undefined if it is incomplete. */
type Content = { readonly text: string; readonly end: number } | undefined;

function outOfLength(text: string, start: number, length = ""): Content {
  const end = start + Number(length);
  if (length === "") throw new Error(`an answer without a length: ${text}`);
  return text.length < end ? undefined : { text: text.slice(start, end), end };
}

function outOfChunks(text: string, start: number): Content {
  let content = "";
  for (let at = start;;) {
    const line = text.indexOf("\r\n", at);
    const size = parseInt(text.slice(at, line), 16);
    at = line + 2 + size + 2;
    if (line === -1 || text.length < at) return undefined;
    if (size === 0) return { text: content, end: at };
    content += text.slice(line + 2, line + 2 + size);
  }
}

/** Returns a piece of a chunked body. */
export function chunkOf(piece: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
}
