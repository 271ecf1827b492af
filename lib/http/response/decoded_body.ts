import { setImmediate } from "node:timers";
import { type ContentCoding, contentCodingNames, type Decoder, openContentDecoder } from "../../codecs/internal.ts";
import { HttpError } from "../http_error.ts";
import { BodyRelay } from "./body_relay.ts";
import { ResponseBody } from "./response_body.ts";

/** The most codings one upon the other; each takes its share of memory. */
const MOST_CODINGS = 5;
/** The most bytes that a decoder takes at once, which it copies. */
const MOST_INPUT = 64 * 1024;
/** Bytes that may come out, or go in without a result, before other work has its turn. */
const MOST_IN_A_ROW = 1024 * 1024;

/** Where decoders write; what they wrote is copied before another has its turn. */
const target = new Uint8Array(64 * 1024);

/**
 * A body with its content codings undone, as it is read.
 *
 * @param body What came; taken over.
 * @param contentEncoding The value of Content-Encoding. With a coding that is not known the body is given as it is.
 * @param origin For errors.
 * @returns a body that fails with an HttpError DECODING_FAILED if what came is corrupt or ends too early.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-8.4}
 */
export function decodedBody(body: ResponseBody, contentEncoding: string, origin: string): ResponseBody {
  const found = contentCodings(contentEncoding);
  if (found === undefined || found.length === 0) return body;
  if (found.length > MOST_CODINGS) {
    const message = `The response has ${found.length} content codings, and at most ${MOST_CODINGS} are undone`;
    const error = new HttpError("DECODING_FAILED", message, { origin });
    body.cancel(error);
    return ResponseBody.failed(error);
  }
  return found.reduceRight((layer, coding) => new DecodingRelay(layer, coding, origin).body, body);
}

/** The codings in the order in which they were applied; undefined if one is unknown. */
function contentCodings(field: string): ContentCoding[] | undefined {
  const known = contentCodingNames.get(field);
  if (known !== undefined) return [known];
  const found: ContentCoding[] = [];
  for (const element of field.split(",")) {
    const name = element.trim().toLowerCase();
    if (name === "" || name === "identity") continue;
    const coding = contentCodingNames.get(name);
    if (coding === undefined) return undefined;
    found.push(coding);
  }
  return found;
}

/** Undoes one coding. */
class DecodingRelay extends BodyRelay {
  readonly #coding: ContentCoding;
  readonly #origin: string;
  #first: Uint8Array | undefined = undefined;
  #decoder: Decoder | undefined = undefined;
  /** Whether run() will be called: by a codec that is being opened, or after a pause. */
  #isBusy = false;
  #isInputComplete = false;
  /** Whether the coding's end has come: what follows is dropped, as browsers do. */
  #hasEnded = false;
  #inARow = 0;

  constructor(source: ResponseBody, coding: ContentCoding, origin: string) {
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
    if (!decoder.more && !this.#isInputComplete && !this.#feed(decoder)) return false;
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
    openContentDecoder(this.#coding, first[0]).then(
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

  #feed(decoder: Decoder): boolean {
    const chunk = this.#first ?? this.source.take(MOST_INPUT);
    this.#first = undefined;
    if (chunk !== undefined) {
      decoder.write(chunk);
      this.#inARow += chunk.length;
      return true;
    }
    this.#isInputComplete = this.source.isDone;
    return this.#isInputComplete || this.#await();
  }

  #decode(decoder: Decoder): void {
    let length: number;
    try {
      length = this.#isInputComplete ? decoder.finish(target) : decoder.read(target);
    } catch (error) {
      if (!isTrailing(error)) return this.#failWith(error);
      this.release();
      this.#hasEnded = true;
      return;
    }
    const isComplete = this.#isInputComplete && !decoder.more;
    if (isComplete) this.release();
    if (length > 0) {
      this.#inARow += length;
      this.give(target.slice(0, length));
    }
    if (isComplete) this.body.end();
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

/** Whether a decoder has met something behind the end of its data. */
function isTrailing(error: unknown): boolean {
  return error instanceof TypeError && error.message.endsWith("after the end of the stream");
}
