import { Pause } from "../../timers/mod.ts";
import type { CallContext } from "../calls.ts";
import type { RequestBody } from "../connection.ts";
import { HttpError } from "../http_error.ts";

/** For how many ms a server's 100 (Continue) is waited for: many send none. */
const PATIENCE = 1000;

/**
 * A request's body as one attempt has it. A stream cannot be sent twice; but while nothing of it was read, another attempt can have
 * it: so a connection's `cancel` reaches the stream only through {@link abandon}.
 */
export class AttemptBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #origin: string;
  readonly #permit: Permit | undefined;
  readonly #context: CallContext | undefined;
  readonly length: number | undefined;
  readonly bytes: Uint8Array | undefined;
  /** Whether something was read, so that no other attempt can have it. */
  begun = false;
  /** Whether the connection may take more of it, so that the server cannot be expected to answer. */
  pending = true;
  /** Told once all of it was read, or is there as bytes. */
  onSent: (() => void) | undefined = undefined;
  #bytesRead = 0;
  /** When the last piece was read, of `performance.now()`. */
  readAt = 0;
  #cancelled = false;
  #reason: unknown = undefined;

  /**
   * @param expectsContinue Whether nothing is read before the server is ready for it.
   * @param context In which the body is read and cancelled.
   */
  constructor(body: RequestBody, origin: string, expectsContinue: boolean, context: CallContext | undefined) {
    this.#body = body;
    this.#origin = origin;
    this.#context = context;
    const permit = this.#permit = expectsContinue ? new Permit() : undefined;
    this.length = body.bytes?.length ?? body.length;
    // What is there as bytes is sent together with the head.
    this.bytes = permit === undefined ? body.bytes : undefined;
    if (this.bytes !== undefined) this.pending = false;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#permit !== undefined && !await this.#permit.wait()) return undefined;
    this.begun = true;
    const piece = await this.#read();
    this.readAt = performance.now();
    this.#bytesRead += piece?.length ?? 0;
    if (piece === undefined || this.#bytesRead === this.length) this.onSent?.();
    if (piece === undefined) this.pending = false;
    return piece;
  }

  async #read(): Promise<Uint8Array | undefined> {
    try {
      return await (this.#context === undefined ? this.#body.read() : this.#context.run(() => this.#body.read()));
    } catch (error) {
      // The body does not know where it is sent.
      if (!(error instanceof HttpError) || error.origin !== undefined) throw error;
      throw new HttpError(error.code, error.message, { origin: this.#origin, cause: error.cause });
    }
  }

  cancel(reason: unknown): void {
    this.pending = false;
    this.#permit?.refuse();
    this.#cancelled = true;
    this.#reason = reason;
  }

  proceed(): void {
    this.#permit?.give();
  }

  /** Another attempt begins with the same body, of which nothing was read. */
  renew(): AttemptBody {
    return new AttemptBody(this.#body, this.#origin, this.#permit !== undefined, this.#context);
  }

  /** No other attempt will have it: the stream is told of a `cancel`, past or to come. */
  abandon(): void {
    if (this.#cancelled) this.#stop(this.#reason);
    this.cancel = (reason) => {
      this.pending = false;
      this.#permit?.refuse();
      this.#stop(reason);
    };
  }

  #stop(reason: unknown): void {
    if (this.#context === undefined) this.#body.cancel(reason);
    else this.#context.run(() => this.#body.cancel(reason));
  }
}

/**
 * A server's permission to send a request's body, as `expect: 100-continue` asks for it.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1}
 */
class Permit {
  #given: boolean | undefined = undefined;
  readonly #pause: Pause = new Pause();

  /** Waits for it, and not for long. Gives false if the body is not to be sent. */
  async wait(): Promise<boolean> {
    if (this.#given === undefined) await this.#pause.wait(PATIENCE);
    return this.#given ??= true;
  }

  /** The server is ready. */
  give(): void {
    this.#end(true);
  }

  /** The server has answered, or the body is not sent any more. */
  refuse(): void {
    this.#end(false);
  }

  #end(given: boolean): void {
    this.#given ??= given;
    this.#pause.end();
  }
}
