import { setImmediate } from "node:timers";
import { contentCodings, ContentDecoder, MOST_INPUT, type UndoableCoding } from "../../semantics/mod.ts";
import { HttpError } from "../http_error.ts";
import { BodyRelay } from "./body_relay.ts";
import { ResponseBody } from "./response_body.ts";

/** The most codings one upon the other; each takes its share of memory. */
const MOST_CODINGS = 5;
/** Bytes that may come out, or go in without a result, before other work has its turn. */
const MOST_IN_A_ROW = 1024 * 1024;

/** The buffer that all decoders write to; its bytes are copied before another decoder has its turn. */
const target = new Uint8Array(64 * 1024);

/**
 * A body with its content codings undone, as it is read.
 *
 * @param body The body as received, which is taken over.
 * @param contentEncoding The value of Content-Encoding. With a coding that is not known the body is given as it is.
 * @param origin For errors.
 * @returns a body that fails with an HttpError DECODING_FAILED if what came is corrupt or ends too early.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-8.4}
 */
export function decodedBody(body: ResponseBody, contentEncoding: string, origin: string): ResponseBody {
  const found = contentCodings(contentEncoding);
  if (found.length === 0 || !found.every((coding) => typeof coding === "string")) return body;
  if (found.length > MOST_CODINGS) {
    const message = `The response has ${found.length} content codings, and at most ${MOST_CODINGS} are undone`;
    const error = new HttpError("DECODING_FAILED", message, { origin });
    body.cancel(error);
    return ResponseBody.failed(error);
  }
  return found.reduceRight<ResponseBody>((layer, coding) => new DecodingRelay(layer, coding, origin).body, body);
}

/** Undoes one coding. */
class DecodingRelay extends BodyRelay {
  readonly #coding: UndoableCoding;
  readonly #origin: string;
  #first: Uint8Array | undefined = undefined;
  #decoder: ContentDecoder | undefined = undefined;
  /** Whether run() will be called: by a codec that is being opened, or after a pause. */
  #isBusy = false;
  /** Whether the coding's end has come: what follows is dropped, as browsers do. */
  #hasEnded = false;
  #inARow = 0;

  constructor(source: ResponseBody, coding: UndoableCoding, origin: string) {
    super(source);
    this.body.isDecoded = true;
    this.#coding = coding;
    this.#origin = origin;
  }

  protected override step(): boolean {
    if (this.#isBusy) return false;
    if (this.#inARow >= MOST_IN_A_ROW) return this.#pause();
    if (this.#hasEnded) return this.#drop();
    const decoder = this.#decoder;
    if (decoder === undefined) return this.#open();
    if (decoder.needsInput && !this.#feed(decoder)) return false;
    this.#decode(decoder);
    return true;
  }

  protected override release(): void {
    this.#decoder?.close();
    this.#decoder = undefined;
    this.#first = undefined;
  }

  /** Lets other work have its turn: a small body may stand for gigabytes. */
  #pause(): boolean {
    this.#isBusy = true;
    setImmediate(() => {
      this.#isBusy = false;
      this.#inARow = 0;
      this.run();
    });
    return false;
  }

  /** Not before the first byte, which says what kind of deflate it is; an empty body is empty in every coding. */
  #open(): boolean {
    const first = this.source.take(MOST_INPUT);
    if (first === undefined) return this.#await();
    this.#first = first;
    this.#isBusy = true;
    ContentDecoder.open(this.#coding, first[0]).then(
      (decoder) => {
        this.#isBusy = false;
        if (this.body.isOver) {
          decoder.close();
          return;
        }
        this.#decoder = decoder;
        this.run();
      },
      (error) => this.#failWith(error),
    );
    return false;
  }

  #feed(decoder: ContentDecoder): boolean {
    const chunk = this.#first ?? this.source.take(MOST_INPUT);
    this.#first = undefined;
    if (chunk !== undefined) {
      decoder.write(chunk);
      this.#inARow += chunk.length;
      return true;
    }
    if (!this.source.isDone) return this.#await();
    decoder.end();
    return true;
  }

  #decode(decoder: ContentDecoder): void {
    let length: number;
    try {
      length = decoder.read(target);
    } catch (error) {
      return this.#failWith(error);
    }
    if (decoder.isDone) this.release();
    if (length > 0) {
      this.#inARow += length;
      this.give(target.slice(0, length));
    }
    if (decoder.trailing !== undefined) this.#hasEnded = true;
    else if (decoder.isDone) this.body.end();
  }

  #drop(): boolean {
    const chunk = this.source.take();
    return chunk !== undefined || this.#await();
  }

  /** Ends if the source has ended, and waits for it if not. */
  #await(): boolean {
    if (this.source.isDone) this.body.end();
    else this.source.want(this);
    return false;
  }

  #failWith(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The response's body is not what its content-encoding ${this.#coding} promises: ${reason}`;
    this.fail(new HttpError("DECODING_FAILED", message, { origin: this.#origin, cause }));
  }
}
