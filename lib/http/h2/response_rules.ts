import type { HeaderList } from "../connection.ts";
import { joinedField } from "../response/response_headers.ts";
import type { HpackDecoder } from "./hpack/decoder.ts";
import type { Http2Stream } from "./http2_stream.ts";
import { ConnectionFault, ENHANCE_YOUR_CALM } from "./protocol.ts";

/** The maximum frames of a field block, in addition to one for each {@link BYTES_OF_FRAME} of the limit: more are an attack. */
const MAX_FRAMES = 64;
const BYTES_OF_FRAME = 8192;
const NOTHING = new Uint8Array(0);

/** A field block in several frames: HEADERS, then CONTINUATION. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.3} */
export class FieldBlock {
  endsStream = false;
  bytes: Uint8Array = NOTHING;
  length = 0;
  readonly #limit: number;
  readonly #frameLimit: number;
  #frames = 0;

  /** Creates an empty block, to be reused for one block after the other. The limit is in compressed bytes. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#frameLimit = MAX_FRAMES + Math.ceil(limit / BYTES_OF_FRAME);
  }

  begin(endsStream: boolean): void {
    this.endsStream = endsStream;
    this.length = 0;
    this.#frames = 0;
  }

  /** Adds a frame's part. @throws {ConnectionFault} if the block exceeds the limit: later blocks depend on it. */
  add(chunk: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.#limit || ++this.#frames > this.#frameLimit) {
      const message = `the server sent a field block of more than ${this.#limit} bytes or ${this.#frameLimit} frames`;
      throw new ConnectionFault(ENHANCE_YOUR_CALM, message);
    }
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(this.bytes.length * 2, this.#limit)));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    this.bytes.set(chunk.subarray(start, end), this.length);
    this.length = length;
  }

  /** Releases the memory of the finished block. */
  clear(): void {
    this.bytes = NOTHING;
    this.length = 0;
  }
}

const INVALID = -2;

/** Passes the decoded head of a response to the handler. Returns the fault, or an empty text. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.1} */
export function takeHead(stream: Http2Stream, decoder: HpackDecoder, headers: HeaderList, endsStream: boolean): string {
  const { status } = decoder;
  if (status < 200) {
    if (endsStream) return `a response of status ${status} ended the stream`;
    stream.handler.onInformational(status, headers);
    return "";
  }
  if (status === 204 || status === 304) stream.isBodiless = true;
  const length = contentLengthOf(headers);
  if (length === INVALID) {
    return `the response's Content-Length is ${JSON.stringify(joinedField(headers, "content-length"))}`;
  }
  if (!stream.isBodiless) stream.expected = length;
  if (endsStream && stream.expected > 0) return missing(stream);
  stream.hasHead = true;
  stream.isAccepted = status < 300;
  stream.handler.onHead({ status, statusText: "", headers });
  return "";
}

/** Counts bytes of the body, or 0 at its end; returns the fault (https://www.rfc-editor.org/rfc/rfc9113#section-8.1.1). */
export function countData(stream: Http2Stream, bytes: number, endsStream: boolean): string {
  if (!stream.hasHead) return "DATA came before the response's head";
  if (bytes > 0) {
    if (stream.isBodiless) return "DATA came for a response that has no body";
    if (stream.expected >= 0) {
      stream.expected -= bytes;
      if (stream.expected < 0) return "the response's body is longer than its Content-Length";
    }
  }
  return endsStream && stream.expected > 0 ? missing(stream) : "";
}

/** Returns the bytes that Content-Length announces; -1 without it, INVALID if it is not a number or not unique. */
function contentLengthOf(headers: HeaderList): number {
  let found = -1;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== "content-length") continue;
    const value = headers[i + 1];
    const bytes = /^\d{1,15}$/.test(value) ? Number(value) : INVALID;
    if (bytes === INVALID || (found >= 0 && found !== bytes)) return INVALID;
    found = bytes;
  }
  return found;
}

function missing(stream: Http2Stream): string {
  return `the response ended ${stream.expected} bytes before its Content-Length`;
}

/** The number of frames without progress that are allowed in a second, in addition to earned ones. */
const MAX_IDLE_FRAMES_PER_SECOND = 1000;
/** The maximum saved credit: a server may send its frames late, and all at once. */
const MAX_CREDIT = 20_000;
/** The maximum number of pending acknowledgements while the transport is full. */
const MAX_PENDING_ACKS = 1000;

/** Limits the work that a server can cause without progress, such as by PINGs, empty DATA and resets. Progress of requests earns credit for more. */
export class FloodGuard {
  #noise = 0;
  #answers = 0;
  #unreturned = 0;
  #since: number = performance.now();

  /** Counts a frame without progress. @throws {ConnectionFault} if there were too many. */
  count(): void {
    if (++this.#noise <= MAX_IDLE_FRAMES_PER_SECOND) return;
    // The clock is read only here.
    const now = performance.now();
    if (now - this.#since < 1000) {
      throw new ConnectionFault(ENHANCE_YOUR_CALM, "the server sends a flood of frames that lead to nothing");
    }
    this.#noise = 0;
    this.#since = now;
  }

  earn(frames: number): void {
    this.#noise = Math.max(this.#noise - frames, -MAX_CREDIT);
  }

  /** Counts sent DATA, for which the server grants room twice: for its stream, and for the connection. */
  onSent(bytes: number): void {
    this.earn(4);
    this.#unreturned += 2 * bytes;
  }

  /** Counts a WINDOW_UPDATE, unless it has 128 bytes or more (Go's servers: 4096). @returns Whether it returns the room of sent bytes. */
  countUpdate(bytes: number): boolean {
    const isReturn = bytes <= this.#unreturned;
    if (isReturn) this.#unreturned -= bytes;
    if (bytes < 128 || !isReturn) this.count();
    return isReturn;
  }

  /** Counts an acknowledgement that the server demands. @throws {ConnectionFault} if too many are pending because it does not read. */
  countAnswer(isFull: boolean): void {
    this.count();
    this.#answers = isFull ? this.#answers + 1 : 0;
    if (this.#answers <= MAX_PENDING_ACKS) return;
    const message = `the server does not read the answers that it asks for: ${MAX_PENDING_ACKS} wait`;
    throw new ConnectionFault(ENHANCE_YOUR_CALM, message);
  }
}
