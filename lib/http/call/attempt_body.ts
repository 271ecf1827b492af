import { Pause } from "../../timers/mod.ts";
import type { CallContext } from "../calls.ts";
import type { HeaderList, RequestBody } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";

/** The maximum wait in ms for a server's 100 (Continue): many servers send none. */
const CONTINUE_TIMEOUT = 1000;

/** The maximum bytes of a piece whose progress is reported. */
const PROGRESS_CHUNK_SIZE = 32 * 1024;

interface BodyTerms extends Pick<FetchRequest, "origin" | "expectsContinue" | "trailers"> {
  readonly context: CallContext | undefined;
  readonly onProgress: FetchRequest["onUploadProgress"];
}

/** The body of a request in one attempt. The next attempt can use a stream of which nothing was sent, so only {@link abandon} cancels it. */
export class AttemptBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #terms: BodyTerms;
  /** Whether the server permits sending the body (RFC 9110 section 10.1.1); undefined until that is known. */
  #isPermitted: boolean | undefined;
  readonly #permission: Pause | undefined;
  readonly #total: number | undefined;
  readonly length: number | undefined;
  readonly bytes: Uint8Array | undefined;
  trailers: HeaderList | undefined = undefined;
  begun = false;
  #bytesRead = 0;
  #bytesTold = 0;
  /** The last piece that was read: the next attempt has the first one, if nothing of it was sent. */
  #last: Promise<Uint8Array | undefined> | undefined;
  /** The unread rest of a piece. */
  #rest: Uint8Array | undefined = undefined;
  #cancelled = false;
  #reason: unknown = undefined;
  #isAbandoned = false;
  readonly #readPiece = (): Promise<Uint8Array | undefined> => this.#body.read();

  constructor(body: RequestBody, terms: BodyTerms, last?: Promise<Uint8Array | undefined>) {
    this.#body = body;
    this.#last = last;
    this.#terms = terms;
    const { expectsContinue, trailers, onProgress } = terms;
    this.#isPermitted = expectsContinue ? undefined : true;
    this.#permission = expectsContinue ? new Pause() : undefined;
    this.#total = body.bytes?.length ?? body.length;
    this.length = trailers === undefined ? this.#total : undefined;
    // Bytes in memory are sent together with the head, unless a step must come before or after them.
    this.bytes = (expectsContinue || (trailers ?? onProgress) !== undefined) ? undefined : body.bytes;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#isPermitted === undefined) await this.#permission?.wait(CONTINUE_TIMEOUT);
    if (!(this.#isPermitted ??= true)) return undefined;
    // A connection reads again once it has taken the last piece, and reports the final piece itself.
    if (this.#bytesRead !== this.#total) this.tellProgress();
    const { onProgress, trailers, origin } = this.#terms;
    try {
      if (this.begun) this.#last = undefined;
      let piece = this.#rest ?? await (this.#last ??= this.#inContext(this.#readPiece));
      this.#rest = undefined;
      if (onProgress !== undefined && piece !== undefined && piece.length > PROGRESS_CHUNK_SIZE) {
        this.#rest = piece.subarray(PROGRESS_CHUNK_SIZE);
        piece = piece.subarray(0, PROGRESS_CHUNK_SIZE);
      }
      if (piece === undefined && trailers !== undefined) {
        this.trailers = await this.#inContext(() => trailers.read(() => this.#cancelled));
      }
      this.#bytesRead += piece?.length ?? 0;
      return piece;
    } catch (error) { // body and trailers do not know the origin
      this.begun = true;
      if (!(error instanceof HttpError) || error.origin !== undefined) throw error;
      throw new HttpError(error.code, error.message, { origin, cause: error.cause });
    }
  }

  /** Reports that the connection has taken the bytes read so far. */
  tellProgress(): void {
    if (this.#bytesTold === this.#bytesRead) return;
    this.#bytesTold = this.#bytesRead;
    this.#terms.onProgress?.({ sent: this.#bytesRead, total: this.#total });
  }

  #inContext<T>(step: () => T): T {
    const { context } = this.#terms;
    return context === undefined ? step() : context.run(step);
  }

  cancel(reason: unknown): void {
    this.#isPermitted = false; // also in the turn in which the server permitted it: the next attempt reads the body from its start
    this.#permission?.end();
    this.#cancelled = true;
    this.#reason = reason;
    if (this.#isAbandoned) this.#stop(reason);
  }

  proceed(): void {
    this.#isPermitted ??= true;
    this.#permission?.end();
  }

  /** Returns the same body, of which nothing was sent, for another attempt. */
  renew(): AttemptBody {
    return new AttemptBody(this.#body, this.#terms, this.#last);
  }

  /** Abandons the body after the last attempt: cancels its stream, unless that was cancelled before. */
  abandon(): void {
    this.#isAbandoned = true;
    if (this.#cancelled) this.#stop(this.#reason);
  }

  #stop(reason: unknown): void {
    this.#inContext(() => this.#body.cancel(reason));
  }
}
