import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { counted, inTurn, isTurnOver } from "../../codecs/internal.ts";
import { contentCodings, ContentDecoder, MAX_INPUT, type UndoableCoding } from "../../semantics/mod.ts";
import type { HeaderList, ResponseHead } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { createResponse, type HttpResponse } from "./http_response.ts";
import { type BodyConsumer, type BodyControl, type Failure, ResponseBody } from "./response_body.ts";
import { joinedField } from "./response_headers.ts";

/**
 * Makes the caller's response, whose body is decoded, limited and verified while it is read.
 *
 * @param body The body; undefined if there cannot be one (HEAD, 204, 304).
 * @throws {HttpError} INTEGRITY_MISMATCH if the request has a digest, and there is no body.
 */
export function buildResponse(
  request: FetchRequest,
  head: ResponseHead,
  body: ResponseBody | undefined,
  terms: { readonly decompress: boolean; readonly redirected: boolean },
): HttpResponse {
  const { url, integrity, origin } = request;
  if (body !== undefined) {
    const codings = terms.decompress ? joinedField(head.headers, "content-encoding") : "";
    if (codings !== "") body = decodedBody(body, codings, origin);
    limit(body, request, head);
    if (integrity !== "") body = verifiedBody(body, integrity, origin);
  } else if (strongestDigests(integrity) !== undefined) {
    const message = `${url.href} has a response without a body, and integrity asks for one`;
    throw new HttpError("INTEGRITY_MISMATCH", message, { origin });
  }
  return createResponse(head, body, { url: url.href.split("#", 1)[0], redirected: terms.redirected });
}

/** Limits the bytes that the caller gets. */
function limit(body: ResponseBody, { url, origin, limits }: FetchRequest, { headers }: ResponseHead): void {
  const most = limits.maxResponseSize;
  if (most === Infinity) return;
  const error = (): HttpError => {
    const message = `The response of ${url.href} is larger than ${most} bytes (maxResponseSize)`;
    return new HttpError("LIMIT_EXCEEDED", message, { origin });
  };
  body.limit(most, error);
  const announced = body.isDecoded ? 0 : Number(joinedField(headers, "content-length"));
  if (announced > most) body.cancel(error());
}

/** A relay from one body to another, driven by demand: takes bytes from `source` when a consumer wants bytes of `body`. */
abstract class BodyTransform implements BodyConsumer, BodyControl {
  protected readonly source: ResponseBody;
  readonly body: ResponseBody = new ResponseBody(this);
  #isWanted = false;
  #isRunning = false;
  #isCalled = false;

  constructor(source: ResponseBody) {
    this.source = source;
    this.body.isDecoded = source.isDecoded;
    source.isTaken = true;
    source.watch(this);
  }

  consumed(): void {
    // The next demand reads further bytes.
  }

  cancel(reason: unknown): void {
    this.release();
    this.source.cancel(reason);
  }

  wanted(): void {
    this.#isWanted = true;
    this.run();
  }

  revoked(): Failure | undefined {
    return this.source.revoked;
  }

  onReady(): void {
    this.run();
  }

  /** Runs steps until there is no demand, no input, or the body is over. */
  protected run(): void {
    const { body, source } = this;
    body.heed();
    if (source.outcome?.isWhole === false) this.fail(source.outcome.reason);
    this.#isCalled = true;
    // A reader's call may demand more, and another relay may report bytes, before this call returns.
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isCalled) {
      this.#isCalled = false;
      while (this.#isWanted && !body.isOver && this.step()) {
        // step() does the work
      }
    }
    this.#isRunning = false;
  }

  /** Pushes a chunk to the body, which ends its demand. */
  protected give(chunk: Uint8Array): void {
    this.#isWanted = false;
    this.body.push(chunk);
  }

  /** Ends with an error, and releases the source. */
  protected fail(error: unknown): void {
    this.release();
    this.source.cancel(error);
    this.body.fail(error);
  }

  /** Requests more of the source, all of whose bytes were taken, or ends with it. @returns false: no step can run now. */
  protected askMore(): boolean {
    const { outcome } = this.source;
    if (outcome === undefined) this.source.want(this);
    else if (outcome.isWhole) this.end(outcome.trailers);
    else this.fail(outcome.reason);
    return false;
  }

  protected end(trailers: HeaderList): void {
    this.body.end(trailers);
  }

  /** Takes, pushes or ends; never throws. @returns false if a read is pending, or `run()` will be called. */
  protected abstract step(): boolean;

  /** Frees its resources. May be called more than once. */
  protected release(): void {}
}

type Algorithm = "sha256" | "sha384" | "sha512";

/** Algorithms, from the weakest to the strongest. */
const algorithms: readonly string[] = ["sha256", "sha384", "sha512"] satisfies Algorithm[];

/** The digests, one of which the body must match. */
interface Digests {
  readonly algorithm: Algorithm;
  readonly values: readonly Buffer[];
}

/**
 * Returns a body that fails at its end with INTEGRITY_MISMATCH if it does not match `integrity`; the same body if no digest is known.
 * @param integrity Digests, as in `sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`: of several, those of the strongest algorithm count, and one of them must match.
 * @see {@link https://www.w3.org/TR/sri-2/}
 */
export function verifiedBody(body: ResponseBody, integrity: string, origin: string): ResponseBody {
  const digests = strongestDigests(integrity);
  return digests === undefined ? body : new VerifyingRelay(body, digests, origin).body;
}

/** Returns the digests of the strongest algorithm, or undefined without a known one. A malformed digest matches no body. */
export function strongestDigests(integrity: string): Digests | undefined {
  let best = -1;
  let values: Buffer[] = [];
  for (const word of integrity.split(/[\t\n\f\r ]+/)) {
    const [, algorithm, value] = /^(sha256|sha384|sha512)(?:-([^?]*))?(?:\?.*)?$/i.exec(word) ?? [];
    if (algorithm === undefined) continue;
    const strength = algorithms.indexOf(algorithm.toLowerCase());
    if (strength < best) continue;
    if (strength > best) values = [];
    best = strength;
    const isDigest = /^[A-Za-z0-9+/_-]+={0,2}$/.test(value ?? "");
    values.push(Buffer.from(isDigest ? value : "", "base64")); // an empty digest equals none
  }
  return best < 0 ? undefined : { algorithm: algorithms[best] as Algorithm, values };
}

class VerifyingRelay extends BodyTransform {
  readonly #digests: Digests;
  readonly #origin: string;
  readonly #hash: Hash;

  constructor(source: ResponseBody, digests: Digests, origin: string) {
    super(source);
    this.#digests = digests;
    this.#origin = origin;
    this.#hash = createHash(digests.algorithm);
  }

  protected override step(): boolean {
    const chunk = this.source.take();
    if (chunk === undefined) return this.askMore();
    this.#hash.update(chunk);
    this.give(chunk);
    return true;
  }

  protected override end(trailers: HeaderList): void {
    const digest = this.#hash.digest();
    const { algorithm, values } = this.#digests;
    if (values.some((value) => digest.equals(value))) return super.end(trailers);
    const found = `${algorithm}-${digest.toString("base64")}`;
    const message = `The response's body is not what integrity says: its digest is ${found}`;
    this.fail(new HttpError("INTEGRITY_MISMATCH", message, { origin: this.#origin }));
  }
}

/** The maximum number of nested codings; each needs memory. */
const MAX_CODINGS = 5;

/** The buffer that all decoders write to; its bytes are copied before another decoder runs. */
const target = new Uint8Array(64 * 1024);

/**
 * Returns a body without its content codings, decoded while it is read. With an unknown coding it is returned unchanged.
 * @returns a body that fails with an HttpError DECODING_FAILED if the bytes are corrupt or end too early.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-8.4}
 */
export function decodedBody(body: ResponseBody, contentEncoding: string, origin: string): ResponseBody {
  const found = contentCodings(contentEncoding);
  if (found.length === 0 || !found.every((coding) => typeof coding === "string")) return body;
  if (found.length > MAX_CODINGS) {
    const message = `The response has ${found.length} content codings, and at most ${MAX_CODINGS} are undone`;
    body.cancel(new HttpError("DECODING_FAILED", message, { origin }));
    return body;
  }
  return found.reduceRight<ResponseBody>((layer, coding) => new DecodingRelay(layer, coding, origin).body, body);
}

class DecodingRelay extends BodyTransform {
  readonly #coding: UndoableCoding;
  readonly #origin: string;
  #first: Uint8Array | undefined = undefined;
  #decoder: ContentDecoder | undefined = undefined;
  /** Whether run() will be called later: by a codec that is being opened, or after a pause. */
  #isBusy = false;
  /** Whether the coding's end was reached: further bytes are dropped, as in browsers. */
  #hasEnded = false;
  /** Whether the next step has already waited for a turn. */
  #isItsTurn = false;

  constructor(source: ResponseBody, coding: UndoableCoding, origin: string) {
    super(source);
    this.body.isDecoded = true;
    this.#coding = coding;
    this.#origin = origin;
  }

  protected override step(): boolean {
    if (this.#isBusy) return false;
    if (isTurnOver() && !this.#isItsTurn) return this.#pause();
    if (this.#hasEnded) return this.source.take() !== undefined || this.askMore();
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

  /** Lets other work have its turn: a small body may decode to gigabytes. */
  #pause(): boolean {
    this.#isBusy = true;
    void inTurn(() => {
      this.#isBusy = false;
      this.#isItsTurn = true;
      this.run();
      this.#isItsTurn = false;
    });
    return false;
  }

  /** Opens the decoder at the first byte, which shows the kind of deflate; an empty body is empty in every coding. */
  #open(): boolean {
    const first = this.source.take(MAX_INPUT);
    if (first === undefined) return this.askMore();
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
    const chunk = this.#first ?? this.source.take(MAX_INPUT);
    this.#first = undefined;
    if (chunk !== undefined) {
      decoder.write(chunk);
      return true;
    }
    if (this.source.outcome?.isWhole !== true) return this.askMore();
    decoder.end();
    return true;
  }

  #decode(decoder: ContentDecoder): void {
    this.#isItsTurn = false;
    let length: number;
    try {
      length = counted(() => decoder.read(target));
    } catch (error) {
      return this.#failWith(error);
    }
    if (decoder.isDone) this.release();
    if (length > 0) this.give(target.slice(0, length));
    this.#hasEnded = decoder.isDone;
    if (decoder.isDone && this.source.outcome !== undefined) this.askMore();
  }

  #failWith(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The response's body is not what its content-encoding ${this.#coding} promises: ${reason}`;
    this.fail(new HttpError("DECODING_FAILED", message, { origin: this.#origin, cause }));
  }
}
