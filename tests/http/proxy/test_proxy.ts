import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { certificates } from "../certificates.ts";
import { Listener } from "../faults/listener.ts";

/** The protocol of a proxy. */
export type ProxyScheme = "http" | "https" | "socks5" | "socks5h";

/** The behaviour of a proxy. */
export interface TestProxyOptions {
  /** The `user:password` that it asks for. Default: none. */
  readonly credentials?: string;
  /** Speaks instead of it; default: as a proxy should. */
  readonly onSocket?: (socket: Socket) => void;
  /**
   * Returns the address for a host, or undefined. Requests that are not to be tunnelled are passed on as they are.
   * Default: 127.0.0.1.
   */
  readonly lead?: (host: string) => string | undefined;
  /** Given each socket that is connected to where it was led. */
  readonly onUpstream?: (socket: Socket) => void;
}

/** A proxy on 127.0.0.1 that takes every name for 127.0.0.1, and notes its requests. */
export class TestProxy {
  readonly scheme: ProxyScheme;
  readonly listener: Listener;
  /** Heads of requests as they came, of CONNECT too. */
  readonly heads: string[] = [];
  /** `host:port` of the requested tunnels. */
  readonly tunnels: string[] = [];
  /** The clients' data through tunnels, as latin1. */
  through = "";
  readonly #credentials: string | undefined;
  readonly #lead: ((host: string) => string | undefined) | undefined;
  readonly #onUpstream: (socket: Socket) => void;

  constructor(scheme: ProxyScheme, options: TestProxyOptions = {}) {
    const { credentials, onSocket, lead, onUpstream = () => {} } = options;
    this.scheme = scheme;
    this.#credentials = credentials;
    this.#lead = lead;
    this.#onUpstream = onUpstream;
    const { cert, key } = certificates;
    const serve = onSocket ??
      ((socket) => scheme.startsWith("socks") ? this.#speakSocks(socket) : this.#speakHttp(socket));
    this.listener = new Listener(scheme === "https" ? { certificate: { cert, key }, alpn: ["http/1.1"] } : {}, serve);
  }

  /** Its URL, with the credentials that it asks for. */
  get url(): string {
    const user = this.#credentials === undefined
      ? ""
      : `${this.#credentials.split(":").map(encodeURIComponent).join(":")}@`;
    return `${this.scheme}://${user}localhost:${this.listener.port}`;
  }

  /** The URL without credentials. */
  get bareUrl(): string {
    return `${this.scheme}://localhost:${this.listener.port}`;
  }

  async start(): Promise<this> {
    await this.listener.start();
    return this;
  }

  stop(): Promise<void> {
    return this.listener.stop();
  }

  #speakHttp(socket: Socket): void {
    let rest = Buffer.alloc(0);
    let upstream: Socket | undefined;
    const onData = (chunk: Buffer): void => {
      rest = Buffer.concat([rest, chunk]);
      let end: number;
      while ((end = rest.indexOf("\r\n\r\n")) >= 0) {
        const head = rest.toString("latin1", 0, end + 4);
        rest = rest.subarray(end + 4);
        this.heads.push(head);
        const [method, target] = head.split(" ", 2);
        if (!this.#admits(head)) {
          socket.write(
            'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 0\r\n\r\n',
          );
          continue;
        }
        if (method === "CONNECT") {
          socket.off("data", onData);
          const [host, port] = target.split(/:(?=\d+$)/);
          this.#join(socket, host, Number(port), () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
          return;
        }
        const url = new URL(target);
        if (this.#lead !== undefined) {
          socket.off("data", onData).pause();
          const bytes = Buffer.concat([Buffer.from(head, "latin1"), rest]);
          this.#join(socket, url.hostname, Number(url.port), (upstream) => void upstream.write(bytes));
          return;
        }
        upstream ??= this.#forward(socket, Number(url.port || 80));
        const lines = head.split("\r\n").filter((line) => !/^proxy-/i.test(line));
        lines[0] = `${method} ${url.pathname}${url.search} HTTP/1.1`;
        upstream.write(lines.join("\r\n"));
      }
      if (rest.length > 0 && upstream !== undefined) {
        upstream.write(rest);
        rest = Buffer.alloc(0);
      }
    };
    socket.on("data", onData);
  }

  #admits(head: string): boolean {
    if (this.#credentials === undefined) return true;
    return head.includes(`\r\nproxy-authorization: Basic ${Buffer.from(this.#credentials).toString("base64")}\r\n`);
  }

  #forward(socket: Socket, port: number): Socket {
    const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
    upstream.on("data", (chunk) => socket.write(chunk));
    this.#couple(socket, upstream);
    return upstream;
  }

  #speakSocks(socket: Socket): void {
    let rest = Buffer.alloc(0);
    const steps = [
      (): number => {
        if (rest.length < 2 || rest.length < 2 + rest[1]) return 0;
        const methods = [...rest.subarray(2, 2 + rest[1])];
        const method = this.#credentials === undefined ? 0 : 2;
        socket.write(Buffer.from([5, methods.includes(method) ? method : 0xff]));
        if (method === 0) steps.splice(1, 1);
        return 2 + rest[1];
      },
      (): number => {
        if (rest.length < 2 || rest.length < 3 + rest[1]) return 0;
        const user = rest.toString("utf8", 2, 2 + rest[1]);
        const length = 3 + rest[1] + rest[2 + rest[1]];
        if (rest.length < length) return 0;
        const password = rest.toString("utf8", 3 + rest[1], length);
        const good = `${user}:${password}` === this.#credentials;
        socket.write(Buffer.from([1, good ? 0 : 1]));
        if (!good) socket.end();
        return length;
      },
      (): number => {
        if (rest.length < 5) return 0;
        const size = { 1: 4, 3: 1 + rest[4], 4: 16 }[rest[3]] ?? 0;
        if (rest.length < 6 + size) return 0;
        const address = rest.subarray(4, 4 + size);
        const host = rest[3] === 3
          ? address.toString("latin1", 1)
          : rest[3] === 1
          ? [...address].join(".")
          : `[${address.toString("hex")}]`;
        socket.off("data", onData);
        this.#join(socket, host, rest.readUInt16BE(4 + size), () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
        });
        return 6 + size;
      },
    ];
    const onData = (chunk: Buffer): void => {
      rest = Buffer.concat([rest, chunk]);
      for (let taken = -1; taken !== 0 && steps.length > 0;) {
        const step = steps[0];
        taken = step();
        rest = rest.subarray(taken);
        if (taken > 0) steps.shift();
      }
    };
    socket.on("data", onData);
  }

  #join(socket: Socket, host: string, port: number, onOpen: (upstream: Socket) => void): void {
    this.tunnels.push(`${host}:${port}`);
    const address = this.#lead === undefined ? "127.0.0.1" : this.#lead(host);
    if (address === undefined) return void socket.destroy();
    const upstream = connect({ port, host: address, noDelay: true });
    upstream.on("connect", () => {
      this.#onUpstream(upstream);
      onOpen(upstream);
      socket.resume();
      socket.on("data", (chunk: Buffer) => {
        this.through += chunk.toString("latin1");
        upstream.write(chunk);
      });
      upstream.on("data", (chunk) => socket.write(chunk));
    });
    this.#couple(socket, upstream);
  }

  #couple(socket: Socket, upstream: Socket): void {
    upstream.on("error", () => {});
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    socket.on("end", () => upstream.end());
    upstream.on("end", () => socket.end());
  }
}
