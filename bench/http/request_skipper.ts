import { Buffer } from "node:buffer";

const HEAD_END = "\r\n\r\n";

/** A minimal parser that finds the ends of HTTP/1.1 requests. */
export class RequestSkipper {
  readonly #onEnd: () => void;
  /** The start of a head, or of a chunk's size, whose rest has not come. */
  #kept: Buffer | undefined;
  /** Bytes of the body, or of its present chunk with the line break after it, that are still to come. */
  #left = 0;
  #isChunked = false;

  /** `onEnd` is called for every whole request. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Reads the received bytes, and returns how many of them belong to a body. */
  take(chunk: Buffer): number {
    let bytes = this.#kept ? Buffer.concat([this.#kept, chunk]) : chunk;
    this.#kept = undefined;
    let body = 0;
    while (bytes.length > 0) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length);
        body += taken;
        this.#left -= taken;
        bytes = bytes.subarray(taken);
        if (this.#left === 0 && !this.#isChunked) this.#onEnd();
        continue;
      }
      const end = this.#isChunked ? this.#takeChunkSize(bytes) : this.#takeHead(bytes);
      if (end === 0) {
        this.#kept = bytes;
        break;
      }
      bytes = bytes.subarray(end);
    }
    return body;
  }

  /** Returns where the head ends; 0 if it does not yet. */
  #takeHead(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END, 0, "latin1");
    if (end === -1) return 0;
    if (bytes[0] === 0x47) this.#onEnd(); // a GET
    else this.#takeFields(bytes.toString("latin1", 0, end));
    return end + HEAD_END.length;
  }

  #takeFields(head: string): void {
    this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    if (this.#left === 0 && !this.#isChunked) this.#onEnd();
  }

  #takeChunkSize(bytes: Buffer): number {
    const end = bytes.indexOf("\r\n", 0, "latin1");
    if (end === -1) return 0;
    const size = parseInt(bytes.toString("latin1", 0, end), 16);
    if (size > 0) {
      this.#left = size + 2;
      return end + 2;
    }
    if (bytes.length < end + 4) return 0; // the last chunk ends with an empty line; no client here sends trailers
    this.#isChunked = false;
    this.#onEnd();
    return end + 4;
  }
}
