import * as h2 from "./protocol.ts";

export interface FrameEvents {
  /**
   * The start of a DATA frame, reported before its bytes. @param size Its bytes that count for the windows, padding included. @param isLast Whether the stream ends with
   * the frame.
   */
  onDataFrame(stream: number, size: number, isLast: boolean): void;
  /** Bytes of one or several DATA frames: `chunk` from `start` to `end`, without padding; `isLast`: the stream ends with them. */
  onData(stream: number, chunk: Uint8Array, start: number, end: number, isLast: boolean): void;
  /** The bytes of a DATA frame's padding, reported before its other bytes. */
  onPadding(stream: number, bytes: number): void;
  /** Any other frame, complete: its payload is `chunk` from `start` to `end`, valid only during the call. */
  onFrame(type: number, flags: number, stream: number, chunk: Uint8Array, start: number, end: number): void;
}

/**
 * Finds frames in the socket's chunks, in place: without an object for each, and without a copy unless a frame spans chunks. Parts of DATA are passed on as they arrive,
 * never copied.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4}
 */
export class FrameReader {
  /** Set by the session to leave the rest of a chunk unread. */
  isStopped = false;
  /** The stream whose field block continues in the next frame, which must be CONTINUATION; 0 if there is none. */
  unfinishedBlock = 0;
  readonly #events: FrameEvents;
  readonly #maxFrameSize: number;
  /** A frame's header that spans chunks, and the number of its bytes so far. */
  readonly #header = new Uint8Array(h2.FRAME_HEADER);
  #headerLength = 0;
  #type = 0;
  #flags = 0;
  #stream = 0;
  /** The remaining bytes of the current payload. */
  #left = 0;
  /** The buffer for a payload that spans chunks; undefined for DATA, which is passed on in parts. */
  #parts: Uint8Array | undefined = undefined;
  #partsLength = 0;

  /** @param maxFrameSize Our SETTINGS_MAX_FRAME_SIZE, in bytes. */
  constructor(events: FrameEvents, maxFrameSize: number) {
    this.#events = events;
    this.#maxFrameSize = maxFrameSize;
  }

  read(chunk: Uint8Array): void {
    const end = chunk.length;
    let at = this.#left > 0 || this.#headerLength > 0 ? this.#resume(chunk) : 0;
    while (end - at >= h2.FRAME_HEADER && !this.isStopped) at = this.#readFrame(chunk, chunk, at, at + h2.FRAME_HEADER);
    if (this.isStopped) return;
    while (at < end) this.#header[this.#headerLength++] = chunk[at++];
  }

  /** Continues the frame that the last chunk left unfinished. @returns The start of the rest of the chunk. */
  #resume(chunk: Uint8Array): number {
    let at = 0;
    if (this.#headerLength > 0) {
      const header = this.#header;
      while (this.#headerLength < h2.FRAME_HEADER && at < chunk.length) header[this.#headerLength++] = chunk[at++];
      if (this.#headerLength < h2.FRAME_HEADER) return at;
      this.#headerLength = 0;
      return this.#readFrame(header, chunk, 0, at);
    }
    return this.#take(chunk, at);
  }

  /** Reads the chunk's part of a frame, whose payload begins at `at`. @returns The offset of the next frame. */
  #readFrame(header: Uint8Array, chunk: Uint8Array, headerAt: number, at: number): number {
    const length = h2.readNumber(header, headerAt) >>> 8;
    const type = header[headerAt + 3];
    const flags = header[headerAt + 4];
    const stream = h2.readNumber(header, headerAt + 5) & h2.MAX_STREAM;
    if (length > this.#maxFrameSize) {
      const message = `a ${h2.frameName(type)} frame of ${length} bytes, and the limit is ${this.#maxFrameSize}`;
      throw new h2.ConnectionFault(h2.FRAME_SIZE_ERROR, `the server sent ${message}`);
    }
    const block = this.unfinishedBlock;
    if (block !== 0 && (type !== h2.CONTINUATION || stream !== block)) {
      const what = `a ${h2.frameName(type)} frame within the field block of stream ${block}`;
      throw h2.protocolFault(`the server sent ${what}`);
    }
    if (type === h2.DATA && (flags & h2.PADDED) === 0) {
      // The size is reported now, so that the windows count it before its parts arrive.
      this.#events.onDataFrame(stream, length, (flags & h2.END_STREAM) !== 0);
    } else if (length <= chunk.length - at) {
      this.#giveFrame(type, flags, stream, chunk, at, at + length);
      return at + length;
    } else {
      this.#parts = new Uint8Array(length);
      this.#partsLength = 0;
    }
    this.#type = type;
    this.#flags = flags;
    this.#stream = stream;
    this.#left = length;
    return this.#take(chunk, at);
  }

  /** Takes the chunk's part of the current payload. @returns The offset of the next frame. */
  #take(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    const parts = this.#parts;
    if (parts === undefined) {
      const isLast = this.#left === 0 && (this.#flags & h2.END_STREAM) !== 0;
      if (end > at || isLast) this.#events.onData(this.#stream, chunk, at, end, isLast);
      return end;
    }
    parts.set(chunk.subarray(at, end), this.#partsLength);
    this.#partsLength += end - at;
    if (this.#left === 0) {
      this.#parts = undefined;
      this.#giveFrame(this.#type, this.#flags, this.#stream, parts, 0, parts.length);
    }
    return end;
  }

  /** Reports a complete frame, except DATA without padding. */
  #giveFrame(type: number, flags: number, stream: number, chunk: Uint8Array, start: number, end: number): void {
    if (type !== h2.DATA) return this.#events.onFrame(type, flags, stream, chunk, start, end);
    const length = end - start;
    const isLast = (flags & h2.END_STREAM) !== 0;
    const padding = length === 0 ? 0 : chunk[start];
    if (padding >= length) throw h2.protocolFault("the server sent DATA with more padding than bytes");
    this.#events.onPadding(stream, padding + 1);
    this.#events.onDataFrame(stream, length, isLast);
    this.#events.onData(stream, chunk, start + 1, end - padding, isLast);
  }
}
