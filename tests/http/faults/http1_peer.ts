import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { ServerRequest } from "./server_request.ts";

/** The state and callbacks common to the peers of one server. */
export interface Http1PeerOwner {
  /** The clients' violations of the standard. */
  readonly violations: string[];
  onRequest(request: ServerRequest): void;
}

/** The server's end of one socket of HTTP/1.1: requests one after the other; one that comes early waits. */
export class Http1Peer {
  readonly socket: Socket;
  readonly #owner: Http1PeerOwner;
  #rest: Buffer = Buffer.alloc(0);
  #current: Http1PeerRequest | undefined;

  constructor(socket: Socket, owner: Http1PeerOwner) {
    this.socket = socket;
    this.#owner = owner;
    socket.on("data", (chunk: Buffer) => {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#advance();
    });
    socket.on("drain", () => this.#current?.pump());
    socket.on("end", () => socket.end());
    socket.on("close", () => this.#current?.lose());
  }

  /** The response has ended: on to the next request, if the body of this one is whole. */
  leave(): void {
    if (this.#current && this.#current.isWhole && this.#current.hasEnded) {
      this.#current = undefined;
      queueMicrotask(() => this.#advance());
    }
  }

  #advance(): void {
    while (this.#rest.length > 0) {
      const current = this.#current;
      if (!current) {
        if (!this.#begin()) return;
        continue;
      }
      const taken = current.isWhole ? 0 : current.take(this.#rest); // bytes after a complete request wait
      if (taken === 0) return;
      this.#rest = this.#rest.subarray(taken);
    }
  }

  #begin(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const [line, ...lines] = this.#rest.toString("latin1", 0, end).split("\r\n");
    this.#rest = this.#rest.subarray(end + 4);
    const fields = fieldsOf(lines);
    const [method, path, version] = line.split(" ");
    if (version !== "HTTP/1.1") this.#owner.violations.push(`a request began with ${line}`);
    this.#current = new Http1PeerRequest(this, method, path, fields);
    this.#owner.onRequest(this.#current);
    return true;
  }
}

/** A request on an {@link Http1Peer}. */
class Http1PeerRequest implements ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly socket: Socket;
  received = 0;
  sum = 0;
  trailers: ReadonlyMap<string, string> = new Map();
  isWhole = false;
  isGone = false;
  hasEnded = false;
  backlog = 0;
  onBytes: ((bytes: Uint8Array) => void) | undefined = undefined;
  onWhole: (() => void) | undefined = undefined;
  onGone: (() => void) | undefined = undefined;
  readonly #peer: Http1Peer;
  readonly #isChunked: boolean;
  /** Bytes that the body, or the chunk, still has; with the line break behind it. */
  #left: number;
  #queue: Uint8Array[] = [];
  #isEnding = false;
  #trailers = "";
  #answersChunked = false;
  #isLast = false;

  constructor(peer: Http1Peer, method: string, path: string, fields: ReadonlyMap<string, string>) {
    this.#peer = peer;
    this.method = method;
    this.path = path;
    this.fields = fields;
    this.socket = peer.socket;
    this.#isChunked = fields.get("transfer-encoding") === "chunked";
    this.#left = Number(fields.get("content-length") ?? 0);
    if (this.#left === 0 && !this.#isChunked) this.isWhole = true;
  }

  get isHolding(): boolean {
    return this.socket.isPaused();
  }

  set isHolding(isHolding: boolean) {
    if (isHolding) this.socket.pause();
    else this.socket.resume();
  }

  inform(status: number, fields: Readonly<Record<string, string>> = {}): void {
    if (!this.isGone) this.socket.write(`HTTP/1.1 ${status} Wait\r\n${fieldLines(fields)}\r\n`, "latin1");
  }

  head(status: number, fields: Readonly<Record<string, string>> = {}): void {
    this.#isLast = fields.connection === "close";
    this.#answersChunked = fields["content-length"] === undefined && !this.#isLast && status !== 204 && status !== 304;
    const all = this.#answersChunked ? { ...fields, "transfer-encoding": "chunked" } : fields;
    if (!this.isGone) this.socket.write(`HTTP/1.1 ${status} Because\r\n${fieldLines(all)}\r\n`, "latin1");
  }

  data(bytes: Uint8Array): void {
    if (this.isGone) return;
    this.#queue.push(bytes);
    this.backlog += bytes.length;
    this.pump();
  }

  end(trailers: Readonly<Record<string, string>> = {}): void {
    this.#isEnding = true;
    this.#trailers = fieldLines(trailers);
    this.pump();
  }

  reset(): void {
    this.socket.destroy();
  }

  pump(): void {
    while (!this.isGone && this.#queue.length > 0 && !this.socket.writableNeedDrain) {
      const bytes = this.#queue.shift()!;
      this.backlog -= bytes.length;
      if (this.#answersChunked) this.socket.write(`${bytes.length.toString(16)}\r\n`, "latin1");
      this.socket.write(bytes);
      if (this.#answersChunked) this.socket.write("\r\n", "latin1");
    }
    if (!this.#isEnding || this.#queue.length > 0 || this.hasEnded || this.isGone) return;
    this.hasEnded = true;
    if (this.#answersChunked) this.socket.write(`0\r\n${this.#trailers}\r\n`, "latin1");
    if (this.#isLast) this.socket.end();
    else this.#peer.leave();
  }

  /** @returns How many of the bytes belong to this body, and were read. */
  take(bytes: Buffer): number {
    if (!this.#isChunked) return this.#takeSome(bytes, this.#left);
    if (this.#left > 2) return this.#takeSome(bytes, this.#left - 2);
    if (this.#left > 0) {
      if (bytes.length < this.#left) return 0;
      const size = this.#left;
      this.#left = 0;
      return size;
    }
    const end = bytes.indexOf("\r\n");
    if (end < 0) return 0;
    const size = parseInt(bytes.toString("latin1", 0, end), 16);
    if (size > 0) {
      this.#left = size + 2;
      return end + 2;
    }
    const last = bytes.indexOf("\r\n\r\n");
    if (last < 0) return 0;
    if (last > end) this.trailers = fieldsOf(bytes.toString("latin1", end + 2, last).split("\r\n"));
    this.#finish();
    return last + 4;
  }

  /** The socket's end has given it up. */
  lose(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.#queue = [];
    this.backlog = 0;
    this.onGone?.();
  }

  #takeSome(bytes: Buffer, most: number): number {
    const size = Math.min(bytes.length, most);
    this.received += size;
    for (let at = 0; at < size; at++) this.sum += bytes[at];
    this.onBytes?.(bytes.subarray(0, size));
    this.#left -= size;
    if (!this.#isChunked && this.#left === 0) this.#finish();
    return size;
  }

  #finish(): void {
    this.isWhole = true;
    this.onWhole?.();
    this.#peer.leave();
  }
}

function fieldsOf(lines: readonly string[]): Map<string, string> {
  return new Map(lines.map((text): [string, string] => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
  }));
}

function fieldLines(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
}
