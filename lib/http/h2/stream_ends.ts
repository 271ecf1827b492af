import type { HeaderList } from "../exchange.ts";
import { HttpError } from "../http_error.ts";
import type { BodySender } from "./body_sender.ts";
import { ClosedStreams } from "./closed_streams.ts";
import { CANCEL, HTTP_1_1_REQUIRED, NO_ERROR, REFUSED_STREAM } from "./error_codes.ts";
import { goawayError, resetError, responseError } from "./failures.ts";
import type { FrameOutput } from "./frame_output.ts";
import type { Http2Stream } from "./http2_stream.ts";
import type { StreamTable } from "./stream_table.ts";

/** The ways in which a request ends: each frees its slot at once, and tells whom it concerns. */
export class StreamEnds {
  /** Whether a request ended; for the session, which sets it back. */
  hasFreed = false;
  /** Streams that were reset. */
  readonly closed: ClosedStreams = new ClosedStreams();
  readonly #streams: StreamTable;
  readonly #output: FrameOutput;
  readonly #sender: BodySender;
  readonly #origin: string;

  /**
   * Looks after the streams of a table.
   *
   * @param origin For errors.
   */
  constructor(streams: StreamTable, output: FrameOutput, sender: BodySender, origin: string) {
    this.#streams = streams;
    this.#output = output;
    this.#sender = sender;
    this.#origin = origin;
  }

  /** The response has come to its end. */
  complete(stream: Http2Stream, trailers: HeaderList | undefined): void {
    this.#remove(stream);
    if (stream.body !== undefined) {
      // The server has made up its mind without the rest of the body (RFC 9113 section 8.1).
      this.#output.addReset(stream.id, NO_ERROR);
      const words = "the response ended before the request's body did";
      stream.body.cancel(new HttpError("RESET", words, { origin: this.#origin }));
    }
    stream.handler.onEnd(trailers);
  }

  /** The caller gives the request up; its handler is told nothing. */
  giveUp(stream: Http2Stream, reason: unknown): void {
    this.#remove(stream);
    this.#reset(stream, CANCEL);
    stream.body?.cancel(reason);
  }

  /**
   * The response breaks the rules, or our limits.
   *
   * @param code The error code for RST_STREAM.
   */
  reject(stream: Http2Stream, code: number, message: string, isTooLarge: boolean): void {
    if (stream.isOver) return;
    this.#reset(stream, code);
    this.fail(stream, responseError(this.#origin, code, message, isTooLarge), false);
  }

  /** The server sent RST_STREAM. */
  reset(stream: Http2Stream, code: number): void {
    this.closed.addTheirs(stream.id);
    const isUntouched = (code === REFUSED_STREAM || code === HTTP_1_1_REQUIRED) && !stream.hasHead;
    this.fail(stream, resetError(this.#origin, code, isUntouched), isUntouched);
  }

  /** The body of the request broke. */
  breakOff(stream: Http2Stream, error: HttpError): void {
    this.#reset(stream, CANCEL);
    this.fail(stream, error, false);
  }

  /** The server said in GOAWAY that it does not look at streams above `last`. */
  refuseAbove(last: number, code: number, debug: string): void {
    for (const stream of this.#streams.all()) {
      if (stream.id <= last) continue;
      this.closed.addOurs(stream.id);
      this.fail(stream, goawayError(this.#origin, code, debug), true);
    }
  }

  /** The connection has ended: of what it never got, the server knows nothing. */
  failAll(error: HttpError): void {
    const { written } = this.#output;
    for (const stream of this.#streams.all()) this.fail(stream, error, stream.sentAt >= written);
  }

  /** Tells that the response will not come. Does nothing if the request is over. */
  fail(stream: Http2Stream, error: HttpError, isUntouched: boolean): void {
    if (stream.isOver) return;
    this.#remove(stream);
    stream.body?.cancel(error);
    stream.handler.onFail(error, isUntouched);
  }

  #reset(stream: Http2Stream, code: number): void {
    this.closed.addOurs(stream.id);
    this.#output.addReset(stream.id, code);
  }

  #remove(stream: Http2Stream): void {
    stream.isOver = true;
    this.#sender.drop(stream);
    this.#streams.delete(stream.id);
    this.hasFreed = true;
  }
}
