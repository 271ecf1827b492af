import { Pause } from "../../timers/mod.ts";
import type { CallContext } from "../calls.ts";
import type { HeaderList, RequestBody } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";

/** The wait for a server's 100 (Continue), in ms: many send none. */
const CONTINUE_TIMEOUT = 1000;

/** The maximum bytes of a piece whose progress is reported. */
const PROGRESS_CHUNK_SIZE = 32 * 1024;

interface BodyTerms extends Pick<FetchRequest, "origin" | "expectsContinue" | "trailers"> {
  readonly context: CallContext | undefined;
  readonly onProgress: FetchRequest["onUploadProgress"];
}

/** A request's body as one attempt has it. Another can have a stream of which nothing was read: so `cancel` reaches it only through {@link abandon}. */
export class AttemptBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #terms: BodyTerms;
  /** Whether the server permits to send the body (RFC 9110 section 10.1.1); undefined until that is known. */
  #isPermitted: boolean | undefined;
  readonly #permission: Pause | undefined;
  readonly #total: number | undefined;
  readonly length: number | undefined;
  readonly bytes: Uint8Array | undefined;
  trailers: HeaderList | undefined = undefined;
  begun = false;
  #bytesRead = 0;
  #bytesTold = 0;
  /** The rest of a piece whose beginning was read. */
  #rest: Uint8Array | undefined = undefined;
  #cancelled = false;
  #reason: unknown = undefined;
  #isAbandoned = false;

  constructor(body: RequestBody, terms: BodyTerms) {
    this.#body = body;
    this.#terms = terms;
    const { expectsContinue, trailers, onProgress } = terms;
    this.#isPermitted = expectsContinue ? undefined : true;
    this.#permission = expectsContinue ? new Pause() : undefined;
    this.#total = body.bytes?.length ?? body.length;
    this.length = trailers === undefined ? this.#total : undefined;
    // What is there as bytes is sent together with the head, if nothing is to be known or told before and after.
    this.bytes = (expectsContinue || (trailers ?? onProgress) !== undefined) ? undefined : body.bytes;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#isPermitted === undefined) await this.#permission?.wait(CONTINUE_TIMEOUT);
    if (!(this.#isPermitted ??= true)) return undefined;
    this.begun = true;
    // A connection asks for more once it has taken the last piece; it says so of the last one.
    if (this.#bytesRead !== this.#total) this.tellProgress();
    let piece = this.#rest ?? await this.#failingHere(() => this.#body.read());
    this.#rest = undefined;
    const { onProgress, trailers } = this.#terms;
    if (onProgress !== undefined && piece !== undefined && piece.length > PROGRESS_CHUNK_SIZE) {
      this.#rest = piece.subarray(PROGRESS_CHUNK_SIZE);
      piece = piece.subarray(0, PROGRESS_CHUNK_SIZE);
    }
    if (piece === undefined && trailers !== undefined) this.trailers = await this.#failingHere(() => trailers.read());
    this.#bytesRead += piece?.length ?? 0;
    return piece;
  }

  /** The connection has taken what was read. */
  tellProgress(): void {
    if (this.#bytesTold === this.#bytesRead) return;
    this.#bytesTold = this.#bytesRead;
    this.#terms.onProgress?.({ sent: this.#bytesRead, total: this.#total });
  }

  /** Takes a step in the user's context; neither the body nor the trailers know where they are sent. */
  async #failingHere<T>(step: () => T): Promise<Awaited<T>> {
    const { context, origin } = this.#terms;
    try {
      return await (context === undefined ? step() : context.run(step));
    } catch (error) {
      if (!(error instanceof HttpError) || error.origin !== undefined) throw error;
      throw new HttpError(error.code, error.message, { origin, cause: error.cause });
    }
  }

  cancel(reason: unknown): void {
    this.proceed(false);
    this.#cancelled = true;
    this.#reason = reason;
    if (this.#isAbandoned) this.#stop(reason);
  }

  proceed(isPermitted: boolean = true): void {
    this.#isPermitted ??= isPermitted;
    this.#permission?.end();
  }

  /** Another attempt begins with the same body, of which nothing was read. */
  renew(): AttemptBody {
    return new AttemptBody(this.#body, this.#terms);
  }

  /** Abandons the body, which no other attempt will have: the stream's `cancel` is called, unless it has been. */
  abandon(): void {
    this.#isAbandoned = true;
    if (this.#cancelled) this.#stop(this.#reason);
  }

  #stop(reason: unknown): void {
    const { context } = this.#terms;
    if (context === undefined) this.#body.cancel(reason);
    else context.run(() => this.#body.cancel(reason));
  }
}
