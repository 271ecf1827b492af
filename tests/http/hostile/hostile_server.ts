import { Buffer } from "node:buffer";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { HpackEncoder } from "../../../lib/http/h2/hpack/encoder.ts";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  GOAWAY,
  HEADERS,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "../../../lib/http/h2/protocol.ts";
import { type Frame, frame, FrameReader, numberFrame, settingsFrame } from "../faults/http2_frames.ts";
import { ReferenceDecoder } from "../hpack/reference_decoder.ts";

/** A request as it came. */
export interface Asked {
  readonly stream: number;
  readonly path: string;
  readonly connection: HostileConnection;
}

/** A connection to a {@link HostileServer}: sends frames unchanged, and records the client's input. */
export class HostileConnection {
  readonly socket: Socket;
  readonly number: number;
  /** Codes of the client's RST_STREAM, by stream. */
  readonly resets: Map<number, number> = new Map();
  /** The code of the client's GOAWAY. */
  goaway: number | undefined = undefined;
  /** Acknowledgements, of SETTINGS and of PINGs. */
  acknowledged = 0;
  /** The growth of the server's window by the client, by stream. */
  readonly widened: Map<number, number> = new Map();
  /** The bytes of DATA received, by stream. */
  readonly received: Map<number, number> = new Map();
  isClosed = false;
  /** Whether nothing at all is sent but by {@link send}. */
  isMute = false;
  /** Whether the client may speak HTTP/1.1, since it got HTTP_1_1_REQUIRED before; then it is cut off. */
  mayBeHttp1 = false;
  readonly #encoder = new HpackEncoder();
  readonly #decoder = new ReferenceDecoder();
  readonly #reader = new FrameReader();
  readonly #onRequest: (asked: Asked) => void;

  constructor(socket: Socket, number: number, onRequest: (asked: Asked) => void) {
    this.socket = socket;
    this.number = number;
    this.#onRequest = onRequest;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      if (this.mayBeHttp1 && /^(?:GET|POST) /.test(chunk.toString("latin1", 0, 5))) socket.destroy();
      else this.#reader.read(chunk).forEach((frame) => this.#take(frame));
    });
    socket.on("error", () => {}); // the client leaves as it likes
    socket.on("close", () => this.isClosed = true);
  }

  /** Sends frames, in one piece. */
  send(...frames: Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
  }

  /** Returns a header block of these fields: name, value, and so on. */
  block(fields: string[]): Buffer {
    const length = this.#encoder.encodeFields(fields);
    return Buffer.from(this.#encoder.block.slice(0, length));
  }

  /** HEADERS with these fields. */
  headers(stream: number, fields: string[], flags: number = 0): Buffer {
    return frame(HEADERS, flags | END_HEADERS, stream, this.block(fields));
  }

  /** A good response. */
  answer(stream: number, text: string): void {
    const fields = [":status", "200", "content-type", "text/plain", "content-length", String(text.length)];
    this.send(this.headers(stream, fields), frame(DATA, END_STREAM, stream, Buffer.from(text)));
  }

  #take({ type, flags, stream, payload }: Frame): void {
    if (type === HEADERS) {
      // Heads of our tests fit into one frame.
      const fields = this.#decoder.decode(payload);
      this.#onRequest({ stream, path: fields[fields.indexOf(":path") + 1], connection: this });
    } else if (type === SETTINGS && (flags & 1) === 0) {
      if (!this.isMute) this.send(frame(SETTINGS, 1, 0, Buffer.alloc(0)));
    } else if (flags === 1 && (type === SETTINGS || type === 6)) this.acknowledged++;
    else if (type === RST_STREAM) this.resets.set(stream, payload.readUInt32BE(0));
    else if (type === GOAWAY) this.goaway = payload.readUInt32BE(4);
    else if (type === DATA) add(this.received, stream, payload.length);
    else if (type === WINDOW_UPDATE) add(this.widened, stream, payload.readUInt32BE(0));
  }
}

function add(counts: Map<number, number>, key: number, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** HTTP/2 without TLS over a socket of our own, so that it can break every rule. */
export class HostileServer {
  readonly connections: HostileConnection[] = [];
  /** Called with a new connection; sends SETTINGS by default. */
  onConnection: (connection: HostileConnection) => void = (connection) => connection.send(settingsFrame({ 3: 100 }));
  /** Called with a request; responds by default, and always for `/fine`. */
  onRequest: (asked: Asked) => void = ({ connection, stream, path }) => connection.answer(stream, `hello ${path}`);
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      const connection = new HostileConnection(socket, this.connections.length, (asked) => {
        if (asked.path.startsWith("/fine")) connection.answer(asked.stream, `hello ${asked.path}`);
        else this.onRequest(asked);
      });
      this.connections.push(connection);
      this.onConnection(connection);
    });
  }

  static async start(): Promise<HostileServer> {
    const server = new HostileServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Returns HEADERS and CONTINUATION frames of a block split into `pieces` fragments. */
export function splitHeaders(stream: number, block: Uint8Array, pieces: number, flags = 0): Buffer {
  const size = Math.ceil(block.length / pieces);
  return Buffer.concat(Array.from({ length: pieces }, (_, i) => {
    const end = i === pieces - 1 ? END_HEADERS : 0;
    return frame(
      i === 0 ? HEADERS : CONTINUATION,
      end | (i === 0 ? flags : 0),
      stream,
      block.subarray(i * size, (i + 1) * size),
    );
  }));
}

export { frame, numberFrame, settingsFrame };
