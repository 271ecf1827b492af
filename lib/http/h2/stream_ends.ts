import { afterPoll } from "../../runtime/mod.ts";
import type { HeaderList } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { BodySender } from "./flow_control.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { ClosedStreams, type Http2Stream, type StreamTable } from "./http2_stream.ts";
import * as h2 from "./protocol.ts";

/** The ways in which a request ends. Each frees its slot at once, and notifies its handler. */
export class StreamEnds {
  /** Whether a request has ended since the session reset this. */
  hasFreed = false;
  /** The streams whose bodies were sent after their responses, and which the server has not shown to have read. */
  readonly late: Http2Stream[] = [];
  /** The number of these streams, from the first on, that the pending PING covers. */
  asked = 0;
  readonly closed: ClosedStreams = new ClosedStreams();
  readonly #streams: StreamTable;
  readonly #output: FrameWriter;
  readonly #sender: BodySender;
  readonly #origin: string;

  constructor(streams: StreamTable, output: FrameWriter, sender: BodySender, origin: string) {
    this.#streams = streams;
    this.#output = output;
    this.#sender = sender;
    this.#origin = origin;
  }

  complete(stream: Http2Stream, trailers: HeaderList | undefined): void {
    stream.isAnswered = stream.isAccepted && stream.isSending;
    if (!stream.isAnswered) this.#remove(stream);
    else if (stream.bodyEnd === 0 || stream.bodyEnd > this.#output.written) stream.isLate = true;
    else afterPoll(() => stream.isLate = true); // Node calls back for a TLS write up to one turn after it
    if (stream.isOver && stream.body !== undefined) {
      // The server does not want the rest of the body, and must not take the part for the whole (RFC 9113 section 8.1).
      this.#reset(stream, h2.CANCEL);
      const message = "the response ended before the request's body did";
      stream.body.cancel(new HttpError("RESET", message, { origin: this.#origin }));
    }
    stream.handler.onEnd(trailers, stream.isAnswered);
  }

  /** Whether there are requests, all have responses, and their bodies are written. */
  get isAllAnswered(): boolean {
    return this.#streams.size > 0 &&
      this.#streams.every(({ isAnswered, body, bodyEnd }) => isAnswered && !body && bodyEnd > 0);
  }

  /** Whether the system has the bodies of all requests, whose responses are pending. */
  get isAllSent(): boolean {
    return this.#streams.every(({ hasHead, isSending }) => hasHead && !isSending);
  }

  /** Reports bodies that the system has taken, and completes their requests if these have responses. */
  completeTaken(): void {
    const { untaken } = this.#sender;
    while (untaken.length > 0 && untaken[0].bodyEnd <= this.#output.taken) {
      const stream = untaken.shift()!;
      if (stream.isOver) continue;
      stream.progressAt = performance.now();
      stream.bodyEnd = 0;
      if (stream.isAnswered) {
        if (stream.isLate) this.late.push(stream);
        this.#remove(stream);
      }
      stream.handler.onSent(true);
    }
  }

  /** Cancels a request for the caller, without calling its handler. */
  giveUp(stream: Http2Stream, reason: unknown): void {
    this.#remove(stream);
    if (stream.body !== undefined || !stream.isAnswered) this.#reset(stream, h2.CANCEL);
    stream.body?.cancel(reason);
  }

  reject(stream: Http2Stream, code: number, message: string, isTooLarge: boolean): void {
    if (stream.isOver) return;
    this.#reset(stream, code);
    this.fail(stream, h2.responseError(this.#origin, code, message, isTooLarge), false);
  }

  reset(stream: Http2Stream, code: number): void {
    this.closed.add(stream.id, true);
    if (stream.isAnswered && code === h2.NO_ERROR) { // the server needs no more of the body
      this.#remove(stream);
      stream.body?.cancel(h2.resetError(this.#origin, code, false));
      return stream.handler.onSent(false);
    }
    const isUntouched = (code === h2.REFUSED_STREAM || code === h2.HTTP_1_1_REQUIRED) && !stream.hasHead;
    this.fail(stream, h2.resetError(this.#origin, code, isUntouched), isUntouched);
  }

  breakOff(stream: Http2Stream, error: HttpError): void {
    this.#reset(stream, h2.CANCEL);
    this.fail(stream, error, false);
  }

  /** Refuses the streams above `last`, which the server does not process, as it said in GOAWAY, unless it answers them, and those that are not opened yet. */
  refuseAbove(last: number, code: number, debug: string): void {
    for (const stream of this.#streams.all()) {
      if (stream.id <= last && stream.sentAt < Infinity) continue;
      this.closed.add(stream.id, false);
      const error = stream.hasHead
        ? h2.resetError(this.#origin, code, false)
        : h2.goawayError(this.#origin, code, debug);
      this.fail(stream, error, !stream.hasHead);
    }
  }

  /** Fails all streams after the connection's end: the server does not know of unsent requests. */
  failAll(error: HttpError): void {
    const { written } = this.#output;
    for (const stream of this.#streams.all()) this.fail(stream, error, stream.sentAt >= written);
  }

  /** Ends the first late bodies: the server has read them; or, with an error, will not. */
  endLate(count: number, error?: HttpError): void {
    this.asked = 0;
    for (const { handler } of this.late.splice(0, count)) if (error !== undefined) handler.onUnread?.(error);
  }

  /** Fails a request whose response will not arrive. Does nothing if the request has ended. */
  fail(stream: Http2Stream, error: HttpError, isUntouched: boolean): void {
    if (stream.isOver) return;
    this.#remove(stream);
    stream.body?.cancel(error);
    stream.handler.onFail(error, isUntouched, stream.sentAt === Infinity);
  }

  #reset(stream: Http2Stream, code: number): void {
    if (stream.sentAt === Infinity) return; // it was never opened
    this.closed.add(stream.id, false);
    this.#output.addReset(stream.id, code);
  }

  #remove(stream: Http2Stream): void {
    stream.isOver = true;
    this.#sender.drop(stream);
    this.#streams.delete(stream.id);
    this.hasFreed = true;
  }
}
