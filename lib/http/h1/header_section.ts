import { malformed, ResponseFault } from "./response_fault.ts";

const LF = 10;
const CR = 13;
const FIRST_SIZE = 1024;
const PROTOCOL = "HTTP/1.";

/**
 * Finds the CRLF CRLF that ends a header section.
 *
 * @returns the position after it, or -1.
 */
export function findSectionEnd(bytes: Uint8Array, from: number, to: number): number {
  // Any byte but CR and LF rules out an end among the next four: about 40 looks for a usual head.
  let at = from + 3;
  while (at < to) {
    const byte = bytes[at];
    if (byte === LF) {
      if (bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR) return at + 1;
      at += 2;
    } else if (byte === CR) {
      at += 1;
    } else {
      at += 4;
    }
  }
  return -1;
}

/** Collects a header section that comes in pieces. */
export class HeaderSection {
  readonly #limit: number;
  readonly #of: number;
  readonly #what: string;
  /** The section so far, and more room. */
  bytes: Uint8Array = new Uint8Array(FIRST_SIZE);
  /** How many bytes there are. */
  length = 0;

  /**
   * Makes an empty one.
   *
   * @param what Its name in errors.
   * @param limit Most bytes it may have.
   * @param of The whole limit, which errors name, if other sections had a part of it.
   */
  constructor(what: string, limit: number, of: number = limit) {
    this.#what = what;
    this.#limit = limit;
    this.#of = of;
  }

  /**
   * Adds bytes up to the section's end.
   *
   * @returns the position after the end; -1 if all was taken and the end is not there yet.
   * @throws {ResponseFault} if it is longer than the limit, or cannot become a header section.
   */
  add(chunk: Uint8Array, at: number): number {
    const before = this.length;
    const taken = Math.min(chunk.length - at, this.#limit - before + 1);
    this.#reserve(before + taken);
    this.bytes.set(chunk.subarray(at, at + taken), before);
    this.length = before + taken;
    const end = findSectionEnd(this.bytes, Math.max(0, before - 3), this.length);
    if (end > this.#limit || (end < 0 && this.length > this.#limit)) throw tooLarge(this.#what, this.#of);
    // Without this, a peer that ends lines otherwise would be waited for.
    this.#rejectBareLineFeed(before, end < 0 ? this.length : end);
    if (end < 0) return -1;
    this.length = end;
    return at + end - before;
  }

  /**
   * Sees that the section is a response's head as far as it has come: what cannot become a status line is not waited for.
   *
   * @throws {ResponseFault} if it is something else.
   */
  rejectOtherProtocol(): void {
    const { bytes, length } = this;
    let at = 0;
    while (at < length && at < PROTOCOL.length && bytes[at] === PROTOCOL.charCodeAt(at)) at++;
    if (at === length || at === PROTOCOL.length) return;
    const found = new TextDecoder("latin1").decode(bytes.subarray(0, Math.min(length, 60)));
    throw malformed("the answer is not HTTP/1.1", found);
  }

  #rejectBareLineFeed(from: number, to: number): void {
    const { bytes } = this;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== LF || bytes[at - 1] === CR) continue;
      const text = new TextDecoder("latin1").decode(bytes.subarray(0, at + 1));
      throw malformed(`a line of the ${this.#what} ends without CR`, text.slice(-60));
    }
  }

  #reserve(size: number): void {
    if (size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(size, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

/** A header section that is longer than its limit. */
export function tooLarge(what: string, limit: number): ResponseFault {
  return new ResponseFault("LIMIT_EXCEEDED", `the ${what} is larger than ${limit} bytes: see maxHeaderSize`);
}
