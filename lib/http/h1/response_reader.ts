import { Buffer } from "node:buffer";
import type { HeaderList } from "../connection.ts";
import { ChunkFraming } from "./chunked_coding.ts";
import { findSectionEnd, HeaderSection, readFieldLines, ResponseFault, tooLarge } from "./header_section.ts";
import { CHUNKED, latin1, type ParsedHead, readResponseHead, UNTIL_CLOSE } from "./response_head.ts";

/** The callbacks of a {@link ResponseReader}, each of which may stop it. Heads are shared, and immutable. */
export interface ResponseSink {
  onInformational(head: ParsedHead): void;
  onResponseHead(head: ParsedHead): void;
  /** A view of received bytes, never empty. @param isOwn Whether it is all of its memory, without other references. */
  onResponseData(data: Uint8Array, isOwn: boolean): void;
  /** The response is complete; `more`: further bytes have arrived. No response is expected before `expect()`. */
  onResponseEnd(trailers: HeaderList | undefined, more: boolean): void;
  /** Bytes arrived although no response is expected. */
  onSurplus(): void;
}

type Stage = "nothing" | "head" | "length" | "chunked" | "trailers" | "untilClose" | "stopped";

const HEAD_NAME = "response's head";
const TRAILERS_NAME = "response's trailers";
/** The maximum size of heads that are compared with the next one. */
const MAX_REMEMBERED = 2048;
const CRLF = new Uint8Array([13, 10]);

/** Assembles responses from the bytes of one connection, however they are cut. @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-6.3} */
export class ResponseReader {
  readonly #sink: ResponseSink;
  readonly #maxHeaderSize: number;
  #stage: Stage = "nothing";
  #toHead = false;
  /** The last head: servers often repeat it, and a comparison is ten times as fast as parsing. */
  #lastHead: ParsedHead | undefined = undefined;
  #lastBytes: Buffer | undefined = undefined;
  #section: HeaderSection | undefined = undefined;
  #left = 0;
  #chunks: ChunkFraming | undefined = undefined;

  constructor(sink: ResponseSink, maxHeaderSize: number) {
    this.#sink = sink;
    this.#maxHeaderSize = maxHeaderSize;
  }

  expect(method: string): void {
    this.#stage = "head";
    this.#toHead = method === "HEAD";
  }

  stop(): void {
    this.#stage = "stopped";
    this.#section = undefined;
  }

  /** Whether bytes of the expected response have arrived. */
  get begun(): boolean {
    return this.#stage !== "head" || this.#section !== undefined;
  }

  get endsWithConnection(): boolean {
    return this.#stage === "untilClose";
  }

  /** @throws {ResponseFault} if the bytes are not a valid response. */
  read(chunk: Uint8Array, isOwn: boolean = false): void {
    const { length } = chunk;
    let at = 0;
    while (at < length) {
      switch (this.#stage) {
        case "head":
          at = this.#readHead(chunk, at);
          break;
        case "length":
          at = this.#readLength(chunk, at, isOwn);
          break;
        case "chunked":
          at = this.#readChunked(chunk, at, isOwn);
          break;
        case "trailers":
          at = this.#readTrailers(chunk, at);
          break;
        case "untilClose":
          return this.#give(chunk, at, length, isOwn);
        case "nothing":
          return this.#sink.onSurplus();
        case "stopped":
          return;
      }
    }
  }

  /** Handles the normal end of the connection. Returns whether the response is complete by it. */
  end(): boolean {
    if (this.#stage !== "untilClose") return false;
    this.#finish(undefined, false);
    return true;
  }

  #readHead(chunk: Uint8Array, at: number): number {
    if (this.#section !== undefined) return this.#readHeadPiece(this.#section, chunk, at);
    const last = this.#lastBytes;
    if (last !== undefined && last.length <= chunk.length - at && last.compare(chunk, at, at + last.length) === 0) {
      this.#onHead(this.#lastHead!, chunk.length > at + last.length);
      return at + last.length;
    }
    const end = findSectionEnd(chunk, at, chunk.length);
    if (end < 0) {
      this.#section = new HeaderSection(HEAD_NAME, this.#maxHeaderSize);
      return this.#readHeadPiece(this.#section, chunk, at);
    }
    if (end - at > this.#maxHeaderSize) throw tooLarge(HEAD_NAME, this.#maxHeaderSize);
    const head = readResponseHead(chunk, at, end);
    if (end - at <= MAX_REMEMBERED) {
      this.#lastBytes = Buffer.from(chunk.subarray(at, end));
      this.#lastHead = head;
    }
    this.#onHead(head, chunk.length > end);
    return end;
  }

  #readHeadPiece(section: HeaderSection, chunk: Uint8Array, at: number): number {
    const after = section.add(chunk, at);
    section.rejectOtherProtocol();
    if (after < 0) return chunk.length;
    this.#section = undefined;
    this.#onHead(readResponseHead(section.bytes, 0, section.length), chunk.length > after);
    return after;
  }

  #onHead(head: ParsedHead, more: boolean): void {
    const { status } = head;
    if (status < 200) {
      if (status === 101) throw new ResponseFault("PROTOCOL_ERROR", "the server switched protocols (101) unasked");
      return this.#sink.onInformational(head);
    }
    const length = this.#toHead || status === 204 || status === 304 ? 0 : head.length;
    this.#left = length;
    this.#stage = length === CHUNKED ? "chunked" : length === UNTIL_CLOSE ? "untilClose" : "length";
    if (length === CHUNKED) this.#chunks = new ChunkFraming();
    this.#sink.onResponseHead(head);
    if (length === 0) this.#finish(undefined, more);
  }

  #readLength(chunk: Uint8Array, at: number, isOwn: boolean): number {
    const { length } = chunk;
    const end = Math.min(length, at + this.#left);
    this.#left -= end - at;
    this.#give(chunk, at, end, isOwn);
    if (this.#left === 0) this.#finish(undefined, length > end);
    return end;
  }

  /** Reads chunked data. Chunks that were received together are moved together, over the lines between them. */
  #readChunked(chunk: Uint8Array, at: number, isOwn: boolean): number {
    const chunks = this.#chunks!;
    let start = at;
    let end = at;
    while (at < chunk.length && !chunks.ended) {
      if (chunks.left === 0) {
        at = chunks.read(chunk, at);
        continue;
      }
      const size = Math.min(chunks.left, chunk.length - at);
      chunks.left -= size;
      if (end === start) start = end = at;
      else chunk.copyWithin(end, at, at + size);
      end += size;
      at += size;
    }
    if (chunks.ended) this.#stage = "trailers";
    if (end > start) this.#give(chunk, start, end, isOwn);
    return at;
  }

  #give(chunk: Uint8Array, start: number, end: number, isOwn: boolean): void {
    if (end - start === chunk.length) this.#sink.onResponseData(chunk, isOwn);
    else this.#sink.onResponseData(chunk.subarray(start, end), false);
  }

  #readTrailers(chunk: Uint8Array, at: number): number {
    if (this.#section === undefined) {
      if (chunk[at] === 13 && chunk[at + 1] === 10) {
        this.#finish(undefined, chunk.length > at + 2);
        return at + 2;
      }
      // Preceded by the CRLF of the last chunk's line, trailers end like a head, even if there are none.
      this.#section = new HeaderSection(TRAILERS_NAME, this.#maxHeaderSize);
      this.#section.add(CRLF, 0);
    }
    const section = this.#section;
    const after = section.add(chunk, at);
    if (after < 0) return chunk.length;
    this.#section = undefined;
    const { bytes, length } = section;
    const fields = length > 4 ? readFieldLines(bytes, 2, length - 2, latin1(bytes, 0, length), 0) : undefined;
    this.#finish(fields, chunk.length > after);
    return after;
  }

  #finish(trailers: HeaderList | undefined, more: boolean): void {
    if (this.#stage === "stopped") return;
    this.#stage = "nothing";
    this.#chunks = undefined;
    this.#sink.onResponseEnd(trailers, more);
  }
}
