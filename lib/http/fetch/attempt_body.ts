import type { RequestBody } from "../exchange.ts";
import { HttpError } from "../http_error.ts";
import { Permit } from "./permit.ts";

/**
 * A request's body as one attempt has it. A stream cannot be sent twice; but while nothing of it was read, another attempt can have
 * it: so a connection's `cancel` reaches the stream only through {@link abandon}.
 */
export class AttemptBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #origin: string;
  readonly #permit: Permit | undefined;
  readonly length: number | undefined;
  readonly bytes: Uint8Array | undefined;
  /** Whether something was read, so that no other attempt can have it. */
  begun = false;
  /** Whether the connection may take more of it, so that the server cannot be expected to answer. */
  pending = true;
  /** When the last piece was read, of `performance.now()`. */
  readAt = 0;
  #cancelled = false;
  #reason: unknown = undefined;

  /**
   * Takes a body.
   *
   * @param origin For errors.
   * @param permit Asked for before anything is read; undefined if the body need not wait.
   */
  constructor(body: RequestBody, origin: string, permit: Permit | undefined) {
    this.#body = body;
    this.#origin = origin;
    this.#permit = permit;
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
    if (piece === undefined) this.pending = false;
    return piece;
  }

  async #read(): Promise<Uint8Array | undefined> {
    try {
      return await this.#body.read();
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

  /** The server is ready for it. */
  proceed(): void {
    this.#permit?.give();
  }

  /** Another attempt begins with the same body, of which nothing was read. */
  renew(): AttemptBody {
    return new AttemptBody(this.#body, this.#origin, this.#permit && new Permit());
  }

  /** No other attempt will have it: the stream is told of a `cancel`, past or to come. */
  abandon(): void {
    if (this.#cancelled) this.#body.cancel(this.#reason);
    this.cancel = (reason) => {
      this.pending = false;
      this.#permit?.refuse();
      this.#body.cancel(reason);
    };
  }
}
