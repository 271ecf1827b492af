import process from "node:process";
import type { RequestBody, Transport } from "../connection.ts";
import { type HttpError, takenBack } from "../http_error.ts";
import { FIRST_SLAB, SlabWriter } from "../slab_writer.ts";
import { fieldLines } from "./request_head.ts";

/** Enough for a piece of the size that most sources give, with its chunk's lines. Larger writes cost no less a byte. */
const MAX_SLAB = 64 * 1024 + 256;

/** Bytes of a body in memory from which on it is written in pieces, so that progress shows. */
export const LARGE: number = 256 * 1024;

const RESOLVED = Promise.resolve();

export interface BodyWriterEvents {
  /** The body could not be read to its end. The server waits for the rest. */
  onBodyFailed(writer: BodyWriter, error: HttpError): void;
}

export class BodyWriter {
  readonly #transport: Transport;
  readonly #body: RequestBody;
  readonly #events: BodyWriterEvents;
  readonly #origin: string;
  readonly #output: SlabWriter;
  /** Bytes that Content-Length still promises; undefined for a chunked body. */
  #left: number | undefined;
  /** The piece that was read last, if it is not through, and how much of it is in the slab. */
  #piece: Uint8Array | undefined = undefined;
  #taken = 0;
  #waits = false;
  #flushesSoon = false;
  #over = false;
  /** Whether the server has, or will have, all of it. */
  sent = false;
  /** The time at which the transport last took something of the body. */
  progressAt = 0;

  constructor(transport: Transport, body: RequestBody, events: BodyWriterEvents, origin: string) {
    this.#transport = transport;
    this.#body = body;
    this.#events = events;
    this.#origin = origin;
    this.#output = new SlabWriter(transport, MAX_SLAB);
    this.#left = body.length;
  }

  /** Begins with the request's head, which goes out together with what there is of the body in this turn. */
  start(head: Uint8Array): void {
    if (head.length > FIRST_SLAB / 2) this.#transport.write(head);
    else this.#output.put(head, 0);
    void RESOLVED.then(this.#flushSoon);
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

  /** Sends no more. */
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

  /** Goes on with the piece, and to the next when it is through. */
  #advance(piece: Uint8Array): void {
    while (this.#taken < piece.length) {
      const { bytes } = this.#body;
      if (bytes === undefined || piece.length - this.#taken <= LARGE) {
        this.#taken = this.#output.put(piece, this.#taken);
      } else { // not copied
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
    // What has only its end left to be read needs no room.
    if (this.#transport.full && this.#left !== 0) this.#waits = true;
    else this.#read();
  }

  #onEnd(): void {
    if (this.#left === undefined) this.#output.putLine(`0\r\n${fieldLines(this.#body.trailers)}\r\n`);
    this.#over = true;
    this.#output.tells = true;
    this.#output.flush();
    this.sent = true;
  }

  /** To be called in a microtask: what it sets comes after all microtasks, in which a source that has more gives it. */
  readonly #flushSoon = (): void => {
    if (this.#flushesSoon) return;
    this.#flushesSoon = true;
    process.nextTick(this.#flush);
  };

  readonly #flush = (): void => {
    this.#flushesSoon = false;
    // By the last byte of its length the server takes the body for whole, which it is once its source has ended.
    if (!this.#over && this.#left !== 0) this.#output.flush();
  };

  #refuse(error: HttpError): void {
    this.#body.cancel(error);
    this.#onFailure(error);
  }
}
