import { connect, type Socket } from "node:net";

const END = "\r\n0\r\n\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");

/** Decides whether responses have the right body, looking closely only at one as long as none before. */
export class Judge {
  readonly #isRight: (body: string) => boolean;
  readonly #lengths: Set<number> = new Set();

  constructor(isRight: (body: string) => boolean) {
    this.#isRight = isRight;
  }

  /** Throws unless the response, headers and chunks, has the right body. */
  require(packets: readonly Buffer[], length: number): void {
    if (this.#lengths.has(length)) return;
    const [head, ...rest] = Buffer.concat(packets).toString("latin1").split("\r\n\r\n");
    if (!head.startsWith("HTTP/1.1 200 ")) throw new TypeError(`the answer is ${head.split("\r\n")[0]}`);
    const body = isChunked(head) ? joinChunks(rest.join("\r\n\r\n")) : rest.join("\r\n\r\n");
    if (!this.#isRight(body)) throw new TypeError(`the ${body.length} bytes that arrived are not the right ones`);
    this.#lengths.add(length);
  }
}

function isChunked(head: string): boolean {
  return /^transfer-encoding: *chunked$/im.test(head);
}

/** Returns the head of a response, which the first packet contains completely. */
function headOf(packet: Buffer): string {
  return packet.toString("latin1", 0, packet.indexOf(HEAD_END) + HEAD_END.length);
}

/** Returns the bytes of a response whose head gives a length, or 0. */
function lengthOf(head: string): number {
  const length = /^content-length: *(\d+)$/im.exec(head)?.[1];
  return length === undefined ? 0 : head.length + Number(length);
}

function joinChunks(text: string): string {
  let body = "";
  for (let at = 0;;) {
    const line = text.indexOf("\r\n", at);
    const size = parseInt(text.slice(at, line), 16);
    if (!(size > 0)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

/** The duration of a page and of its first byte, in milliseconds. */
export interface Visit {
  readonly latency: number;
  readonly firstByte: number;
}

/** A connection that is kept unless the server closes it, and asks for the page again as soon as it has it. */
export class Visitor {
  readonly #port: number;
  readonly #request: Buffer;
  readonly #judge: Judge;
  #socket: Socket;
  #visits: Visit[] = [];
  #firstByte = 0;
  #packets: Buffer[] = [];
  #length = 0;
  /** The announced length of the response; 0 if only its end shows it. */
  #announced = 0;
  /** Whether the server closes the connection after this response. */
  #closes = false;
  #tail = "";
  #asked = 0;
  #until = 0;
  #leave: () => void = () => {};
  #complain: (error: Error) => void = () => {};

  constructor({ port, request, judge }: { readonly port: number; readonly request: Buffer; readonly judge: Judge }) {
    this.#port = port;
    this.#request = request;
    this.#judge = judge;
    this.#socket = this.#connect();
  }

  /** Requests pages for a time, at least one, and resolves to the visits. */
  async visit(milliseconds: number): Promise<Visit[]> {
    this.#visits = [];
    await new Promise<void>((leave, complain) => {
      this.#leave = leave;
      this.#complain = complain;
      this.#until = performance.now() + milliseconds;
      this.#ask();
    });
    return this.#visits;
  }

  /** Closes the connection. */
  leave(): void {
    this.#socket.destroy();
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.on("data", (packet: Buffer) => this.#take(packet));
    socket.on("error", (error) => this.#complain(error));
    socket.on("close", () => this.#complain(new TypeError("the server closed the connection within a page")));
    return socket;
  }

  #ask(): void {
    if (this.#closes) {
      this.#socket.removeAllListeners().on("error", () => {}).destroy();
      this.#socket = this.#connect();
    }
    this.#packets = [];
    this.#length = 0;
    this.#tail = "";
    this.#asked = performance.now();
    this.#socket.write(this.#request);
  }

  #take(packet: Buffer): void {
    if (this.#packets.length === 0) {
      this.#firstByte = performance.now() - this.#asked;
      const head = headOf(packet);
      this.#announced = lengthOf(head);
      this.#closes = /^connection: *close$/im.test(head);
    }
    this.#packets.push(packet);
    this.#length += packet.length;
    if (!this.#isComplete(packet)) return;
    const now = performance.now();
    this.#visits.push({ latency: now - this.#asked, firstByte: this.#firstByte });
    try {
      this.#judge.require(this.#packets, this.#length);
    } catch (error) {
      return this.#complain(error as Error);
    }
    if (now < this.#until) this.#ask();
    else this.#leave();
  }

  #isComplete(packet: Buffer): boolean {
    if (this.#announced > 0) return this.#length === this.#announced;
    this.#tail = (this.#tail + packet.toString("latin1", Math.max(0, packet.length - END.length))).slice(-END.length);
    return this.#tail === END;
  }
}
