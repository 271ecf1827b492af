import { connect, type Socket } from "node:net";

const request = Buffer.from("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
const END = "\r\n0\r\n\r\n";

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
    const body = joinChunks(rest.join("\r\n\r\n"));
    if (body !== this.#page) throw new TypeError(`${body.length} of ${this.#page.length} bytes arrived, or others`);
    this.#lengths.add(length);
  }
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

/** One connection that is kept, and asks for the page again as soon as it has it. */
export class Visitor {
  readonly #judge: Judge;
  readonly #socket: Socket;
  #latencies: number[] = [];
  #packets: Buffer[] = [];
  #length = 0;
  #tail = "";
  #asked = 0;
  #until = 0;
  #leave: () => void = () => {};
  #complain: (error: Error) => void = () => {};

  constructor(port: number, judge: Judge) {
    this.#judge = judge;
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (packet: Buffer) => this.#take(packet));
    this.#socket.on("error", (error) => this.#complain(error));
    this.#socket.on("close", () => this.#complain(new TypeError("the server closed the connection within a page")));
  }

  /** Asks for pages for so long, at least for one, and resolves to what each took, in milliseconds. */
  async visit(milliseconds: number): Promise<number[]> {
    this.#latencies = [];
    await new Promise<void>((leave, complain) => {
      this.#leave = leave;
      this.#complain = complain;
      this.#until = performance.now() + milliseconds;
      this.#ask();
    });
    return this.#latencies;
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
    this.#socket.write(request);
  }

  #take(packet: Buffer): void {
    this.#packets.push(packet);
    this.#length += packet.length;
    this.#tail = (this.#tail + packet.toString("latin1", Math.max(0, packet.length - END.length))).slice(-END.length);
    if (this.#tail !== END) return;
    const now = performance.now();
    this.#latencies.push(now - this.#asked);
    try {
      this.#judge.require(this.#packets, this.#length);
    } catch (error) {
      return this.#complain(error as Error);
    }
    if (now < this.#until) this.#ask();
    else this.#leave();
  }
}
