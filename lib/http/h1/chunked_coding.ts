import { malformed, ResponseFault } from "./header_section.ts";

const LF = 10;
const CR = 13;
const SPACE = 32;
const SEMICOLON = 59;
const TAB = 9;

/** The maximum number of digits of a size: enough for 2^52 bytes. */
const MAX_DIGITS = 13;
/** The maximum bytes of a chunk's extensions, which are ignored; the same limit as in node:http. */
const MAX_EXTENSION = 16 * 1024;

/** The value of a hexadecimal digit, or 255, by byte. */
const HEX = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

type Part = "size" | "space" | "extension" | "sizeLf" | "dataCr" | "dataLf";

/** The lines between the data of a chunked body, cut anywhere. @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-7.1} */
export class ChunkFraming {
  /** The bytes of data before the next line; the reader lowers it as it takes some. */
  left = 0;
  /** Whether the last chunk's line was read, so that trailers follow. */
  ended = false;
  #part: Part = "size";
  #digits = 0;
  #size = 0;
  #extension = 0;

  /** Reads up to the next chunk's data, or the end. @returns the position behind. @throws {ResponseFault} if a line is malformed. */
  read(chunk: Uint8Array, at: number): number {
    const { length } = chunk;
    while (at < length) {
      const byte = chunk[at++];
      switch (this.#part) {
        case "size":
          this.#readSize(byte);
          break;
        case "space":
          if (byte === SEMICOLON) this.#part = "extension";
          else if (byte !== SPACE && byte !== TAB) throw badLine("a size that is malformed", byte);
          this.#countExtension();
          break;
        case "extension":
          if (byte === CR) this.#part = "sizeLf";
          else if (byte < SPACE && byte !== TAB || byte === 127) throw badLine("an extension that is malformed", byte);
          this.#countExtension();
          break;
        case "sizeLf":
          if (byte !== LF) throw badLine("a CR without LF", byte);
          this.left = this.#size;
          this.ended = this.#size === 0;
          this.#part = "dataCr";
          this.#size = this.#digits = this.#extension = 0;
          return at;
        case "dataCr":
          if (byte !== CR) throw badLine("more data than its size", byte);
          this.#part = "dataLf";
          break;
        case "dataLf":
          if (byte !== LF) throw badLine("more data than its size", byte);
          this.#part = "size";
          break;
      }
    }
    return at;
  }

  #readSize(byte: number): void {
    const digit = HEX[byte];
    if (digit !== 255) {
      this.#size = this.#size * 16 + digit;
      if (++this.#digits > MAX_DIGITS) throw new ResponseFault("LIMIT_EXCEEDED", "a chunk's size has too many digits");
      return;
    }
    if (this.#digits === 0) throw badLine("a size that is malformed", byte);
    if (byte === CR) this.#part = "sizeLf";
    else if (byte === SEMICOLON) this.#part = "extension";
    else if (byte === SPACE || byte === TAB) this.#part = "space";
    else throw badLine("a size that is malformed", byte);
  }

  #countExtension(): void {
    if (++this.#extension <= MAX_EXTENSION) return;
    throw new ResponseFault("LIMIT_EXCEEDED", `a chunk's extensions are larger than ${MAX_EXTENSION} bytes`);
  }
}

function badLine(what: string, byte: number): ResponseFault {
  return malformed(`a chunk of the response has ${what}`, String.fromCharCode(byte));
}
