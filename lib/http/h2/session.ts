import { Timer } from "../../timers/mod.ts";
import { inMicrotask } from "../calls.ts";
import { toConnectionError } from "../connect/connection_error.ts";
import { type Connection, type ConnectionOwner, lengthToSay, type RequestBody } from "../connection.ts";
import type { Exchange, ExchangeHandler, HeaderList, RequestHead, Transport, TransportEvents } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import { isIdempotent } from "../request/request_target.ts";
import { BodySender, type BodySenderEvents, ReceiveWindows } from "./flow_control.ts";
import { ConnectionFault, ENHANCE_YOUR_CALM, INTERNAL_ERROR, MAX_STREAM, NO_ERROR } from "./protocol.ts";
import { FrameWriter } from "./frame_writer.ts";
import { FrameReader } from "./frame_reader.ts";
import { HpackEncoder } from "./hpack/encoder.ts";
import { type Http2Options, Http2Stream, type StreamOwner, StreamTable } from "./http2_stream.ts";
import { Incoming, type IncomingEvents } from "./frame_handler.ts";
import { KeepAlive, type LivenessEvents } from "./keep_alive.ts";
import { FloodGuard } from "./response_rules.ts";
import { StreamEnds } from "./stream_ends.ts";
import { afterPoll } from "../../runtime/mod.ts";
import { OUR_FRAME_SIZE, ourSettings, PeerSettings } from "./settings.ts";

/** The first bytes of every HTTP/2 connection, from the client. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-3.4} */
const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** The time in ms that a server has to close its side after the client's close. */
const CLOSE_TIMEOUT = 1000;
const UNREAD = ": it may not have read the last of what was sent";

/** HTTP/2 with prior knowledge over a connected transport. @see {@link https://www.rfc-editor.org/rfc/rfc9113} */
export class Session
  implements Connection, TransportEvents, StreamOwner, IncomingEvents, BodySenderEvents, LivenessEvents {
  readonly protocol = "h2";
  readonly #transport: Transport;
  readonly #options: Http2Options;
  readonly #owner: ConnectionOwner;
  readonly #streams: StreamTable;
  readonly #output: FrameWriter;
  readonly #reader: FrameReader;
  readonly #encoder = new HpackEncoder();
  readonly #peer = new PeerSettings();
  readonly #windows: ReceiveWindows;
  readonly #sender: BodySender;
  readonly #noise = new FloodGuard();
  readonly #liveness: KeepAlive;
  readonly #turn = (): void => {
    const looks = this.#look === "due";
    this.#look = looks ? "running" : "none";
    if (looks) return afterPoll(this.#turn);
    for (const open of this.#unopened.splice(0)) open();
    this.#endTurn();
  };
  #limit: number;
  readonly #ends: StreamEnds;
  /** Whether the session takes no more requests, and whether its owner knows that. */
  #isEndNear = false;
  #isEndTold = false;
  /** Whether the session has ended except for the socket: received bytes are ignored. */
  #isEndHere = false;
  /** The error of the session's end; undefined if it ended normally. */
  #error: HttpError | undefined = undefined;
  readonly #lingering: Timer = new Timer(() => this.#transport.destroy());
  /** Whether the server's limit has changed and the owner does not know that. */
  #hasNewLimit = false;
  #isScheduled = false;
  #isIdle = false;
  /**
   * Whether requests wait until the event loop has polled the socket: if that has ended, they are sent on another connection. Those
   * without a body, of idempotent methods, are sent at once if the session is busy, since they can be repeated.
   */
  #look: "none" | "due" | "running" = "none";
  readonly #unopened: (() => void)[] = [];
  /** The state of the proof, by a later PING, that the server has read all bodies: closing loses unread bytes. */
  #proof: "none" | "due" | "planned" | "asked" | "overdue" = "none";

  constructor(transport: Transport, options: Http2Options, owner: ConnectionOwner) {
    this.#transport = transport;
    this.#options = options;
    this.#owner = owner;
    this.#limit = Math.min(options.maxConcurrentStreams, options.allowedAtFirst ?? 1);
    const { origin, streamWindow, maxHeaderSize } = options;
    const peer = this.#peer;
    const streams = this.#streams = new StreamTable(options.firstStream ?? 1);
    const output = this.#output = new FrameWriter(transport);
    output.put(PREFACE, 0);
    output.addSettings(ourSettings(streamWindow, maxHeaderSize));
    const windows = this.#windows = new ReceiveWindows(output, streamWindow);
    const sender = this.#sender = new BodySender(transport, output, peer, origin, this);
    const ends = this.#ends = new StreamEnds(streams, output, sender, origin);
    const liveness = this.#liveness = new KeepAlive(options, this);
    const parts = { transport, streams, output, sender, peer, windows, ends, noise: this.#noise, liveness };
    const incoming = new Incoming(this, parts, maxHeaderSize);
    this.#reader = incoming.reader = new FrameReader(incoming, OUR_FRAME_SIZE);
    transport.attach(this);
    transport.gather(true);
    this.#schedule();
  }

  get free(): number {
    return this.#isEndNear ? 0 : Math.max(0, this.#limit - this.#streams.size);
  }

  get active(): number {
    return this.#streams.size;
  }

  get closing(): boolean {
    return this.#isEndNear;
  }

  get peerMaxConcurrentStreams(): number | undefined {
    return this.#peer.isKnown ? this.#peer.maxConcurrentStreams : undefined;
  }

  start(head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler): Exchange {
    if (this.free === 0) throw new Error("Cannot start a request: the HTTP/2 session has no room for one");
    const streams = this.#streams;
    const stream = new Http2Stream(streams.next, this, handler, this.#windows.initial, head.method === "HEAD");
    stream.body = body;
    streams.add(stream);
    if (
      this.#look === "none" &&
      (this.#isIdle || (this.#peer.isKnown && (body !== undefined || !isIdempotent(head.method))))
    ) this.#look = "due";
    // The first request may start before the session has become idle.
    if (this.#isIdle || streams.size === 1) {
      this.#isIdle = false;
      this.#transport.keepProcess(true);
      this.#liveness.onBusy();
    }
    if (this.#look === "none") this.#open(stream, head);
    else this.#unopened.push(() => this.#open(stream, head));
    this.#noise.earn(2);
    if (streams.next > MAX_STREAM) this.#isEndNear = true;
    this.#schedule();
    return stream;
  }

  /** Puts the HEADERS of a request into the output, unless it has ended while it waited. */
  #open(stream: Http2Stream, head: RequestHead): void {
    if (stream.isOver) return;
    const { body } = stream;
    const output = this.#output;
    stream.sentAt = output.added;
    this.#streams.opened = stream.id;
    const length = this.#encoder.encodeRequest(head, lengthToSay(head.method, body));
    const hasBody = body !== undefined && body.bytes?.length !== 0;
    output.addHeaders(stream.id, this.#encoder.block, length, this.#peer.maxFrameSize, !hasBody);
    if (hasBody) {
      this.#sender.add(stream, body);
      if (this.#proof !== "planned") this.#proof = "due";
    } else if (body !== undefined) this.#sender.end(stream);
  }

  close(): void {
    this.#isEndNear = true;
    if (this.#proof === "overdue") this.#proof = "due";
    this.#schedule();
  }

  destroy(error: HttpError): void {
    this.#giveUp(error);
    this.#transport.destroy();
  }

  onData(chunk: Uint8Array): void {
    if (this.#isEndHere) return;
    this.#liveness.onHeard();
    try {
      this.#reader.read(chunk);
    } catch (error) {
      const { origin } = this.#options;
      const { number, message } = error instanceof ConnectionFault
        ? error
        : { number: INTERNAL_ERROR, message: "the session failed" };
      const code = number === ENHANCE_YOUR_CALM ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR";
      this.#leave(number, new HttpError(code, message, { origin, cause: error }));
      if (number === INTERNAL_ERROR) throw error;
    }
    // Most chunks of a large body require no step.
    if (this.#ends.hasFreed || this.#isEndNear || this.#proof === "due" || this.#output.waiting > 0) this.#schedule();
  }

  onDrain(): void {
    this.#ends.completeTaken();
    if (this.#ends.hasFreed || this.#sender.hasQueued || this.#proof === "due" || this.#output.waiting > 0) {
      this.#schedule();
    }
  }

  onEnd(): void {
    if (!this.#isEndHere && this.#output.waiting === 0 && this.#ends.isAllAnswered) {
      this.#isEndNear = true;
      this.#liveness.stop(); // no PING can be sent
      return this.#transport.end(); // fails if the system does not take the rest of the written bytes
    }
    this.#lose(undefined);
    this.#transport.destroy();
  }

  onClose(error: Error | undefined): void {
    this.#lose(error);
    this.#lingering.stop();
    this.#tellNear();
    this.#owner.onClosed(this, this.#error);
  }

  onConsumed(stream: Http2Stream, bytes: number): void {
    if (this.#windows.onConsumed(stream, bytes)) this.#schedule();
  }

  onCancel(stream: Http2Stream, reason: unknown): void {
    this.#ends.giveUp(stream, reason);
    this.#schedule();
  }

  onGoaway(last: number, code: number, debug: string): void {
    this.#isEndNear = true;
    this.#ends.refuseAbove(last, code, debug);
  }

  onPeerSettings(isFirst: boolean): void {
    const peer = this.#peer;
    this.#encoder.setMaxTableSize(peer.leastTableSize);
    this.#encoder.setMaxTableSize(peer.headerTableSize);
    this.#sender.onInitialWindow(this.#streams.all());
    const limit = Math.min(this.#options.maxConcurrentStreams, peer.maxConcurrentStreams);
    // Reported also if there is less room, or none: a waiting request may need another connection.
    if (limit !== this.#limit || isFirst) this.#hasNewLimit = true;
    this.#limit = limit;
  }

  onReady(): void {
    this.#schedule();
  }

  onSent(bytes: number): void {
    this.#noise.onSent(bytes);
  }

  onTrailers({ id }: Http2Stream, trailers: HeaderList): void {
    const length = this.#encoder.encodeFields(trailers);
    this.#output.addHeaders(id, this.#encoder.block, length, this.#peer.maxFrameSize, true);
  }

  onBodyFailed(stream: Http2Stream, error: HttpError): void {
    this.#ends.breakOff(stream, error);
    this.#schedule();
  }

  get unconsumed(): number {
    return this.#sender.unconsumed;
  }

  onPingDue(value: number): number {
    const { added } = this.#output;
    this.#output.addPing(value);
    this.#schedule();
    return added;
  }

  onStale(): void {
    this.destroy(this.#stale());
  }

  onProof(hasCome: boolean): void {
    if (this.#proof === "asked") this.#proof = hasCome ? "none" : "overdue"; // otherwise another body was sent meanwhile
    this.#ends.endLate(this.#ends.asked, hasCome ? undefined : this.#stale(UNREAD)); // now, since they are kept until the acknowledgement
    this.#schedule();
  }

  readonly onProofDue = (): void => {
    if (this.#proof !== "planned" || this.#isEndHere) return;
    this.#proof = this.#ends.isAllSent ? "asked" : "due";
    if (!this.#needsProof) return;
    this.#ends.asked = this.#ends.late.length;
    this.#liveness.prove();
  };

  /** Whether a PING is needed: after all bodies, or after late ones while requests are open, since they are kept until its acknowledgement. */
  get #needsProof(): boolean {
    const { asked, late, isAllSent } = this.#ends;
    return asked === 0 ? late.length > 0 || isAllSent : this.#isEndNear && isAllSent;
  }

  // The end of a turn.

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    inMicrotask(this.#turn);
  }

  /** Reports news to the owner, and sends the gathered frames. */
  #endTurn(): void {
    this.#tellNear();
    const isNews = this.#hasNewLimit || (this.#ends.hasFreed && this.free > 0);
    this.#hasNewLimit = false;
    this.#ends.hasFreed = false;
    if (isNews && !this.#isEndNear) this.#owner.onFree(this);
    this.#isScheduled = false;
    if (this.#isEndHere) return;
    if (this.#look === "due") this.#schedule(); // the owner has started requests
    this.#sender.pump();
    if (this.#streams.size === 0) {
      if (this.#isEndNear && (this.#proof === "none" || this.#proof === "overdue")) {
        return this.#leave(NO_ERROR, undefined);
      }
      if (!this.#isIdle) {
        this.#isIdle = true;
        this.#output.shrink();
        this.#transport.keepProcess(false);
        this.#liveness.onIdle();
      }
    }
    this.#output.flush();
    this.#ends.completeTaken();
    if (this.#ends.hasFreed) this.#schedule();
    if (this.#proof === "due" && this.#needsProof) {
      this.#proof = "planned";
      this.#liveness.planProof();
    }
    if (this.#proof === "planned" && this.#isEndNear) afterPoll(this.onProofDue);
  }

  // The end of the session.

  /** Reports that no more requests are taken, if the owner does not know yet. */
  #tellNear(): void {
    if (!this.#isEndNear || this.#isEndTold) return;
    this.#isEndTold = true;
    this.#owner.onClosing(this);
  }

  #leave(code: number, error: HttpError | undefined): void {
    this.#giveUp(error);
    if (error !== undefined) this.#output.discard(); // unsent requests may be sent on another connection
    this.#output.addGoaway(code);
    this.#output.flush();
    // The server closes its side first: otherwise its socket could see a reset instead of the last frames.
    this.#transport.end();
    this.#transport.keepProcess(true);
    this.#lingering.start(CLOSE_TIMEOUT);
    if (this.#proof === "overdue") this.#error ??= this.#stale(UNREAD);
  }

  /** Handles the loss of the connection: no error if no request was open, and no sent body can be unread. */
  #lose(cause: Error | undefined): void {
    const isUnread = this.#ends.late.length + this.#streams.size > 0 || this.#proof === "asked" ||
      this.#proof === "overdue";
    this.#giveUp(this.#peer.isKnown && !isUnread ? undefined : toConnectionError(cause, this.#options.origin));
    if (this.#error !== undefined) this.#ends.endLate(Infinity, this.#error);
  }

  #stale(and: string = ""): HttpError {
    const message = `the server answered no PING within ${this.#liveness.patience} ms${and}`;
    return new HttpError("CONNECTION_STALE", message, { origin: this.#options.origin });
  }

  /** Ends the session except for its socket; open requests fail with the error. Does nothing if it has ended. */
  #giveUp(error: HttpError | undefined): void {
    if (this.#isEndHere) return;
    this.#isEndHere = true;
    this.#isEndNear = true;
    this.#error = error;
    this.#reader.isStopped = true;
    this.#liveness.stop();
    if (error !== undefined) this.#ends.failAll(error);
    this.#schedule();
  }
}
