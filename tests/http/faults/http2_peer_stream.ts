import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Flag, frame, FrameType, headerBlock, numberFrame } from "./http2_frames.ts";
import type { Http2Peer } from "./http2_peer.ts";
import type { ServerRequest } from "./server_request.ts";

const FRAME = 16_384;

/** A request on an {@link Http2Peer}. */
export class Http2PeerStream implements ServerRequest {
  readonly peer: Http2Peer;
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  received = 0;
  sum = 0;
  trailers: ReadonlyMap<string, string> = new Map();
  isWhole = false;
  isGone = false;
  backlog = 0;
  onBytes: ((bytes: Uint8Array) => void) | undefined = undefined;
  onWhole: (() => void) | undefined = undefined;
  onGone: (() => void) | undefined = undefined;
  /** The code with which the client reset it. */
  resetCode: number | undefined = undefined;
  /** The stream's send window, as granted by the client. */
  window: number;
  /** The client's remaining send window on the stream. */
  room: number;
  #isHolding = false;
  #held = 0;
  #queue: Uint8Array[] = [];
  #isEnding = false;
  #trailers: [string, string][] = [];
  #hasEnded = false;

  constructor(peer: Http2Peer, id: number, fields: ReadonlyMap<string, string>) {
    this.peer = peer;
    this.id = id;
    this.fields = fields;
    this.method = fields.get(":method") ?? "";
    this.path = fields.get(":path") ?? "";
    this.window = peer.clientStreamWindow;
    this.room = peer.streamRoom;
  }

  get socket(): Socket {
    return this.peer.socket;
  }

  get isHolding(): boolean {
    return this.#isHolding;
  }

  set isHolding(isHolding: boolean) {
    this.#isHolding = isHolding;
    if (!isHolding && this.#held > 0) this.#giveRoom();
  }

  inform(status: number, fields: Readonly<Record<string, string>> = {}): void {
    this.head(status, fields);
  }

  head(status: number, fields: Readonly<Record<string, string>> = {}): void {
    if (!this.isGone) this.peer.sendHead(this.id, status, fields);
  }

  data(bytes: Uint8Array): void {
    if (this.isGone) return;
    this.#queue.push(bytes);
    this.backlog += bytes.length;
    this.peer.pump();
  }

  end(trailers: Readonly<Record<string, string>> = {}): void {
    if (this.isGone) return;
    this.#trailers = Object.entries(trailers);
    this.#isEnding = true;
    this.peer.pump();
    if (this.backlog === 0) this.#finish();
  }

  reset(code: number): void {
    if (this.isGone) return;
    this.peer.send(numberFrame(FrameType.reset, this.id, code));
    this.lose();
  }

  /** Sends at most one frame. @returns Whether there was something to send, and room. */
  sendSome(): boolean {
    const [first] = this.#queue;
    const size = Math.min(first?.length ?? 0, this.window, this.peer.window, FRAME);
    if (size <= 0 || this.isGone) return false;
    this.window -= size;
    this.peer.window -= size;
    this.backlog -= size;
    if (size === first.length) this.#queue.shift();
    else this.#queue[0] = first.subarray(size);
    const isLast = this.#isEnding && this.backlog === 0 && this.#trailers.length === 0;
    this.peer.send(frame(FrameType.data, isLast ? Flag.endStream : 0, this.id, first.subarray(0, size)));
    if (isLast) this.#leave();
    else if (this.#isEnding && this.backlog === 0) this.#finish();
    return true;
  }

  takeData(bytes: Uint8Array, size: number): void {
    this.room -= size;
    if (this.isWhole) this.peer.note(`DATA after the end of stream ${this.id}`);
    if (this.room < 0) this.peer.note(`${-this.room} bytes more than the window of stream ${this.id}`);
    this.received += bytes.length;
    for (let at = 0; at < bytes.length; at++) this.sum += bytes[at];
    this.onBytes?.(bytes);
    this.#held += size;
    if (!this.#isHolding && this.#held > 0) this.#giveRoom();
  }

  endRequest(): void {
    if (this.isWhole) return;
    this.isWhole = true;
    const length = this.fields.get("content-length");
    if (length !== undefined && Number(length) !== this.received) {
      this.peer.note(`a body of ${this.received} bytes came with content-length ${length}`);
    }
    this.onWhole?.();
    if (this.#hasEnded) this.peer.streams.delete(this.id);
  }

  /** The client, GOAWAY or the socket's end has given it up. */
  lose(code?: number): void {
    this.peer.streams.delete(this.id);
    if (this.isGone) return;
    this.isGone = true;
    this.resetCode = code;
    this.#queue = [];
    this.backlog = 0;
    if (!this.#hasEnded) this.onGone?.();
  }

  #giveRoom(): void {
    const size = this.#held;
    this.#held = 0;
    if (this.isWhole || this.isGone) return;
    this.room += size;
    this.peer.send(numberFrame(FrameType.windowUpdate, this.id, size));
  }

  #finish(): void {
    if (this.#hasEnded) return;
    const ending = this.#trailers.length === 0
      ? frame(FrameType.data, Flag.endStream, this.id, Buffer.alloc(0))
      : frame(FrameType.headers, Flag.endStream | Flag.endHeaders, this.id, headerBlock(this.#trailers));
    this.peer.send(ending);
    this.#leave();
  }

  #leave(): void {
    this.#hasEnded = true;
    if (this.isWhole) this.peer.streams.delete(this.id);
  }
}
