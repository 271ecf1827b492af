import { ConnectionFault, FRAME_SIZE_ERROR, PROTOCOL_ERROR } from "./error_codes.ts";
import { CONTINUATION, DATA, END_STREAM, FRAME_HEADER, frameName, PADDED } from "./frame_types.ts";

/** What a {@link FrameReader} finds. */
export interface FrameEvents {
  /**
   * A DATA frame, or a part of one: `chunk` from `start` to `end`, without padding.
   *
   * @param size What the whole frame takes of the windows, padding and all; 0 for its later parts.
   * @param isLast Whether the stream ends with it.
   */
  onDataFrame(stream: number, size: number, chunk: Uint8Array, start: number, end: number, isLast: boolean): void;
  /** Bytes of a DATA frame that are padding; told before its other bytes. */
  onPadding(stream: number, bytes: number): void;
  /** Any other frame, whole: its payload is `chunk` from `start` to `end`, and good only during the call. */
  onFrame(type: number, flags: number, stream: number, chunk: Uint8Array, start: number, end: number): void;
}

/**
 * Finds frames in what the socket brings, in place: no object a frame, and nothing copied but frames that lie across chunks. Of
 * DATA not even these: the parts are passed on as they come.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4}
 */
export class FrameReader {
  /** Set by the session to leave the rest of a chunk unread. */
  isStopped = false;
  /** The stream whose field block goes on in the next frame, which has to be CONTINUATION; 0 if none does. */
  unfinishedBlock = 0;
  readonly #events: FrameEvents;
  readonly #maxFrameSize: number;
  /** A frame's header across chunks, and how much of it there is. */
  readonly #header = new Uint8Array(FRAME_HEADER);
  #headerLength = 0;
  #type = 0;
  #flags = 0;
  #stream = 0;
  /** Of the payload that is under way, this is still to come. */
  #left = 0;
  /** The payload that is put together; undefined if it is DATA, which is passed on in parts. */
  #parts: Uint8Array | undefined = undefined;
  #partsLength = 0;

  /**
   * Makes a reader.
   *
   * @param events Told of the frames.
   * @param maxFrameSize Our SETTINGS_MAX_FRAME_SIZE, in bytes.
   */
  constructor(events: FrameEvents, maxFrameSize: number) {
    this.#events = events;
    this.#maxFrameSize = maxFrameSize;
  }

  /**
   * Reads a chunk.
   *
   * @throws {ConnectionFault} if it breaks the rules.
   */
  read(chunk: Uint8Array): void {
    const end = chunk.length;
    let at = this.#left > 0 || this.#headerLength > 0 ? this.#goOn(chunk) : 0;
    while (end - at >= FRAME_HEADER && !this.isStopped) {
      const length = (chunk[at] << 16) | (chunk[at + 1] << 8) | chunk[at + 2];
      const type = chunk[at + 3];
      const flags = chunk[at + 4];
      const stream = ((chunk[at + 5] & 0x7f) << 24) | (chunk[at + 6] << 16) | (chunk[at + 7] << 8) | chunk[at + 8];
      at += FRAME_HEADER;
      if (length > this.#maxFrameSize) this.#refuseSize(type, length);
      if (this.unfinishedBlock !== 0) this.#requireContinuation(type, stream);
      if (length > end - at) {
        this.#begin(type, flags, stream, length);
        at += this.#take(chunk, at);
      } else {
        this.#frame(type, flags, stream, chunk, at, at + length, length);
        at += length;
      }
    }
    if (this.isStopped) return;
    while (at < end) this.#header[this.#headerLength++] = chunk[at++];
  }

  /** Goes on with what the last chunk left unfinished. @returns Where the rest of the chunk starts. */
  #goOn(chunk: Uint8Array): number {
    let at = 0;
    if (this.#headerLength > 0) {
      const header = this.#header;
      while (this.#headerLength < FRAME_HEADER && at < chunk.length) header[this.#headerLength++] = chunk[at++];
      if (this.#headerLength < FRAME_HEADER) return at;
      this.#headerLength = 0;
      const length = (header[0] << 16) | (header[1] << 8) | header[2];
      const stream = ((header[5] & 0x7f) << 24) | (header[6] << 16) | (header[7] << 8) | header[8];
      if (length > this.#maxFrameSize) this.#refuseSize(header[3], length);
      if (this.unfinishedBlock !== 0) this.#requireContinuation(header[3], stream);
      if (length <= chunk.length - at) {
        this.#frame(header[3], header[4], stream, chunk, at, at + length, length);
        return at + length;
      }
      this.#begin(header[3], header[4], stream, length);
    }
    return at + this.#take(chunk, at);
  }

  #begin(type: number, flags: number, stream: number, length: number): void {
    this.#type = type;
    this.#flags = flags;
    this.#stream = stream;
    this.#left = length;
    this.#partsLength = 0;
    const isPassedOn = type === DATA && (flags & PADDED) === 0;
    this.#parts = isPassedOn ? undefined : new Uint8Array(length);
    // Its size is told now, so that the windows know it before the parts come.
    if (isPassedOn) this.#events.onDataFrame(stream, length, this.#header, 0, 0, false);
  }

  /** Takes what the chunk has of the payload that is under way. @returns How many bytes that is. */
  #take(chunk: Uint8Array, at: number): number {
    const size = Math.min(this.#left, chunk.length - at);
    if (size === 0) return 0;
    this.#left -= size;
    if (this.#parts === undefined) {
      const isLast = this.#left === 0 && (this.#flags & END_STREAM) !== 0;
      this.#events.onDataFrame(this.#stream, 0, chunk, at, at + size, isLast);
      return size;
    }
    this.#parts.set(size === chunk.length ? chunk : chunk.subarray(at, at + size), this.#partsLength);
    this.#partsLength += size;
    if (this.#left === 0) {
      const parts = this.#parts;
      this.#parts = undefined;
      this.#frame(this.#type, this.#flags, this.#stream, parts, 0, parts.length, parts.length);
    }
    return size;
  }

  #frame(
    type: number,
    flags: number,
    stream: number,
    chunk: Uint8Array,
    start: number,
    end: number,
    length: number,
  ): void {
    if (type !== DATA) return this.#events.onFrame(type, flags, stream, chunk, start, end);
    if ((flags & PADDED) !== 0) {
      const padding = length === 0 ? 0 : chunk[start];
      if (padding >= length) {
        throw new ConnectionFault(PROTOCOL_ERROR, "the server sent DATA with more padding than bytes");
      }
      start++;
      end -= padding;
      this.#events.onPadding(stream, padding + 1);
    }
    this.#events.onDataFrame(stream, length, chunk, start, end, (flags & END_STREAM) !== 0);
  }

  #requireContinuation(type: number, stream: number): void {
    if (type === CONTINUATION && stream === this.unfinishedBlock) return;
    const words = `the server sent a ${frameName(type)} frame within the field block of stream ${this.unfinishedBlock}`;
    throw new ConnectionFault(PROTOCOL_ERROR, words);
  }

  #refuseSize(type: number, length: number): never {
    const words = `the server sent a ${
      frameName(type)
    } frame of ${length} bytes, and the limit is ${this.#maxFrameSize}`;
    throw new ConnectionFault(FRAME_SIZE_ERROR, words);
  }
}
