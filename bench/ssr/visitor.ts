import { connect, type Socket } from "node:net";

const END = "\r\n0\r\n\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");

/** Decides whether a response is the page, looking closely only at one as long as none before. */
export class Judge {
  readonly #page: string;
  readonly #lengths: Set<number> = new Set();

  constructor(page: string) {
    this.#page = page;
  }

  /** Throws unless the response, headers and chunks, has the page for its body. */
  require(packets: readonly Buffer[], length: number): void {
    if (this.#lengths.has(length)) return;
    const [head, ...rest] = Buffer.concat(packets).toString("latin1").split("\r\n\r\n");
    if (!head.startsWith("HTTP/1.1 200 ")) throw new TypeError(`the answer is ${head.split("\r\n")[0]}`);
    const body = isChunked(head) ? joinChunks(rest.join("\r\n\r\n")) : rest.join("\r\n\r\n");
    if (body !== this.#page) throw new TypeError(`${body.length} of ${this.#page.length} bytes arrived, or others`);
    this.#lengths.add(length);
  }
}

function isChunked(head: string): boolean {
  return /^transfer-encoding: *chunked$/im.test(head);
}

/** The bytes of a response whose head gives a length, or 0. The first packet has all of so small a head. */
function lengthOf(packet: Buffer): number {
  const headLength = packet.indexOf(HEAD_END) + HEAD_END.length;
  const length = /^content-length: *(\d+)$/im.exec(packet.toString("latin1", 0, headLength))?.[1];
  return length === undefined ? 0 : headLength + Number(length);
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

/** How long a page took, and its first byte, in milliseconds. */
export interface Visit {
  readonly latency: number;
  readonly firstByte: number;
}

/** One connection that is kept, and asks for the page again as soon as it has it. */
export class Visitor {
  readonly #request: Buffer;
  readonly #judge: Judge;
  readonly #socket: Socket;
  #visits: Visit[] = [];
  #firstByte = 0;
  #packets: Buffer[] = [];
  #length = 0;
  /** How long the response is going to be; 0 if only its end will tell. */
  #announced = 0;
  #tail = "";
  #asked = 0;
  #until = 0;
  #leave: () => void = () => {};
  #complain: (error: Error) => void = () => {};

  constructor({ port, path, judge }: { readonly port: number; readonly path: string; readonly judge: Judge }) {
    this.#request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    this.#judge = judge;
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (packet: Buffer) => this.#take(packet));
    this.#socket.on("error", (error) => this.#complain(error));
    this.#socket.on("close", () => this.#complain(new TypeError("the server closed the connection within a page")));
  }

  /** Asks for pages for so long, at least for one, and resolves to what each took. */
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

  #ask(): void {
    this.#packets = [];
    this.#length = 0;
    this.#tail = "";
    this.#asked = performance.now();
    this.#socket.write(this.#request);
  }

  #take(packet: Buffer): void {
    if (this.#packets.length === 0) {
      this.#firstByte = performance.now() - this.#asked;
      this.#announced = lengthOf(packet);
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
