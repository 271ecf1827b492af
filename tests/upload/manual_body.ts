import type { BodyReader } from "../../lib/upload/body/body_source.ts";
import { concatenated } from "../support/bytes.ts";

/** A body that gives the chunks of the test, as strictly as its interface allows, and remembers its cancellation. */
export interface ManualBody extends BodyReader {
  /** Adds one more batch; the body then ends only by a call. */
  give(batch: readonly Uint8Array[]): void;
  /** Fails once the batches are read. */
  fail(error: unknown): void;
  /** Whether the body reports that its sender is paused. */
  isPaused: boolean;
  /** The reason the body was cancelled with. */
  readonly cancelled: unknown;
}

/** Creates a body of these batches; without any, it waits for `give()`. */
export function bodyOf(...batches: readonly Uint8Array[][]): ManualBody {
  return new Batches(batches);
}

class Batches implements ManualBody {
  cancelled: unknown = undefined;
  isPaused = false;
  readonly #batches: (readonly Uint8Array[])[];
  /** The end of the body after its batches, with an error if it fails; undefined while more can follow. */
  #end: { readonly error?: unknown } | undefined;
  #lent: Uint8Array[][] = [];
  #isReading = false;
  #wake: (() => void) | undefined;

  constructor(batches: readonly Uint8Array[][]) {
    this.#batches = batches.filter((batch) => batch.length > 0);
    this.#end = batches.length > 0 ? {} : undefined;
  }

  give(batch: readonly Uint8Array[]): void {
    this.#batches.push(batch);
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end = { error };
    this.#wake?.();
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#isReading) throw new Error("read() while another call of it waits");
    this.#isReading = true;
    if (this.#lent.length > 1) throw new Error("read() while the pieces of two calls are in use");
    await Promise.resolve();
    while (this.#batches.length === 0 && !this.#end) await new Promise<void>((resolve) => this.#wake = resolve);
    this.#isReading = false;
    const batch = this.#batches.shift();
    if (batch) {
      this.#lent.push(batch.map((piece) => piece.slice()));
      return this.#lent.at(-1);
    }
    if ("error" in this.#end!) throw this.#end.error;
    return undefined;
  }

  release(): void {
    const pieces = this.#lent.shift();
    if (pieces === undefined) throw new Error("release() of nothing");
    for (const piece of pieces) piece.fill(0xa5);
  }

  cancel(reason: unknown): Promise<void> {
    this.cancelled ??= reason;
    this.#batches.length = 0;
    this.fail(this.cancelled);
    return Promise.resolve();
  }
}

/** Everything that a body gives, in one piece; copied at once. */
export async function readAll(body: BodyReader): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for (let pieces = await body.read(); pieces; pieces = await body.read()) {
    if (pieces.every((piece) => piece.length === 0)) throw new Error("a read without a byte");
    for (const piece of pieces) parts.push(piece.slice());
    body.release();
  }
  return concatenated(parts);
}
