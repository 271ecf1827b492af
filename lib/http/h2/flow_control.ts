import { afterPoll } from "../../runtime/mod.ts";
import type { HeaderList, RequestBody, Transport } from "../connection.ts";
import { type HttpError, takenBack } from "../http_error.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { Http2Stream } from "./http2_stream.ts";
import { ConnectionFault, DEFAULT_WINDOW, FLOW_CONTROL_ERROR, FRAME_HEADER, MAX_WINDOW } from "./protocol.ts";
import type { PeerSettings } from "./settings.ts";

/** The connection's window in bytes. It is refilled as bytes arrive, since each stream's window limits the memory of its response. */
const CONNECTION_WINDOW = 16 * 1024 * 1024;

/** The windows for bytes from the server. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.2} */
export class ReceiveWindows {
  /** A new stream's window. Until the server knows the client's SETTINGS, it may use the default one. */
  initial: number;
  readonly #streamWindow: number;
  readonly #output: FrameWriter;
  #connection = CONNECTION_WINDOW;

  /** Creates the windows, and announces the size of the connection's. */
  constructor(output: FrameWriter, streamWindow: number) {
    this.#output = output;
    this.#streamWindow = streamWindow;
    this.initial = Math.max(streamWindow, DEFAULT_WINDOW);
    output.addWindow(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  /** The server knows the client's SETTINGS: the windows of these streams change to their value. */
  onSettingsKnown(streams: Iterable<Http2Stream>): void {
    const less = this.initial - this.#streamWindow;
    if (less === 0) return;
    this.initial = this.#streamWindow;
    for (const stream of streams) stream.receiveWindow -= less;
  }

  /** Takes bytes from the connection's window. @throws {ConnectionFault} if fewer are left. */
  onConnectionData(size: number): void {
    this.#connection -= size;
    if (this.#connection >= CONNECTION_WINDOW / 2) return;
    if (this.#connection < 0) {
      throw new ConnectionFault(FLOW_CONTROL_ERROR, "the server sent more than the connection's window allows");
    }
    this.#output.addWindow(0, CONNECTION_WINDOW - this.#connection);
    this.#connection = CONNECTION_WINDOW;
  }

  /** Returns bytes to a stream's window. @returns Whether the server gets an update: for half a window, not for each chunk. */
  onConsumed(stream: Http2Stream, bytes: number): boolean {
    stream.credit += bytes;
    if (stream.credit * 2 < this.#streamWindow) return false;
    // The rest of the body has room in any case.
    if (stream.expected >= 0 && stream.expected <= stream.receiveWindow) return false;
    this.#output.addWindow(stream.id, stream.credit);
    stream.receiveWindow += stream.credit;
    stream.credit = 0;
    return true;
  }
}

/** The maximum DATA frame to send, in bytes: a larger one would keep other streams waiting. */
const MAX_FRAME_SIZE = 32_768;
/** The maximum number of bodies whose first piece is held or awaited: of those whose stream has a window, and of the others. */
const MAX_AHEAD = 16;
const NOTHING = new Uint8Array(0);

export interface BodySenderEvents {
  /** A frame can be sent: the session calls {@link BodySender.pump} soon. */
  onReady(): void;
  onSent(bytes: number): void;
  /** A body has ended, and trailers follow. */
  onTrailers(stream: Http2Stream, trailers: HeaderList): void;
  onBodyFailed(stream: Http2Stream, error: HttpError): void;
}

/**
 * Sends request bodies as the server's windows and the transport permit, a frame of each in turn. A body's first piece is read once the transport takes more, and each
 * further one once the last was sent.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.2}
 */
export class BodySender {
  /** The bytes that the server permits to send on the connection. */
  window: number = DEFAULT_WINDOW;
  #widest: number = DEFAULT_WINDOW;
  /** The initial window of streams, by the last SETTINGS. */
  #initialWindow: number = DEFAULT_WINDOW;
  readonly #transport: Transport;
  readonly #output: FrameWriter;
  readonly #peer: PeerSettings;
  readonly #origin: string;
  readonly #events: BodySenderEvents;
  /** The streams that have bytes to send within their own window. */
  #queue: Http2Stream[] = [];
  #first = 0;
  /** The streams of which nothing was read, and whether some of them may have become readable. */
  readonly #unread = new Set<Http2Stream>();
  #mayRead = false;
  /** The streams whose first piece waits for room, or may come before the next poll. */
  readonly #ahead = new Set<Http2Stream>();
  #isPolling = false;
  /** The streams of the output's bodies, in the output's order, as long as the system may not have taken the bytes. */
  readonly untaken: Http2Stream[] = [];

  constructor(transport: Transport, output: FrameWriter, peer: PeerSettings, origin: string, events: BodySenderEvents) {
    this.#transport = transport;
    this.#output = output;
    this.#peer = peer;
    this.#origin = origin;
    this.#events = events;
  }

  get hasQueued(): boolean {
    return this.#first < this.#queue.length || this.#mayRead;
  }

  /** The bytes of bodies for which the server has not returned room, counted from its widest window. */
  get unconsumed(): number {
    return this.#widest - this.window;
  }

  /** Adds the body of a stream whose HEADERS are in the output. */
  add(stream: Http2Stream, body: RequestBody): void {
    stream.body = body;
    stream.piece = body.bytes;
    stream.sendWindow = this.#initialWindow;
    if (stream.piece === undefined) this.#unread.add(stream);
    this.queue(stream);
  }

  /** Notes that the end of a stream's body is in the output. */
  end(stream: Http2Stream): void {
    stream.body = undefined;
    stream.bodyEnd = this.#output.added;
    this.#output.tells = true;
    this.untaken.push(stream);
  }

  /** Queues a stream whose window has grown, or that has a new piece. */
  queue(stream: Http2Stream): void {
    if (stream.isQueued || stream.body === undefined || stream.isReading) return;
    const isUnread = stream.piece === undefined;
    if (isUnread) this.#mayRead = true;
    else if (stream.sendWindow <= 0) return;
    else this.#queue.push(stream);
    stream.isQueued = !isUnread;
    if (this.window > 0 || isUnread) this.#events.onReady();
  }

  /** Removes an ended stream, which would otherwise stay in the queue while the connection's window is empty. */
  drop(stream: Http2Stream): void {
    stream.piece = undefined;
    this.#unread.delete(stream);
    if (this.#ahead.delete(stream) && this.#unread.size > 0) this.#mayRead = true;
    if (!stream.isQueued) return;
    stream.isQueued = false;
    this.#queue.splice(this.#queue.indexOf(stream, this.#first), 1);
  }

  /** Applies the server's initial window to all streams, which may make their windows negative. */
  onInitialWindow(streams: Iterable<Http2Stream>): void {
    const change = this.#peer.initialWindowSize - this.#initialWindow;
    if (change === 0) return;
    this.#initialWindow = this.#peer.initialWindowSize;
    for (const stream of streams) {
      if (stream.body !== undefined && !this.widen(stream, change)) {
        throw new ConnectionFault(FLOW_CONTROL_ERROR, "the server's SETTINGS widen a window beyond 2^31 - 1 bytes");
      }
    }
  }

  /** Widens a stream's window. @returns Whether the window is within its maximum. */
  widen(stream: Http2Stream, bytes: number): boolean {
    if (stream.sendWindow + bytes > MAX_WINDOW) return false;
    stream.sendWindow += bytes;
    this.queue(stream);
    return true;
  }

  /** Widens the connection's window. @throws {ConnectionFault} if it would exceed its maximum. */
  widenConnection(bytes: number): void {
    if (this.window + bytes > MAX_WINDOW) {
      throw new ConnectionFault(FLOW_CONTROL_ERROR, "the server widened the connection's window beyond 2^31 - 1 bytes");
    }
    this.window += bytes;
    this.#widest = Math.max(this.#widest, this.window);
    if (this.hasQueued) this.#events.onReady();
  }

  pump(): void {
    const now = this.hasQueued ? performance.now() : 0;
    while (this.#first < this.#queue.length && this.window > 0 && !this.#transport.full) {
      const stream = this.#queue[this.#first];
      const left = stream.piece!.length - stream.pieceAt;
      const room = Math.min(Math.max(stream.sendWindow, 0), this.window);
      const size = Math.min(left, room, this.#peer.maxFrameSize, MAX_FRAME_SIZE);
      if (size > 0 && !this.#output.fits(FRAME_HEADER + size)) {
        this.#output.flush(); // and find out whether the transport takes more
        continue;
      }
      stream.isQueued = false;
      if (++this.#first > 64) this.#compact();
      if (stream.piece?.length === 0) this.#onBroken(stream, takenBack(this.#origin));
      else if (size > 0) this.#send(stream, size, now);
    }
    if (this.#first === this.#queue.length && this.#first > 0) this.#compact();
    if (this.#unread.size > 0 && !this.#transport.full) this.#readFirst();
  }

  /** Reads the first pieces of a few bodies, also of those without a window: the end of an empty body needs none (RFC 9113 section 6.9.1). */
  #readFirst(): void {
    const ahead = this.#ahead;
    const counts = [0, 0]; // without a window, and with one
    for (const { body, sendWindow } of ahead) if (body && !body.begun) counts[sendWindow > 0 ? 1 : 0]++;
    for (const stream of ahead) if (!stream.body || stream.body.begun) this.#mayRead = ahead.delete(stream);
    if (!this.#mayRead) return;
    this.#mayRead = false;
    for (const stream of this.#unread) {
      if (counts[stream.sendWindow > 0 ? 1 : 0]++ >= MAX_AHEAD) continue;
      this.#unread.delete(stream);
      ahead.add(stream);
      this.#read(stream);
    }
    if (this.#isPolling || this.#unread.size === 0) return;
    this.#isPolling = true;
    afterPoll(() => {
      this.#isPolling = false;
      // Sources that have given nothing hold no piece: other bodies are read instead.
      for (const stream of ahead) if (stream.isReading) this.#mayRead = ahead.delete(stream);
      if (this.#unread.size > 0) this.#events.onReady();
    });
  }

  #send(stream: Http2Stream, size: number, now: number): void {
    const piece = stream.piece!;
    stream.body!.begun = true;
    const start = stream.pieceAt;
    stream.sendWindow -= size;
    this.window -= size;
    stream.pieceAt += size;
    stream.progressAt = now;
    const isThrough = stream.pieceAt === piece.length;
    // A body that is read piece by piece is complete only once its source has ended: the stream does not end before.
    const endsStream = isThrough && stream.body!.bytes !== undefined;
    this.#output.addData(stream.id, piece, start, start + size, endsStream);
    this.#events.onSent(size);
    if (!isThrough) return this.queue(stream);
    stream.piece = undefined;
    if (endsStream) this.end(stream);
    // The body may have ended: its end needs no window, and the server may open none before it.
    else this.#read(stream);
  }

  #read(stream: Http2Stream): void {
    const body = stream.body!;
    // A closure for each piece, which has a promise anyway.
    stream.isReading = true;
    body.read().then((piece) => this.#onPiece(stream, piece), (error) => this.#onBroken(stream, error));
  }

  #onPiece(stream: Http2Stream, piece: Uint8Array | undefined): void {
    stream.isReading = false;
    if (stream.isOver) return;
    if (piece !== undefined) {
      stream.piece = piece;
      stream.pieceAt = 0;
      if (!stream.body!.begun) this.#ahead.add(stream);
      return this.queue(stream);
    }
    const { trailers } = stream.body!;
    if (trailers === undefined) this.#output.addData(stream.id, NOTHING, 0, 0, true);
    else this.#events.onTrailers(stream, trailers);
    this.end(stream);
    this.#events.onReady();
  }

  #onBroken(stream: Http2Stream, error: HttpError): void {
    stream.isReading = false;
    if (!stream.isOver) this.#events.onBodyFailed(stream, error);
  }

  /** Removes the served beginning of the queue. */
  #compact(): void {
    this.#queue.splice(0, this.#first);
    this.#first = 0;
  }
}
