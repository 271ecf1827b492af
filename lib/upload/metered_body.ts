import type { Announced } from "./announced.ts";
import type { BodyReader } from "./body_reader.ts";
import type { DigestAlgorithm } from "./digest_fields.ts";
import { Digester, verifyDigests } from "./digester.ts";
import type { ReceiveOptions } from "./save_options.ts";
import { UploadError } from "./upload_error.ts";

/** A body that is held against what was announced and what is allowed, while it is received. */
export class MeteredBody implements BodyReader {
  /** The digests that the sender says the bytes have; if {@linkcode read} came to the end, they have them. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  readonly #body: BodyReader;
  readonly #announced: Announced;
  readonly #options: ReceiveOptions;
  readonly #digester: Digester | undefined;
  #bytes = 0;
  /** When the read began that waits, in ms; undefined if none does: then it is not the sender who is slow. */
  #waitingSince: number | undefined = undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(body: BodyReader, announced: Announced, options: ReceiveOptions) {
    this.#body = body;
    this.#announced = announced;
    this.#options = options;
    this.digests = new Map([...announced.digests.values()].flatMap((digests) => [...digests]));
    this.#digester = this.digests.size > 0 ? new Digester(this.digests.keys()) : undefined;
    this.#watch();
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    this.#waitingSince = performance.now();
    const pieces = await this.#body.read();
    this.#waitingSince = undefined;
    if (pieces === undefined) this.#end();
    else this.#take(pieces);
    return pieces;
  }

  async cancel(reason: unknown): Promise<void> {
    this.#unwatch();
    await this.#body.cancel(reason);
  }

  #take(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.#bytes += piece.length;
    const { maxBytes = Infinity, onProgress } = this.#options;
    const { expectedBytes } = this.#announced;
    if (this.#bytes > maxBytes) {
      throw new UploadError("TOO_LARGE", `The body has more than the ${maxBytes} bytes that are accepted`);
    }
    if (expectedBytes !== undefined && this.#bytes > expectedBytes) {
      throw new UploadError("BAD_LENGTH", `The body has more than the ${expectedBytes} bytes that were announced`);
    }
    this.#digester?.update(pieces);
    onProgress?.({ bytes: this.#bytes, expectedBytes });
  }

  #end(): void {
    this.#unwatch();
    const { expectedBytes, digests } = this.#announced;
    if (expectedBytes !== undefined && this.#bytes < expectedBytes) {
      const message = `The body ended after ${this.#bytes} of the ${expectedBytes} bytes that were announced`;
      throw new UploadError("BAD_LENGTH", message);
    }
    const actual = this.#digester?.finish();
    if (actual === undefined) return;
    for (const [field, expected] of digests) verifyDigests(field, expected, actual);
  }

  #watch(): void {
    const { signal, timeout = Infinity, idleTimeout = Infinity } = this.#options;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (timeout !== Infinity) {
      const words = `The body was not received within ${timeout} ms`;
      this.#timer = setTimeout(() => this.cancel(new UploadError("TIMEOUT", words)), timeout);
    }
    if (idleTimeout !== Infinity) this.#watchIdle(idleTimeout, idleTimeout);
  }

  /** Looks after `delay` ms whether the sender has been silent for too long: no timer is set anew for each chunk. */
  #watchIdle(idleTimeout: number, delay: number): void {
    this.#idleTimer = setTimeout(() => {
      const now = performance.now();
      const left = idleTimeout - (now - (this.#waitingSince ?? now));
      if (left > 0) return this.#watchIdle(idleTimeout, left);
      void this.cancel(new UploadError("TIMEOUT", `Nothing of the body was received for ${idleTimeout} ms`));
    }, delay);
  }

  #unwatch(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    void this.cancel(this.#options.signal!.reason);
  };
}
