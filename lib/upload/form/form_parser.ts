import { make } from "multipasta/Search";
import { type BodySource, fieldOf } from "../body/body_source.ts";
import { quoted, UploadError } from "../body/upload_error.ts";
import { type FormSettings, malformed, tooLarge } from "./form_options.ts";
import { parseParameters, parsePartHeader, type PartHeader } from "./part_header.ts";

/** The maximum number of repetitions at the end of a boundary: no known sender repeats more. */
const MAX_REPETITIONS = 32;
/** A valid boundary: characters by RFC 2046, section 5.1.1, and others that senders use. */
const boundaryPattern = /^[!-~](?:[ -~]{0,68}[!-~])?$/;

/** @throws {UploadError} `UNSUPPORTED` for no form or a compressed one; `MALFORMED` for an invalid boundary. */
export function boundaryOf(source: BodySource, contentType: string | undefined, decode: boolean): string {
  if (typeof source !== "object" || source === null) {
    throw new TypeError(`The source of a form must be a Request, a stream or a request of node, not ${String(source)}`);
  }
  const type = contentType ?? fieldOf(source, "content-type");
  if (type === undefined && !("headers" in source)) {
    throw new TypeError("A bare stream has no Content-Type: give the form's as the option contentType");
  }
  const coding = decode ? undefined : fieldOf(source, "content-encoding");
  if (coding && coding.trim().toLowerCase() !== "identity") {
    throw new UploadError("UNSUPPORTED", `A form with the Content-Encoding ${quoted(coding)} is not accepted`);
  }
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(type ?? "")) {
    const message = type ? `not ${quoted(type)}` : "and it has no Content-Type";
    throw new UploadError("UNSUPPORTED", `The body must be a form, multipart/form-data, ${message}`);
  }
  const boundary = parseParameters(type!, "backslash")?.parameters.get("boundary");
  if (boundary === undefined) throw malformed("its Content-Type does not say what the boundary of its parts is");
  if (!boundaryPattern.test(boundary)) {
    throw malformed(`its boundary ${quoted(boundary)} is not 1 to 70 printable characters of ASCII`);
  }
  if (repetitions(`--${boundary}`) > MAX_REPETITIONS) {
    throw malformed(`its boundary ${quoted(boundary)} repeats itself more than ${MAX_REPETITIONS} times`);
  }
  return boundary;
}

/** Counts the repetitions at the end of a text: the search compares them at each position, 70 times `a` at 20 MB/s. */
function repetitions(text: string): number {
  let most = 1;
  for (let period = 1; period < text.length; period++) {
    let length = period;
    while (length < text.length && text.at(-1 - length) === text.at(-1 - length + period)) length++;
    most = Math.max(most, length / period);
  }
  return most;
}

/** An event in a form: the beginning of a part, some of its bytes, or its end. */
export type FormEvent =
  | { readonly kind: "part"; readonly header: PartHeader }
  | { readonly kind: "bytes"; readonly pieces: Uint8Array[] }
  | { readonly kind: "end" };

const CR = 13;
const LF = 10;
const DASH = 45;

const encoder = new TextEncoder();

/** The section of the next bytes; the preamble and the epilogue are outside the boundaries. */
type State = "preamble" | "boundary" | "header" | "body" | "epilogue";

/** Parses a form as it arrives (RFC 7578): adds limits to the library, which finds boundaries and parses fields. */
export class FormParser {
  readonly #limits: FormSettings;
  readonly #search: { write(piece: Uint8Array): void; end(): void };
  readonly #needle: Uint8Array;
  #state: State = "preamble";
  #events: FormEvent[] = [];
  #boundaries = 0;
  #preamble = 0;
  /** The text after a boundary on its line so far, without spaces and tabs. */
  #line = "";
  readonly #header: Uint8Array;
  #headerLength = 0;

  constructor(boundary: string, limits: FormSettings) {
    this.#limits = limits;
    this.#header = new Uint8Array(limits.maxHeaderBytes);
    this.#needle = encoder.encode(`\r\n--${boundary}`);
    this.#search = make(`\r\n--${boundary}`, this.#onBytes);
    // The first boundary may be at the very beginning, where no line end precedes it.
    this.#search.write(Uint8Array.of(CR, LF));
  }

  /** Parses the next bytes. Bytes in events are views of `pieces`; those kept for a later call are copies. */
  write(pieces: readonly Uint8Array[]): readonly FormEvent[] {
    this.#events = [];
    for (const piece of pieces) {
      const end = this.#keptFrom(piece);
      if (end > 0 && !this.#isComplete()) this.#search.write(piece.subarray(0, end));
      // A copy, since `slice()` of a Buffer returns a view.
      if (end < piece.length && !this.#isComplete()) this.#search.write(new Uint8Array(piece.subarray(end)));
    }
    return this.#events;
  }

  end(): readonly FormEvent[] {
    this.#events = [];
    if (!this.#isComplete()) this.#search.end();
    if (this.#isComplete()) return this.#events;
    if (this.#state === "preamble") throw malformed("it does not have the boundary that its Content-Type names");
    throw malformed("it ends before its last boundary");
  }

  /** Returns the index from which the search may keep bytes, because a CR there may begin a boundary. */
  #keptFrom(bytes: Uint8Array): number {
    const needle = this.#needle;
    if (bytes.length <= needle.length) return 0;
    const last = bytes.length - 1;
    let index = bytes.indexOf(CR, bytes.length - needle.length);
    while (index !== -1 && needle[last - index] !== bytes[last]) index = bytes.indexOf(CR, index + 1);
    return index === -1 ? bytes.length : index;
  }

  #isComplete(): boolean {
    return this.#state === "epilogue";
  }

  readonly #onBytes = (boundaries: number, bytes: Uint8Array): void => {
    if (this.#isComplete()) return;
    if (boundaries === 0) {
      this.#preamble += bytes.length;
      const { maxHeaderBytes } = this.#limits;
      if (this.#preamble <= maxHeaderBytes) return;
      throw malformed(`the boundary that its Content-Type names is not in its first ${maxHeaderBytes} bytes`);
    }
    if (boundaries !== this.#boundaries) this.#beginLine(boundaries);
    let rest = bytes;
    if (this.#state === "boundary") rest = this.#readLine(rest);
    if (this.#state === "header") rest = this.#readHeader(rest);
    if (this.#state !== "body" || rest.length === 0) return;
    const last = this.#events.at(-1);
    if (last?.kind === "bytes") last.pieces.push(rest);
    else this.#events.push({ kind: "bytes", pieces: [rest] });
  };

  #beginLine(boundaries: number): void {
    if (this.#state === "body") this.#events.push({ kind: "end" });
    const isPartWithoutHeader = this.#state === "header" || this.#state === "boundary";
    if (isPartWithoutHeader || boundaries !== this.#boundaries + 1) {
      throw malformed(`part ${this.#boundaries} has no complete header`);
    }
    this.#boundaries = boundaries;
    this.#state = "boundary";
    this.#line = "";
  }

  /** Reads the rest of a boundary's line; returns the bytes behind it. */
  #readLine(bytes: Uint8Array): Uint8Array {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      const isBlank = byte === 32 || byte === 9; // RFC 2046: transport-padding
      if (isBlank && this.#line === "") continue;
      this.#line += String.fromCharCode(byte);
      if (this.#line === "--") {
        this.#state = "epilogue";
        return bytes.subarray(index + 1);
      }
      if (this.#line === "\r\n") {
        const { maxParts } = this.#limits;
        if (this.#boundaries > maxParts) throw tooLarge("The form has", maxParts, "parts", "maxParts");
        this.#state = "header";
        this.#headerLength = 0;
        return bytes.subarray(index + 1);
      }
      if (this.#line.length === 2 || (byte !== CR && byte !== DASH)) {
        throw malformed(`boundary ${this.#boundaries} is followed by something else than a line end or two dashes`);
      }
    }
    return bytes.subarray(bytes.length);
  }

  /** Reads the header of a part up to its empty line; returns the bytes behind it. */
  #readHeader(bytes: Uint8Array): Uint8Array {
    for (let index = 0; index < bytes.length; index++) {
      if (this.#headerLength === this.#header.length) {
        const { length } = this.#header;
        throw tooLarge(`The header of part ${this.#boundaries} has`, length, "bytes", "maxHeaderBytes");
      }
      this.#header[this.#headerLength++] = bytes[index];
      if (bytes[index] !== LF || !this.#isHeaderComplete()) continue;
      const block = this.#header.subarray(0, this.#headerLength);
      this.#events.push({ kind: "part", header: parsePartHeader(block, this.#boundaries, this.#limits) });
      this.#state = "body";
      return bytes.subarray(index + 1);
    }
    return bytes.subarray(bytes.length);
  }

  #isHeaderComplete(): boolean {
    const header = this.#header;
    const end = this.#headerLength;
    if (end === 2) return header[0] === CR;
    return end >= 4 && header[end - 2] === CR && header[end - 3] === LF && header[end - 4] === CR;
  }
}
