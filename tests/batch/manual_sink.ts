import type { BatchedUnderlyingSink } from "../../lib/batch/mod.ts";
import type { WritableStreamDefaultController } from "../../lib/streams/mod.ts";

/** The calls of a sink, by name. */
export type SinkCall = "start" | "writev" | "close" | "abort";

export interface ManualSinkOptions {
  /** Calls that are pending until `succeed()` or `fail()`; the others end at once. By default `writev` alone. */
  readonly holds?: readonly SinkCall[];
  readonly maxBatch?: number;
}

/** A sink that records its calls; the test ends those that it delays. */
export class ManualSink<W = number> implements BatchedUnderlyingSink<W> {
  /** The calls, as "start", "writev 1,2", "close" or "abort" and the reason. */
  readonly log: string[] = [];
  readonly batches: W[][] = [];
  readonly maxBatch: number | undefined;
  controller: WritableStreamDefaultController = undefined as never; // set by start()
  readonly #holds: ReadonlySet<SinkCall>;
  #pending: PromiseWithResolvers<void> | undefined = undefined;

  constructor({ holds = ["writev"], maxBatch }: ManualSinkOptions = {}) {
    this.#holds = new Set(holds);
    this.maxBatch = maxBatch;
  }

  /** Whether a call has not ended. */
  get isBusy(): boolean {
    return this.#pending !== undefined;
  }

  start(controller: WritableStreamDefaultController): Promise<void> | undefined {
    this.controller = controller;
    return this.#called("start", "start");
  }

  writev(chunks: W[], controller: WritableStreamDefaultController): Promise<void> | undefined {
    if (controller !== this.controller) throw new Error("writev() got another controller than start()");
    this.batches.push(chunks);
    return this.#called("writev", `writev ${chunks.map(nameOf)}`);
  }

  close(): Promise<void> | undefined {
    return this.#called("close", "close");
  }

  abort(reason: unknown): Promise<void> | undefined {
    return this.#called("abort", `abort ${reason}`);
  }

  /** Ends the current call. */
  succeed(): void {
    this.#take().resolve();
  }

  /** Ends the call with an error. */
  fail(error: unknown): void {
    this.#take().reject(error);
  }

  #called(call: SinkCall, entry: string): Promise<void> | undefined {
    if (this.#pending !== undefined) throw new Error(`${entry} while another call is under way`);
    this.log.push(entry);
    if (!this.#holds.has(call)) return undefined;
    this.#pending = Promise.withResolvers();
    return this.#pending.promise;
  }

  #take(): PromiseWithResolvers<void> {
    const pending = this.#pending;
    if (pending === undefined) throw new Error("no call is under way");
    this.#pending = undefined;
    return pending;
  }
}

function nameOf(chunk: unknown): string {
  return ArrayBuffer.isView(chunk) ? `${chunk.byteLength} bytes` : String(chunk);
}
