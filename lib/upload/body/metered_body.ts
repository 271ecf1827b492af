import { ALGORITHMS, type DigestAlgorithm } from "../../semantics/mod.ts";
import { type Announced, Digester, requireExpected, tellProgress, verifyDigests } from "./announced.ts";
import type { BodyReader } from "./body_source.ts";
import { Deadlines, type Pace } from "./pace.ts";
import type { InnerOptions, ReceiveOptions } from "./upload_options.ts";
import { UploadError } from "./upload_error.ts";

/** A body that is held against what was announced and what is allowed, while it is received. */
export class MeteredBody implements BodyReader, Pace {
  /** The digests that the sender says the bytes have; if {@linkcode read} came to the end, they have them. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  readonly #body: BodyReader;
  readonly #announced: Announced;
  readonly #options: ReceiveOptions;
  readonly #digester: Digester | undefined;
  readonly #deadlines: Deadlines;
  bytes = 0;
  /** The time of reads that have waited for the sender, and since when one does. */
  #waited = 0;
  #since: number | undefined = undefined;
  #isReading = false;

  constructor(body: BodyReader, announced: Announced, options: ReceiveOptions & InnerOptions) {
    this.#body = body;
    this.#announced = announced;
    this.#options = options;
    this.digests = new Map([...announced.digests.values()].flatMap((digests) => [...digests]));
    // Of which algorithms those in the trailers are is known only then.
    const algorithms = announced.trailerDigests ? ALGORITHMS : [...this.digests.keys()];
    this.#digester = algorithms.length > 0 ? new Digester(algorithms) : undefined;
    this.#deadlines = new Deadlines(options, this, (reason) => void body.cancel(reason));
  }

  get waited(): number {
    return this.#waited + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  get isHeldBack(): boolean {
    return this.#body.isHeldBack;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    const reading = this.#body.read().catch((error) => this.#endIfComplete(error));
    this.#isReading = true;
    this.#time();
    const pieces = await reading;
    this.#isReading = false;
    this.#waited = this.waited;
    this.#since = undefined;
    if (pieces === undefined) this.#end();
    else this.#take(pieces);
    return pieces;
  }

  release(): void {
    this.#body.release();
    this.#time();
  }

  async cancel(reason: unknown): Promise<void> {
    this.#deadlines.stop();
    await this.#body.cancel(reason);
  }

  /** Takes the time of a read, unless the sender is held back meanwhile. */
  #time(): void {
    if (this.#isReading && !this.#body.isHeldBack) this.#since ??= performance.now();
  }

  /** Deno says of a sender who has sent everything, and then closed that direction, that it has left. */
  #endIfComplete(error: unknown): undefined {
    const hasLeft = error instanceof UploadError && error.code === "ABORTED";
    if (!hasLeft || this.bytes !== this.#announced.expectedBytes) throw error;
  }

  #take(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.bytes += piece.length;
    this.#digester?.update(pieces);
    tellProgress(this.bytes, this.#announced, this.#options);
  }

  #end(): void {
    this.#deadlines.stop();
    requireExpected(this.bytes, this.#announced);
    const actual = this.#digester?.finish();
    if (actual === undefined) return;
    const { digests, trailerDigests } = this.#announced;
    for (const [field, expected] of [...digests, ...(trailerDigests?.() ?? [])]) verifyDigests(field, expected, actual);
  }
}
