import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { FieldDecoder } from "./field_decoder.ts";
import {
  ErrorCode,
  Flag,
  type Frame,
  frame,
  FrameReader,
  FrameType,
  goawayFrame,
  headerBlock,
  numberFrame,
  readSettings,
  Setting,
  settingsFrame,
} from "./http2_frames.ts";
import { Http2PeerStream } from "./http2_peer_stream.ts";
import type { ServerRequest } from "./server_request.ts";

export type Settings = Readonly<Record<number, number>>;

/** The state and callbacks common to the peers of one server. */
export interface Http2PeerOwner {
  /** The SETTINGS that a new session sends first. */
  readonly settings: Settings;
  /** The clients' violations of the standard. */
  readonly violations: string[];
  onPeer?(peer: Http2Peer): void;
  /** Called with a request that is refused, or ignored, before the server handles it. */
  onIgnored?(fields: ReadonlyMap<string, string>, why: string): void;
  onRequest(request: Http2PeerStream & ServerRequest): void;
}

const DEFAULT_WINDOW = 65_535;

/**
 * The server's end of one HTTP/2 session: does its flow control, records the client's violations, and misbehaves on
 * command.
 */
export class Http2Peer {
  readonly socket: Socket;
  readonly owner: Http2PeerOwner;
  /** The streams of requests that neither side has ended or reset. */
  readonly streams: Map<number, Http2PeerStream> = new Map();
  /** The most streams at a time. */
  peak = 0;
  /** The number of streams that the client has opened. */
  opened = 0;
  /** The highest stream the client has opened. */
  highest = 0;
  /** The number of the client's PINGs. */
  pings = 0;
  /** Streams that were turned away because the client opened more than SETTINGS allow. */
  excess = 0;
  /** Whether PING frames remain unanswered. */
  isMute = false;
  /** The send window of the connection, as granted by the client. */
  window: number = DEFAULT_WINDOW;
  clientStreamWindow: number = DEFAULT_WINDOW;
  /** The client's remaining send window on the connection. */
  #room = DEFAULT_WINDOW;
  /** Settings as the client has acknowledged them. */
  maxStreams: number = Infinity;
  streamRoom: number = DEFAULT_WINDOW;
  /** Streams above are not looked at: GOAWAY has said so. */
  #last = 2 ** 31 - 1;
  readonly #unacknowledged: { settings: Settings; done: () => void }[] = [];
  readonly #reader = new FrameReader();
  readonly #decoder = new FieldDecoder();
  #block: Buffer[] = [];
  #blockFlags = 0;
  #out: Uint8Array[] = [];
  #isReading = false;
  #isFlushing = false;

  constructor(socket: Socket, owner: Http2PeerOwner) {
    this.socket = socket;
    this.owner = owner;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("drain", () => this.pump());
    socket.on("close", () => this.#lose());
    void this.settings(owner.settings);
    owner.onPeer?.(this);
  }

  /** Sends SETTINGS. @returns when the client has acknowledged them (never, if the socket ends before). */
  settings(settings: Settings): Promise<void> {
    this.send(settingsFrame(settings));
    return new Promise((done) => this.#unacknowledged.push({ settings, done }));
  }

  /** Refuses all streams above `last`, open ones too. */
  goaway(last: number, code: number = ErrorCode.none): void {
    this.send(goawayFrame(last, code));
    this.#last = last;
    for (const stream of [...this.streams.values()]) if (stream.id > last) stream.lose();
  }

  /** GOAWAY in two steps, as a server that shuts down without haste does: no new streams, and then, which were the last. */
  async shutDown(): Promise<void> {
    this.send(goawayFrame(2 ** 31 - 1, ErrorCode.none));
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.goaway(this.highest);
  }

  /** Sends bytes, together with all others of the same turn. */
  send(bytes: Uint8Array): void {
    this.#out.push(bytes);
    if (this.#isReading || this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  sendHead(stream: number, status: number, fields: Readonly<Record<string, string>>): void {
    const block = headerBlock([[":status", String(status)], ...Object.entries(fields)]);
    this.send(frame(FrameType.headers, Flag.endHeaders, stream, block));
  }

  /** Sends the streams' data as far as the client's windows permit, one frame of each in turn. */
  pump(): void {
    let hasSent = true;
    while (hasSent && this.window > 0 && !this.socket.writableNeedDrain) {
      hasSent = false;
      for (const stream of this.streams.values()) if (stream.sendSome()) hasSent = true;
    }
  }

  note(violation: string): void {
    this.owner.violations.push(violation);
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#out.length === 0) return;
    const out = this.#out;
    this.#out = [];
    if (this.socket.writable) this.socket.write(out.length === 1 ? out[0] : Buffer.concat(out));
  }

  #lose(): void {
    for (const stream of [...this.streams.values()]) stream.lose();
  }

  #read(chunk: Buffer): void {
    this.#isReading = true;
    try {
      for (const frame of this.#reader.read(chunk)) this.#take(frame);
    } catch (error) {
      this.note(`${(error as Error).message}`);
      this.socket.destroy();
    }
    this.pump();
    this.#isReading = false;
    this.#flush();
  }

  #take(taken: Frame): void {
    const { type, flags, stream: id, payload } = taken;
    if (this.#block.length > 0 && type !== FrameType.continuation) this.note(`frame ${type} within a field block`);
    if (type === FrameType.headers) this.#takeHeaders(id, flags, payload);
    else if (type === FrameType.continuation) this.#takeBlock(id, flags, payload);
    else if (type === FrameType.data) this.#takeData(id, flags, payload);
    else if (type === FrameType.settings) this.#takeSettings(flags, payload);
    else if (type === FrameType.windowUpdate) this.#takeRoom(id, payload.readUInt32BE(0));
    else if (type === FrameType.reset) this.streams.get(id)?.lose(payload.readUInt32BE(0));
    else if (type === FrameType.ping && (flags & Flag.ack) === 0) {
      this.pings++;
      if (!this.isMute) this.send(frame(FrameType.ping, Flag.ack, 0, payload));
    } else if (type === FrameType.goaway && payload.readUInt32BE(4) !== ErrorCode.none) {
      this.note(`the client ended the session with code ${payload.readUInt32BE(4)}: ${payload.toString("latin1", 8)}`);
    }
  }

  #takeHeaders(id: number, flags: number, payload: Buffer): void {
    const padding = flags & Flag.padded ? payload[0] : 0;
    const start = (flags & Flag.padded ? 1 : 0) + (flags & Flag.priority ? 5 : 0);
    this.#blockFlags = flags;
    this.#takeBlock(id, flags, payload.subarray(start, payload.length - padding));
  }

  #takeBlock(id: number, flags: number, part: Buffer): void {
    this.#block.push(part);
    if ((flags & Flag.endHeaders) === 0) return;
    const fields = this.#decoder.decode(Buffer.concat(this.#block)); // even of a stream that is refused: its state counts
    this.#block = [];
    const isEnd = (this.#blockFlags & Flag.endStream) !== 0;
    const known = this.streams.get(id);
    if (known) {
      if (!isEnd) this.note(`HEADERS in the middle of stream ${id}`);
      known.trailers = fields;
      known.endRequest();
    } else this.#open(id, fields, isEnd);
  }

  #open(id: number, fields: Map<string, string>, isEnd: boolean): void {
    if (id % 2 === 0 || id <= this.highest) this.note(`stream ${id} was opened after ${this.highest}`);
    this.highest = id;
    if (id > this.#last) return this.owner.onIgnored?.(fields, "above GOAWAY");
    this.opened++;
    if (this.streams.size >= this.maxStreams) {
      this.excess++;
      this.send(numberFrame(FrameType.reset, id, ErrorCode.refusedStream));
      return this.owner.onIgnored?.(fields, "above SETTINGS");
    }
    const stream = new Http2PeerStream(this, id, fields);
    this.streams.set(id, stream);
    this.peak = Math.max(this.peak, this.streams.size);
    if (isEnd) stream.endRequest();
    this.owner.onRequest(stream);
  }

  #takeData(id: number, flags: number, payload: Buffer): void {
    this.#room -= payload.length;
    if (this.#room < 0) this.note(`${-this.#room} bytes more than the connection's window`);
    if (payload.length > 0) {
      this.#room += payload.length;
      this.send(numberFrame(FrameType.windowUpdate, 0, payload.length));
    }
    const stream = this.streams.get(id);
    if (!stream) return; // of one that is over: nothing else is to be done than to count it for the connection
    const padding = flags & Flag.padded ? payload[0] + 1 : 0;
    stream.takeData(padding > 0 ? payload.subarray(1, payload.length - padding + 1) : payload, payload.length);
    if ((flags & Flag.endStream) !== 0) stream.endRequest();
  }

  #takeSettings(flags: number, payload: Buffer): void {
    if ((flags & Flag.ack) === 0) {
      const window = readSettings(payload).get(Setting.initialWindowSize);
      if (window !== undefined) {
        for (const stream of this.streams.values()) stream.window += window - this.clientStreamWindow;
        this.clientStreamWindow = window;
      }
      this.send(frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)));
      return;
    }
    const acknowledged = this.#unacknowledged.shift();
    if (!acknowledged) return this.note("SETTINGS were acknowledged that were not sent");
    const { settings, done } = acknowledged;
    this.maxStreams = settings[Setting.maxConcurrentStreams] ?? this.maxStreams;
    const streamRoom = settings[Setting.initialWindowSize] ?? this.streamRoom;
    for (const stream of this.streams.values()) stream.room += streamRoom - this.streamRoom;
    this.streamRoom = streamRoom;
    done();
  }

  #takeRoom(id: number, bytes: number): void {
    if (bytes === 0) this.note(`WINDOW_UPDATE of 0 on stream ${id}`);
    const stream = this.streams.get(id);
    if (id === 0) this.window += bytes;
    else if (stream) stream.window += bytes;
    const window = id === 0 ? this.window : stream?.window ?? 0;
    if (window > 2 ** 31 - 1) this.note(`the window of stream ${id} is ${window}`);
  }
}
