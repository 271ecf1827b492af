import { Buffer } from "node:buffer";
import type { RequestBody } from "../exchange.ts";
import { HttpError } from "../http_error.ts";
import type { Transport } from "../transport.ts";

/** A piece up to this size goes out in one write with its chunk's line; copying 64 KiB takes twice the time of a second write. */
const MAX_JOINED = 16 * 1024;

/** What a {@link BodyWriter} tells, never within `start`. */
export interface BodyWriterEvents {
  /** The body could not be read to its end. The server waits for the rest. */
  onBodyFailed(writer: BodyWriter, error: HttpError): void;
}

/** Sends a request's body piece by piece, as fast as the transport takes it. */
export class BodyWriter {
  readonly #transport: Transport;
  readonly #body: RequestBody;
  readonly #events: BodyWriterEvents;
  readonly #origin: string;
  /** Bytes that Content-Length still promises; undefined for a chunked body. */
  #left: number | undefined;
  /** What is still to be sent of the chunk before the next. */
  #between = "";
  #waits = false;
  #over = false;
  /** Whether the server has, or will have, all of it. */
  sent = false;

  constructor(transport: Transport, body: RequestBody, events: BodyWriterEvents, origin: string) {
    this.#transport = transport;
    this.#body = body;
    this.#events = events;
    this.#origin = origin;
    this.#left = body.length;
  }

  /** Begins. */
  start(): void {
    if (this.#left === 0) this.sent = true;
    this.#read();
  }

  /** The transport has room again. */
  onDrain(): void {
    if (!this.#waits || this.#over) return;
    this.#waits = false;
    this.#read();
  }

  /** Sends no more. A body that is wholly sent is still read to its end, which is all that is left of it. */
  stop(reason: unknown): void {
    if (this.#over || this.sent) return;
    this.#over = true;
    this.#body.cancel(reason);
  }

  #read(): void {
    this.#body.read().then(this.#onPiece, this.#onFailure);
  }

  readonly #onPiece = (piece: Uint8Array | undefined): void => {
    if (this.#over) return;
    if (piece === undefined) return this.#onEnd();
    if (this.#left === undefined) this.#writeChunk(piece);
    else if (piece.length > this.#left) return this.#onWrongLength("more");
    else this.#writePart(piece);
    // What is wholly sent has only its end left to be read, which needs no room.
    if (this.#transport.full && !this.sent) this.#waits = true;
    else this.#read();
  };

  readonly #onFailure = (error: unknown): void => {
    if (this.#over) return;
    this.#over = true;
    const { message } = error as Error;
    const failure = error instanceof HttpError
      ? error
      : new HttpError("BODY_FAILED", `the request's body broke: ${message}`, { origin: this.#origin, cause: error });
    this.#events.onBodyFailed(this, failure);
  };

  #onEnd(): void {
    if (this.#left === undefined) this.#transport.write(Buffer.from(`${this.#between}0\r\n\r\n`));
    else if (this.#left > 0) return this.#onWrongLength("less");
    this.#over = true;
    this.sent = true;
  }

  #writePart(piece: Uint8Array): void {
    this.#left! -= piece.length;
    if (this.#left === 0) this.sent = true;
    this.#transport.write(piece);
  }

  #writeChunk(piece: Uint8Array): void {
    const line = `${this.#between}${piece.length.toString(16)}\r\n`;
    if (piece.length > MAX_JOINED) {
      this.#transport.write(Buffer.from(line));
      this.#transport.write(piece);
      // It goes out with what follows: one write less.
      this.#between = "\r\n";
      return;
    }
    const end = line.length + piece.length;
    const chunk = Buffer.allocUnsafe(end + 2);
    chunk.write(line);
    chunk.set(piece, line.length);
    chunk.write("\r\n", end);
    this.#transport.write(chunk);
    this.#between = "";
  }

  #onWrongLength(how: "more" | "less"): void {
    const message = `the request's body has ${how} bytes than its length says: ${this.#body.length}`;
    const error = new HttpError("BODY_FAILED", message, { origin: this.#origin });
    this.#body.cancel(error);
    this.#onFailure(error);
  }
}
