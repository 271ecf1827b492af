import { Buffer } from "node:buffer";
import process from "node:process";
import { inMicrotask } from "../calls.ts";
import { type HeaderList, lengthToSay, type RequestBody, type RequestHead, type Transport } from "../connection.ts";
import { HttpError, takenBack } from "../http_error.ts";
import { FIRST_SLAB, SlabWriter } from "../slab_writer.ts";

/** The maximum size of a body that is sent together with the head: a copy is faster than another write and TLS record. */
const MAX_JOINED = 16 * 1024;
const encoder = new TextEncoder();

/** The additions to a request that a proxy forwards (RFC 9112 section 3.2.2). */
export interface Forwarding {
  readonly origin: string;
  readonly fields: string;
}

/** Returns the first bytes to send for a validated head, and whether they contain the body. @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-3} */
export function writeRequestStart(
  { method, path, authority, headers, closes }: RequestHead,
  body: RequestBody | undefined,
  forwarding?: Forwarding | undefined,
): { bytes: Uint8Array; withBody: boolean } {
  // `keep-alive` is the default, but some servers send their idle timeout only to clients that name it.
  const connection = closes ? "close" : "keep-alive";
  const start = `${method} ${forwarding?.origin ?? ""}${path} HTTP/1.1\r\n` +
    `host: ${authority}\r\nconnection: ${connection}\r\n${forwarding?.fields ?? ""}`;
  const text = start + fieldLines(headers) + bodyFields(method, body);
  const content = body?.bytes;
  const withBody = content !== undefined && content.length <= MAX_JOINED;
  const bytes = Buffer.allocUnsafe(text.length + (withBody ? content.length : 0));
  // Deno takes an eighth of the time of Buffer's latin1, other runtimes the same; correct only if all of the text was ASCII.
  const { read, written } = encoder.encodeInto(text, bytes);
  if (read !== text.length || written !== text.length) {
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  }
  if (withBody) bytes.set(content, text.length);
  return { bytes, withBody };
}

/** The last list that cannot change, and its lines. */
let frozen: HeaderList | undefined;
let frozenLines = "";

export function fieldLines(fields: HeaderList = []): string {
  if (fields === frozen) return frozenLines;
  let lines = "";
  for (let i = 0; i < fields.length; i += 2) lines += `${fields[i]}: ${fields[i + 1]}\r\n`;
  if (Object.isFrozen(fields)) [frozen, frozenLines] = [fields, lines];
  return lines;
}

/** Returns the fields that frame the body, and the end of the head. */
function bodyFields(method: string, body: RequestBody | undefined): string {
  const length = lengthToSay(method, body);
  if (length !== undefined) return `content-length: ${length}\r\n\r\n`;
  return body === undefined ? "\r\n" : "transfer-encoding: chunked\r\n\r\n";
}

/** The maximum slab: one piece of the usual size, with its chunk's lines. Larger writes are no faster for each byte. */
const MAX_SLAB = 64 * 1024 + 256;

/** The bytes from which a body in memory is written in pieces, so that its progress shows. */
export const LARGE: number = 256 * 1024;

export interface BodyWriterEvents {
  /** The body could not be read to its end, and the server waits for the rest. */
  onBodyFailed(writer: BodyWriter, error: HttpError): void;
}

export class BodyWriter {
  readonly #transport: Transport;
  readonly #body: RequestBody;
  readonly #events: BodyWriterEvents;
  readonly #origin: string;
  readonly #output: SlabWriter;
  /** The bytes that Content-Length still promises; undefined for a chunked body. */
  #left: number | undefined;
  /** The last piece that was read, if it is not written completely, and the number of its bytes in the slab. */
  #piece: Uint8Array | undefined = undefined;
  #taken = 0;
  #waits = false;
  #flushesSoon = false;
  #over = false;
  /** Whether the server has all of the body, or certainly will. */
  sent = false;
  /** The time at which the transport last took bytes of the body. */
  progressAt = 0;

  constructor(transport: Transport, body: RequestBody, events: BodyWriterEvents, origin: string) {
    this.#transport = transport;
    this.#body = body;
    this.#events = events;
    this.#origin = origin;
    this.#output = new SlabWriter(transport, MAX_SLAB);
    this.#left = body.length;
  }

  /** Starts with the request's head, which is sent together with the body's bytes of this turn. */
  start(head: Uint8Array): void {
    if (head.length > FIRST_SLAB / 2) this.#transport.write(head);
    else this.#output.put(head, 0);
    inMicrotask(this.#flushSoon);
    if (this.#body.bytes === undefined) this.#read();
    else this.#onPiece(this.#body.bytes);
  }

  onDrain(): void {
    this.progressAt = performance.now();
    if (!this.#waits || this.#over) return;
    this.#waits = false;
    if (this.#piece === undefined) return this.#read();
    if (this.#piece.length > 0) this.#advance(this.#piece);
    else this.#refuse(takenBack(this.#origin));
  }

  stop(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#body.cancel(reason);
  }

  #read(): void {
    if (this.#body.bytes !== undefined) return this.#onEnd();
    if (this.#transport.waiting === Infinity) return; // the connection's end will stop it
    this.#body.read().then(this.#onPiece, this.#onFailure);
  }

  readonly #onPiece = (piece: Uint8Array | undefined): void => {
    if (this.#over) return;
    if (piece === undefined) return this.#onEnd();
    this.#body.begun = true;
    if (piece.length === 0) return this.#refuse(takenBack(this.#origin));
    if (this.#left === undefined) this.#output.putLine(`${piece.length.toString(16)}\r\n`);
    this.#piece = piece;
    this.#taken = 0;
    this.#advance(piece);
  };

  readonly #onFailure = (error: HttpError): void => {
    if (this.#over) return;
    this.#over = true;
    this.#events.onBodyFailed(this, error);
  };

  /** Continues with the piece, and then with the next one. */
  #advance(piece: Uint8Array): void {
    while (this.#taken < piece.length) {
      const { bytes } = this.#body;
      if (bytes === undefined || piece.length - this.#taken <= LARGE) {
        this.#taken = this.#output.put(piece, this.#taken);
      } else { // without a copy
        this.#output.flush();
        this.#transport.write(piece.subarray(this.#taken, this.#taken += LARGE));
      }
      if (this.#taken === piece.length) break;
      this.#output.flush();
      if (this.#transport.full) {
        this.#waits = true;
        return;
      }
    }
    this.progressAt = performance.now();
    if (this.#left === undefined) this.#output.putLine("\r\n");
    else this.#left -= piece.length;
    this.#piece = undefined;
    this.#flushSoon();
    // If only the end is left to be read, no room is needed.
    if (this.#transport.full && this.#left !== 0) this.#waits = true;
    else this.#read();
  }

  #onEnd(): void {
    if (this.#left! > 0) return this.#refuse(new HttpError("BODY_FAILED", "The request's body ended early"));
    if (this.#left === undefined) this.#output.putLine(`0\r\n${fieldLines(this.#body.trailers)}\r\n`);
    this.#over = true;
    this.#output.tells = true;
    this.#output.flush();
    this.sent = true;
  }

  /** Flushes in the next tick, after the queued microtasks, in which a source with more bytes delivers them. */
  readonly #flushSoon = (): void => {
    if (this.#flushesSoon) return;
    this.#flushesSoon = true;
    process.nextTick(this.#flush);
  };

  readonly #flush = (): void => {
    this.#flushesSoon = false;
    // With the last byte of Content-Length, the server takes the body for complete: that byte waits for the source's end.
    if (!this.#over && this.#left !== 0) this.#output.flush();
  };

  #refuse(error: HttpError): void {
    this.#body.cancel(error);
    this.#onFailure(error);
  }
}
