import type {
  Connection,
  ConnectionOwner,
  Exchange,
  ExchangeHandler,
  HeaderList,
  RequestBody,
  RequestHead,
} from "../exchange.ts";
import { HttpError, type HttpErrorCode } from "../http_error.ts";
import type { Transport, TransportEvents } from "../transport.ts";
import { BodySender, type BodySenderEvents } from "./body_sender.ts";
import {
  CANCEL,
  ConnectionFault,
  ENHANCE_YOUR_CALM,
  errorName,
  Http2ErrorCause,
  INTERNAL_ERROR,
  NO_ERROR,
  REFUSED_STREAM,
} from "./error_codes.ts";
import { FrameOutput } from "./frame_output.ts";
import { FrameReader } from "./frame_reader.ts";
import { HpackEncoder } from "./hpack/encoder.ts";
import { Http2Stream, type StreamOwner } from "./http2_stream.ts";
import { Incoming, type IncomingEvents } from "./incoming.ts";
import { Liveness, type LivenessEvents } from "./liveness.ts";
import { NoiseBudget } from "./noise_budget.ts";
import { ReceiveWindows } from "./receive_windows.ts";
import { OUR_FRAME_SIZE, ourSettings, PeerSettings } from "./settings.ts";
import { StreamTable } from "./stream_table.ts";

/** What every HTTP/2 connection of a client begins with. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-3.4} */
const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SOON = Promise.resolve();
/** How long, in ms, a server has to close its side after we closed ours. */
const LINGER = 1000;

/** How a session is to be; times in ms, 0 for never. */
export interface Http2Options {
  /** For errors. */
  readonly origin: string;
  /** Requests at a time; the server's SETTINGS may allow fewer. */
  readonly maxConcurrentStreams: number;
  /** Bytes that the server may send of a response nobody reads: SETTINGS_INITIAL_WINDOW_SIZE. */
  readonly streamWindow: number;
  /** Bytes of a response's head: SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly maxHeaderSize: number;
  /** Silence with requests under way after which a PING is sent. */
  readonly pingInterval: number;
  /** For its answer. */
  readonly pingTimeout: number;
  /** After which a session without requests is closed. */
  readonly idleTimeout: number;
  /** Requests at a time until the server's SETTINGS come. Default: 1. */
  readonly allowedAtFirst?: number;
  /** The first stream's id, for tests of what happens at the last. Default: 1. */
  readonly firstStream?: number;
}

/** An HTTP/2 connection to a server. */
export interface Http2Session extends Connection {
  /** What the server's SETTINGS say; Infinity if they say nothing, and undefined before they came. */
  readonly peerMaxConcurrentStreams: number | undefined;
  /** How many requests were started. */
  readonly streamsOpened: number;
}

/**
 * Speaks HTTP/2 with prior knowledge over a transport, as a client.
 *
 * @param transport Connected; the session's from now on.
 * @param owner Told when requests can be started, and when the session ends.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113}
 */
export function openHttp2Session(transport: Transport, options: Http2Options, owner: ConnectionOwner): Http2Session {
  return new Session(transport, options, owner);
}

class Session implements Http2Session, TransportEvents, StreamOwner, IncomingEvents, BodySenderEvents, LivenessEvents {
  readonly protocol = "h2";
  readonly #transport: Transport;
  readonly #options: Http2Options;
  readonly #owner: ConnectionOwner;
  readonly #streams: StreamTable;
  readonly #output: FrameOutput;
  readonly #reader: FrameReader;
  readonly #encoder = new HpackEncoder();
  readonly #peer = new PeerSettings();
  readonly #windows: ReceiveWindows;
  readonly #sender: BodySender;
  readonly #noise = new NoiseBudget();
  readonly #liveness: Liveness;
  readonly #turn = (): void => this.#endTurn();
  #limit: number;
  #closing = false;
  #isClosingTold = false;
  /** Whether there is room that the owner was not told of. */
  #hasFreed = false;
  #isScheduled = false;
  #isIdle = false;
  /** Whether nothing is read any more: it is closed but for the socket's end. */
  #isOver = false;
  #error: HttpError | undefined = undefined;
  #lingering: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(transport: Transport, options: Http2Options, owner: ConnectionOwner) {
    this.#transport = transport;
    this.#options = options;
    this.#owner = owner;
    this.#limit = Math.min(options.maxConcurrentStreams, options.allowedAtFirst ?? 1);
    this.#streams = new StreamTable(options.firstStream ?? 1);
    const output = this.#output = new FrameOutput(transport);
    output.addBytes(PREFACE);
    output.addSettings(ourSettings(options.streamWindow, options.maxHeaderSize));
    this.#windows = new ReceiveWindows(output, options.streamWindow);
    this.#sender = new BodySender(transport, output, this.#peer, options.origin, this);
    const parts = {
      transport,
      streams: this.#streams,
      output,
      sender: this.#sender,
      peer: this.#peer,
      windows: this.#windows,
      noise: this.#noise,
    };
    const incoming = new Incoming(this, parts, options.maxHeaderSize);
    this.#reader = incoming.reader = new FrameReader(incoming, OUR_FRAME_SIZE);
    this.#liveness = new Liveness(options, this);
    transport.attach(this);
    this.#schedule();
  }

  get free(): number {
    return this.#closing ? 0 : Math.max(0, this.#limit - this.#streams.size);
  }

  get active(): number {
    return this.#streams.size;
  }

  get closing(): boolean {
    return this.#closing;
  }

  get peerMaxConcurrentStreams(): number | undefined {
    return this.#peer.isKnown ? this.#peer.maxConcurrentStreams : undefined;
  }

  get streamsOpened(): number {
    return this.#streams.opened;
  }

  start(head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler): Exchange {
    if (this.free === 0) throw new Error("Cannot start a request: the HTTP/2 session has no room for one");
    const output = this.#output;
    const streams = this.#streams;
    const id = streams.next;
    const stream = new Http2Stream(id, this, handler, this.#windows.initial, output.added, head.method === "HEAD");
    streams.add(stream);
    const contentLength = lengthOf(head.method, body);
    const length = this.#encoder.encodeRequest(head, contentLength);
    const hasBody = body !== undefined && contentLength !== 0;
    output.addHeaders(id, this.#encoder.block, length, this.#peer.maxFrameSize, !hasBody);
    if (hasBody) {
      stream.body = body;
      stream.sendWindow = this.#peer.initialWindowSize;
      this.#sender.add(stream);
    }
    this.#noise.earn(2);
    if (this.#isIdle) this.#leaveIdle();
    if (streams.isExhausted) this.#closing = true;
    this.#schedule();
    return stream;
  }

  close(): void {
    this.#closing = true;
    this.#schedule();
  }

  destroy(error: HttpError): void {
    this.#giveUp(error);
    this.#transport.destroy();
  }

  // What the transport tells.

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#liveness.onHeard();
    try {
      this.#reader.read(chunk);
    } catch (error) {
      if (!(error instanceof ConnectionFault)) {
        this.#leave(INTERNAL_ERROR, this.#newError("PROTOCOL_ERROR", "the session failed", error));
        throw error;
      }
      const code = error.number === ENHANCE_YOUR_CALM ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR";
      this.#leave(error.number, this.#newError(code, error.message, error));
    }
    // Most chunks of a large body bring nothing to be done.
    if (this.#hasFreed || this.#closing || this.#output.waiting > 0) this.#schedule();
  }

  onDrain(): void {
    this.#output.onDrain();
    this.#schedule();
  }

  onEnd(): void {
    this.#lose("the server closed the connection", undefined);
    this.#transport.destroy();
  }

  onClose(error: Error | undefined): void {
    clearTimeout(this.#lingering);
    this.#lose(error === undefined ? "the connection was closed" : `the connection was lost: ${error.message}`, error);
    this.#tellClosing();
    this.#owner.onClosed(this, this.#error);
  }

  // What a stream asks for.

  onConsumed(stream: Http2Stream, bytes: number): void {
    if (this.#windows.onConsumed(stream, bytes)) this.#schedule();
  }

  onCancel(stream: Http2Stream, reason: unknown): void {
    this.#remove(stream);
    this.#output.addReset(stream.id, CANCEL);
    stream.body?.cancel(reason);
    this.#schedule();
  }

  // What the server's frames do.

  onResponseEnd(stream: Http2Stream, trailers: HeaderList | undefined): void {
    this.#remove(stream);
    if (stream.body !== undefined) {
      // It has made up its mind without the rest of the body (RFC 9113 section 8.1).
      this.#output.addReset(stream.id, NO_ERROR);
      stream.body.cancel(this.#newError("RESET", "the response ended before the request's body did"));
    }
    stream.handler.onEnd(trailers);
  }

  onBadResponse(stream: Http2Stream, code: number, message: string, isTooLarge: boolean): void {
    if (stream.isOver) return;
    this.#output.addReset(stream.id, code);
    const words = `the server's response cannot be used: ${message}`;
    const error = this.#newError(
      isTooLarge ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR",
      words,
      new Http2ErrorCause(code, words),
    );
    this.#fail(stream, error, false);
  }

  onReset(stream: Http2Stream, code: number): void {
    const isUntouched = code === REFUSED_STREAM && !stream.hasHead;
    const words = isUntouched
      ? "the server refused the request without acting on it (REFUSED_STREAM)"
      : `the server gave the request up (${errorName(code)})`;
    const error = this.#newError(isUntouched ? "REFUSED" : "RESET", words, new Http2ErrorCause(code, words));
    this.#fail(stream, error, isUntouched);
  }

  onGoaway(last: number, code: number, debug: string): void {
    this.#closing = true;
    const said = debug === "" ? errorName(code) : `${errorName(code)}, ${JSON.stringify(debug)}`;
    const words = `the server closes the connection (${said}), and did not act on the request`;
    for (const stream of this.#streams.all()) {
      if (stream.id <= last) continue;
      this.#fail(stream, this.#newError("REFUSED", words, new Http2ErrorCause(code, words)), true);
    }
  }

  onPeerSettings(): void {
    const peer = this.#peer;
    this.#encoder.setMaxTableSize(peer.headerTableSize);
    this.#sender.onInitialWindow(this.#streams.all());
    const limit = Math.min(this.#options.maxConcurrentStreams, peer.maxConcurrentStreams);
    if (limit > this.#limit) this.#hasFreed = true;
    this.#limit = limit;
  }

  onOurSettingsKnown(): void {
    this.#windows.onSettingsKnown(this.#streams.all());
  }

  // What the sender of bodies tells.

  onReady(): void {
    this.#schedule();
  }

  onProgress(): void {
    this.#noise.earn(4);
  }

  onBodyFailed(stream: Http2Stream, error: HttpError): void {
    this.#output.addReset(stream.id, CANCEL);
    this.#fail(stream, error, false);
    this.#schedule();
  }

  // What the watch over the server's life asks and tells.

  isBusy(): boolean {
    return this.#streams.size > 0;
  }

  onPingDue(value: number): void {
    this.#output.addPing(value);
    this.#schedule();
  }

  onStale(): void {
    const words = `the server answered no PING within ${this.#options.pingTimeout} ms`;
    this.#giveUp(this.#newError("CONNECTION_STALE", words));
    this.#tellClosing();
    this.#transport.destroy();
  }

  onIdle(): void {
    this.close();
  }

  // The end of a turn.

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    SOON.then(this.#turn); // not queueMicrotask(), which makes an AsyncResource on Node
  }

  /** Tells the owner what is new, and sends what has come together. */
  #endTurn(): void {
    if (this.#closing) this.#tellClosing();
    if (this.#hasFreed) {
      this.#hasFreed = false;
      if (this.free > 0) this.#owner.onFree(this);
    }
    this.#isScheduled = false;
    if (this.#isOver) return;
    this.#sender.pump();
    if (this.#streams.size === 0) {
      if (this.#closing) return this.#leave(NO_ERROR, undefined);
      if (!this.#isIdle) this.#enterIdle();
    }
    this.#output.flush();
  }

  #enterIdle(): void {
    this.#isIdle = true;
    this.#output.shrink();
    this.#transport.hold(false);
    this.#liveness.onIdle();
  }

  #leaveIdle(): void {
    this.#isIdle = false;
    this.#transport.hold(true);
    this.#liveness.onBusy();
  }

  // The end of streams, and of the session.

  #remove(stream: Http2Stream): void {
    stream.isOver = true;
    stream.piece = undefined;
    this.#streams.delete(stream.id);
    this.#hasFreed = true;
  }

  #fail(stream: Http2Stream, error: HttpError, isUntouched: boolean): void {
    if (stream.isOver) return;
    this.#remove(stream);
    stream.body?.cancel(error);
    stream.handler.onFail(error, isUntouched);
  }

  /** Says goodbye, and waits a little for the server to do so. */
  #leave(code: number, error: HttpError | undefined): void {
    this.#giveUp(error);
    this.#output.addGoaway(code);
    this.#output.flush();
    this.#transport.end();
    this.#transport.hold(true);
    this.#lingering = setTimeout(() => this.#transport.destroy(), LINGER);
  }

  /** The server, or the way to it, is gone. */
  #lose(message: string, cause: unknown): void {
    if (this.#isOver) return;
    const isExpected = this.#streams.size === 0;
    this.#giveUp(isExpected ? undefined : this.#newError("CONNECTION_LOST", message, cause));
    this.#schedule();
  }

  /** Ends it all but for the socket; what is under way fails with the error. */
  #giveUp(error: HttpError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#closing = true;
    this.#error = error;
    this.#reader.isStopped = true;
    this.#liveness.stop();
    const { written } = this.#output;
    for (const stream of this.#streams.all()) this.#fail(stream, error!, stream.sentAt >= written);
    this.#schedule();
  }

  #tellClosing(): void {
    if (this.#isClosingTold) return;
    this.#isClosingTold = true;
    this.#owner.onClosing(this);
  }

  #newError(code: HttpErrorCode, message: string, cause?: unknown): HttpError {
    return new HttpError(code, message, { origin: this.#options.origin, cause });
  }
}

/** What Content-Length says; undefined if there is none. Methods that mean to send something say so if it is nothing. */
function lengthOf(method: string, body: RequestBody | undefined): number | undefined {
  if (body !== undefined) return body.bytes?.length ?? body.length;
  return method === "POST" || method === "PUT" || method === "PATCH" ? 0 : undefined;
}
