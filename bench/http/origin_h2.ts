import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { bodyPiece, fieldsOf } from "./answer.ts";
import type { OriginOptions, Traffic } from "./origin_options.ts";

const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [0, 1, 3, 4, 6, 8, 9];
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4];
const PREFACE = 24;
const HEAD = 9;
const REFUSED_STREAM = 7;
/** The receive window for request bodies, of a stream and of a connection, in bytes. */
const WINDOW = 1 << 24;
/** The size of a DATA frame in bytes: the default of SETTINGS_MAX_FRAME_SIZE, which every client accepts. */
const FRAME = 16_384;
/** The limit of bytes queued in a socket; above it, nothing more is written. */
const FULL = 1 << 20;

/** A request without a complete response. */
interface Stream {
  readonly id: number;
  /** The stream's send window, as granted by the client. */
  window: number;
  /** The remaining bytes of the answer's body; undefined until it is answered. */
  left: number | undefined;
  /** Bytes that were received and that the client may not send again yet. */
  owed: number;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, HEAD);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Names' places in the static table of HPACK. */
const PLACES: Readonly<Record<string, number>> = { "content-type": 31, "content-length": 28, date: 33 };

/**
 * Returns a field block of which everything is put into the dynamic table, so that {@linkcode REPEATED} says it again.
 */
function firstBlock(bytes: number): Buffer {
  const fields = fieldsOf(bytes).map(([name, value]) => {
    return Buffer.concat([Buffer.of(0x40 | PLACES[name], value.length), Buffer.from(value, "latin1")]);
  });
  return Buffer.concat([Buffer.of(0x88), ...fields]); // :status: 200
}

const REPEATED = Buffer.of(0x88, 0xc0, 0xbf, 0xbe);

/** Speaks HTTP/2 on a connection. */
export function serveFrames(socket: Socket, options: OriginOptions, seen: Traffic): void {
  const session = new Session(socket, options, seen);
  socket.on("data", (chunk: Buffer) => session.take(chunk)).on("drain", () => session.pump());
}

class Session {
  readonly #socket: Socket;
  readonly #options: OriginOptions;
  readonly #seen: Traffic;
  readonly #streams = new Map<number, Stream>();
  /** Streams whose answer is not sent to its end. */
  readonly #sending = new Set<Stream>();
  #kept: Buffer | undefined;
  #skip = PREFACE;
  #window = 65_535;
  #streamWindow = 65_535;
  #owed = 0;
  /** Whether the request whose field block continues has no body. */
  #endsStream = false;
  #blockSecond = 0;
  #small: Buffer | undefined;
  #out: Buffer[] = [];

  constructor(socket: Socket, options: OriginOptions, seen: Traffic) {
    this.#socket = socket;
    this.#options = options;
    this.#seen = seen;
    const settings = Buffer.alloc(12);
    settings.writeUInt16BE(3, 0); // MAX_CONCURRENT_STREAMS
    settings.writeUInt32BE(options.streams, 2);
    settings.writeUInt16BE(4, 6); // INITIAL_WINDOW_SIZE
    settings.writeUInt32BE(WINDOW, 8);
    this.#out.push(frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW - 65_535)));
    this.#flush();
  }

  take(chunk: Buffer): void {
    let bytes = this.#kept ? Buffer.concat([this.#kept, chunk]) : chunk;
    this.#kept = undefined;
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    bytes = bytes.subarray(skipped);
    let at = 0;
    while (bytes.length - at >= HEAD) {
      const length = bytes.readUIntBE(at, 3);
      const end = at + HEAD + length;
      if (end > bytes.length) break;
      this.#takeFrame(bytes[at + 3], bytes[at + 4], bytes.readUInt32BE(at + 5), bytes, at + HEAD, length);
      at = end;
    }
    if (at < bytes.length) this.#kept = bytes.subarray(at);
    this.#flush();
  }

  #takeFrame(type: number, flags: number, id: number, bytes: Buffer, at: number, length: number): void {
    if (type === DATA) this.#takeData(this.#streams.get(id), length, (flags & END_STREAM) !== 0);
    else if (type === HEADERS) this.#takeHeaders(id, flags);
    else if (type === CONTINUATION && (flags & END_HEADERS) !== 0) this.#begin(id);
    else if (type === RST_STREAM) this.#end(this.#streams.get(id));
    else if (type === WINDOW_UPDATE) this.#widen(id, bytes.readUInt32BE(at));
    else if (type === PING && (flags & ACK) === 0) this.#out.push(frame(PING, ACK, 0, bytes.subarray(at, at + 8)));
    else if (type === SETTINGS && (flags & ACK) === 0) this.#takeSettings(bytes.subarray(at, at + length));
  }

  #takeSettings(settings: Buffer): void {
    for (let at = 0; at < settings.length; at += 6) {
      if (settings.readUInt16BE(at) !== 4) continue;
      const size = settings.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.window += size - this.#streamWindow;
      this.#streamWindow = size;
    }
    this.#out.push(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
  }

  #takeHeaders(id: number, flags: number): void {
    this.#endsStream = (flags & END_STREAM) !== 0;
    if ((flags & END_HEADERS) !== 0) this.#begin(id);
  }

  #begin(id: number): void {
    const known = this.#streams.get(id);
    if (known) return this.#answerLater(known); // trailers
    if (this.#streams.size >= this.#options.streams) {
      this.#seen.refused++;
      this.#out.push(frame(RST_STREAM, 0, id, uint32(REFUSED_STREAM)));
      return;
    }
    const stream: Stream = { id, window: this.#streamWindow, left: undefined, owed: 0 };
    this.#streams.set(id, stream);
    this.#seen.requests++;
    this.#seen.peakStreams = Math.max(this.#seen.peakStreams, this.#streams.size);
    if (this.#endsStream) this.#answerLater(stream);
  }

  #takeData(stream: Stream | undefined, length: number, ends: boolean): void {
    this.#owed += length;
    this.#seen.received += length;
    if (this.#owed > WINDOW / 2) {
      this.#out.push(frame(WINDOW_UPDATE, 0, 0, uint32(this.#owed)));
      this.#owed = 0;
    }
    if (!stream) return;
    stream.owed += length;
    if (ends) return this.#answerLater(stream);
    if (stream.owed <= WINDOW / 2) return;
    this.#out.push(frame(WINDOW_UPDATE, 0, stream.id, uint32(stream.owed)));
    stream.owed = 0;
  }

  #answerLater(stream: Stream): void {
    if (this.#options.delay === 0) return this.#answer(stream);
    setTimeout(() => {
      if (this.#streams.get(stream.id) !== stream) return; // it was cancelled
      this.#answer(stream);
      this.#flush();
    }, this.#options.delay);
  }

  #answer(stream: Stream): void {
    const { bytes } = this.#options;
    const second = Math.floor(Date.now() / 1000);
    const isFirst = second !== this.#blockSecond;
    this.#blockSecond = second;
    if (!isFirst && bytes <= FRAME && stream.window >= bytes && this.#window >= bytes) {
      return this.#answerSmall(stream, bytes);
    }
    this.#out.push(frame(HEADERS, END_HEADERS, stream.id, isFirst ? firstBlock(bytes) : REPEATED));
    stream.left = bytes;
    this.#sending.add(stream);
    this.#send(stream);
  }

  /** Sends HEADERS and DATA in one write, from a buffer where only the stream's number changes. */
  #answerSmall(stream: Stream, bytes: number): void {
    this.#small ??= Buffer.concat([
      frame(HEADERS, END_HEADERS, 0, REPEATED),
      frame(DATA, END_STREAM, 0, bodyPiece.subarray(0, bytes)),
    ]);
    const both = Buffer.from(this.#small);
    both.writeUInt32BE(stream.id, 5);
    both.writeUInt32BE(stream.id, HEAD + REPEATED.length + 5);
    this.#window -= bytes;
    this.#out.push(both);
    this.#end(stream);
  }

  #widen(id: number, bytes: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += bytes;
    else if (stream) stream.window += bytes;
    else return;
    this.pump();
  }

  /** Sends the available data, as far as the windows permit. */
  pump(): void {
    for (const stream of this.#sending) this.#send(stream);
    this.#flush();
  }

  #send(stream: Stream): void {
    while (stream.left !== undefined && this.#socket.writableLength < FULL) {
      const length = Math.min(stream.left, stream.window, this.#window, FRAME);
      if (length <= 0 && stream.left > 0) return;
      stream.left -= length;
      stream.window -= length;
      this.#window -= length;
      const ends = stream.left === 0;
      this.#out.push(frame(DATA, ends ? END_STREAM : 0, stream.id, bodyPiece.subarray(0, length)));
      if (ends) return this.#end(stream);
      if (this.#out.length >= 16) this.#flush();
    }
  }

  #end(stream: Stream | undefined): void {
    if (!stream) return;
    stream.left = undefined;
    this.#streams.delete(stream.id);
    this.#sending.delete(stream);
  }

  #flush(): void {
    if (this.#out.length === 0) return;
    this.#socket.write(this.#out.length === 1 ? this.#out[0] : Buffer.concat(this.#out));
    this.#out = [];
  }
}
