import type { Exchange, ExchangeHandler, RequestBody } from "../exchange.ts";

/** The callbacks of a stream to its session. */
export interface StreamOwner {
  /** There is room for more of the response. */
  onConsumed(stream: Http2Stream, bytes: number): void;
  /** The caller gives it up. */
  onCancel(stream: Http2Stream, reason: unknown): void;
}

/** A request on a session, and its response. Plain fields, as the session, the sender and the response's rules share them. */
export class Http2Stream implements Exchange {
  readonly id: number;
  readonly handler: ExchangeHandler;
  readonly owner: StreamOwner;
  /** Whether it has ended, however: nothing more is told to the handler, and what comes for it is dropped. */
  isOver = false;

  /** The request's body as long as it is not sent; then undefined. */
  body: RequestBody | undefined;
  /** Of the body, if its length is known, so much is not sent; -1 if it is unknown. */
  bodyLeft = 0;
  /** A piece of the body that waits for room, from `pieceAt` on. */
  piece: Uint8Array | undefined = undefined;
  pieceAt = 0;
  /** Whether the body was asked for a piece, and has not answered. */
  isReading = false;
  /** Whether it is in the sender's queue. */
  isQueued = false;
  /** Bytes that the server lets us send; negative if its SETTINGS lowered the window. */
  sendWindow = 0;

  /** Bytes that the server may send. */
  receiveWindow: number;
  /** Bytes that the reader took, and that no WINDOW_UPDATE has returned yet. */
  credit = 0;

  /** Whether the final response's head came. */
  hasHead = false;
  /** Whether the response can have no body: to HEAD, 204, 304. */
  isBodiless: boolean;
  /** Of the response's body, so much is to come by its Content-Length; -1 if that is unknown. */
  expected = -1;
  /** The offset of its HEADERS in all bytes that the session ever sent. */
  readonly sentAt: number;

  /** Makes a stream without a body. An object of options a request would cost more than six parameters. */
  constructor(
    id: number,
    owner: StreamOwner,
    handler: ExchangeHandler,
    receiveWindow: number,
    sentAt: number,
    isHead: boolean,
  ) {
    this.id = id;
    this.owner = owner;
    this.handler = handler;
    this.body = undefined;
    this.receiveWindow = receiveWindow;
    this.sentAt = sentAt;
    this.isBodiless = isHead;
  }

  consumed(bytes: number): void {
    if (!this.isOver) this.owner.onConsumed(this, bytes);
  }

  cancel(reason: unknown): void {
    if (!this.isOver) this.owner.onCancel(this, reason);
  }
}
