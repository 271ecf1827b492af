import assert from "node:assert/strict";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import type { WritableStreamDefaultController } from "../../lib/streams/mod.ts";
import { microtasks, statusOf, turns } from "./progress.ts";

/** An operation on the stream or its sink. */
export type Operation =
  | { readonly kind: "write"; readonly sizes: readonly number[] }
  | { readonly kind: "microtasks" | "turn" | "close" | "abort" | "error" | "succeed" | "fail" | "change writer" };

/** The behaviour of a call of the sink: it ends at once, in a microtask, or when the program says so. */
export type Behaviour = "returns" | "resolves" | "is held" | "throws" | "rejects";
/** The action of a writev() on its own stream before it settles. */
export type Reentry = "nothing" | "writes" | "closes" | "aborts" | "errors";

/** A random stream, and the operations on it. */
export interface Program {
  readonly highWaterMark: number;
  readonly maxBatch: number;
  readonly start: Behaviour;
  readonly writev: readonly { readonly behaviour: Behaviour; readonly reentry: Reentry }[];
  readonly close: Behaviour;
  readonly abort: Behaviour;
  readonly operations: readonly Operation[];
}

/** A written chunk and its outcome. */
interface Write {
  readonly id: number;
  readonly size: number;
  /** Whether the stream was open when it was written. */
  readonly accepted: boolean;
  batch: Batch | undefined;
  outcome: "pending" | "fulfilled" | "rejected";
  error: unknown;
}

interface Batch {
  outcome: "pending" | "written" | "failed";
  error: unknown;
}

/** A stream that runs a program, whose invariants are checked at each step. */
export class Model {
  readonly #program: Program;
  readonly #stream: BatchedWritableStream<Write>;
  #writer: WritableStreamDefaultWriter<Write>;
  #controller: WritableStreamDefaultController = undefined as never; // set by start()
  readonly #writes: Write[] = [];
  readonly #batches: Batch[] = [];
  /** Every error that the stream was given. */
  readonly #causes: unknown[] = [];
  #held: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined = undefined;
  #isBusy = true; // with start()
  #started = false;
  #isClosing = false;
  #closed = false;
  #delivered = 0;
  /** The close() or abort() of the sink, or its failure: nothing may follow. */
  #end: "close" | "abort" | "failure" | undefined = undefined;
  readonly #promises: Promise<unknown>[] = [];
  #wrong: Error | undefined = undefined;

  constructor(program: Program) {
    this.#program = program;
    this.#stream = new BatchedWritableStream<Write>({
      maxBatch: program.maxBatch,
      start: (controller) => this.#start(controller),
      writev: (writes) => this.#noting(() => this.#writev(writes)),
      close: () => this.#noting(() => this.#last("close")),
      abort: () => this.#noting(() => this.#last("abort")),
    }, { highWaterMark: program.highWaterMark, size: (write) => write!.size });
    this.#writer = this.#stream.getWriter();
  }

  async run(): Promise<void> {
    for (const operation of this.#program.operations) {
      this.#perform(operation);
      if (operation.kind === "turn" || operation.kind === "microtasks") await this.#check(operation.kind === "turn");
    }
    for (let calls = 0; calls < 1000; calls++) {
      await this.#check(true);
      if (this.#held === undefined) break;
      this.#held.resolve();
    }
    this.#checkOutcomes();
    for (const promise of this.#promises) assert.notEqual(await statusOf(promise), "pending");
  }

  #perform(operation: Operation): void {
    if (operation.kind === "write") { for (const size of operation.sizes) this.#write(size); }
    else if (operation.kind === "close") this.#close();
    else if (operation.kind === "abort") this.#abort();
    else if (operation.kind === "error") this.#error();
    else if (operation.kind === "succeed") this.#held?.resolve();
    else if (operation.kind === "fail") this.#held?.reject(new Error("held and failed"));
    else if (operation.kind === "change writer") {
      this.#writer.releaseLock();
      this.#writer = this.#stream.getWriter();
    }
  }

  #write(size: number): void {
    const accepted = !this.#isClosing && !this.#closed && this.#causes.length === 0;
    const write: Write = {
      id: this.#writes.length,
      size,
      accepted,
      batch: undefined,
      outcome: "pending",
      error: undefined,
    };
    this.#writes.push(write);
    const { desiredSize } = this.#writer;
    this.#writer.write(write).then(
      () => void (write.outcome = "fulfilled"),
      (error) => void Object.assign(write, { outcome: "rejected", error }),
    );
    if (accepted && desiredSize !== null && this.#causes.length === 0) {
      const written = this.#writes.slice(write.id).filter(({ accepted }) => accepted); // a writev() may have written too
      assert.equal(this.#writer.desiredSize, desiredSize - sumOf(written), "desiredSize after a write()");
    }
  }

  #close(): void {
    if (!this.#closed && !this.#isClosing) {
      this.#isClosing = true;
      this.#watch(this.#writer.close().then(() => void (this.#closed = true)));
    } else {
      this.#watch(this.#writer.close());
    }
  }

  #abort(): void {
    const reason = new Error(`abort ${this.#causes.length}`);
    const isFirst = !this.#closed && this.#causes.length === 0;
    if (!this.#closed) this.#causes.push(reason);
    this.#watch(this.#writer.abort(reason));
    if (isFirst) assert.equal(this.#controller.signal.reason, reason);
  }

  #error(): void {
    const error = new Error(`error ${this.#causes.length}`);
    if (!this.#closed) this.#causes.push(error);
    this.#controller.error(error);
  }

  #watch(promise: Promise<unknown>): void {
    promise.catch(() => {});
    this.#promises.push(promise);
  }

  /** Records a failed check in a call of the sink, which the stream would take for a failure of the sink. */
  #noting<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof assert.AssertionError) this.#wrong ??= error;
      throw error;
    }
  }

  /** Settles the sink's call as `behaviour` says, and updates the model. */
  #call(behaviour: Behaviour, done: () => void, failed: (error: unknown) => void): void | Promise<void> {
    const fail = (error: unknown): void => {
      this.#isBusy = false;
      this.#causes.push(error);
      failed(error);
    };
    const succeed = (): void => {
      this.#isBusy = false;
      done();
    };
    if (behaviour === "returns") return succeed();
    const error = new Error(`it ${behaviour}`);
    if (behaviour === "throws") {
      fail(error);
      throw error;
    }
    if (behaviour === "is held") return this.#hold().then(succeed, (error) => (fail(error), Promise.reject(error)));
    return Promise.resolve().then(() => {
      if (behaviour === "resolves") return succeed();
      fail(error);
      throw error;
    });
  }

  async #hold(): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => void (this.#held = { resolve, reject }));
    } finally {
      this.#held = undefined;
    }
  }

  #start(controller: WritableStreamDefaultController): void | Promise<void> {
    this.#controller = controller;
    const { start } = this.#program;
    return this.#call(start, () => void (this.#started = true), () => void (this.#end = "failure"));
  }

  #writev(writes: Write[]): void | Promise<void> {
    assert.ok(this.#started && !this.#isBusy && this.#end === undefined, "one call at a time, none after the end");
    const { maxBatch, writev } = this.#program;
    const batch: Batch = { outcome: "pending", error: undefined };
    const { behaviour, reentry } = writev[this.#batches.push(batch) % writev.length];
    assert.ok(writes.length > 0);
    const accepted = this.#writes.filter((write) => write.accepted);
    assert.deepEqual(writes, accepted.slice(this.#delivered, this.#delivered + writes.length), "each once, in order");
    this.#delivered += writes.length;
    for (const write of writes) write.batch = batch;
    const size = sumOf(writes);
    assert.ok(size <= maxBatch || writes.length === 1, "a batch within its limit");
    const next = accepted[this.#delivered];
    assert.ok(next === undefined || size + next.size > maxBatch, "a batch with all that it may have");
    this.#isBusy = true;
    this.#enter(reentry);
    return this.#call(behaviour, () => void (batch.outcome = "written"), (error) => {
      Object.assign(batch, { outcome: "failed", error });
      this.#end = "failure";
    });
  }

  #enter(reentry: Reentry): void {
    if (reentry === "writes" && this.#writes.length < 200) { for (const size of [1, 0.5]) this.#write(size); }
    if (reentry === "closes") this.#close();
    if (reentry === "aborts") this.#abort();
    if (reentry === "errors") this.#error();
  }

  #last(call: "close" | "abort"): void | Promise<void> {
    assert.ok(this.#started || this.#end === "failure");
    assert.ok(!this.#isBusy, "one call at a time");
    // When a stream is aborted during start() or a batch, it aborts its sink even if that call fails.
    if (call === "close") assert.equal(this.#end, undefined, "one end");
    else assert.ok(this.#end === undefined || (this.#end === "failure" && this.#controller.signal.aborted), "one end");
    if (call === "close") assert.equal(this.#delivered, this.#writes.filter(({ accepted }) => accepted).length);
    this.#end = call;
    this.#isBusy = true;
    return this.#call(this.#program[call], () => {}, () => {});
  }

  #unacknowledged(): Write[] {
    return this.#writes.filter(({ accepted, batch }) => accepted && batch?.outcome !== "written");
  }

  #room(): number {
    // A batch that has ended is acknowledged a microtask later.
    const pending = this.#writes.filter(({ accepted, outcome }) => accepted && outcome === "pending");
    return this.#program.highWaterMark - sumOf(pending);
  }

  /** Checks the invariants of a stream that waits for its sink or the next turn. */
  async #check(isTurnOver: boolean): Promise<void> {
    for (let batches = -1; batches !== this.#batches.length;) {
      batches = this.#batches.length;
      await (isTurnOver ? turns() : microtasks());
    }
    if (this.#wrong !== undefined) throw this.#wrong;
    const ready = await statusOf(this.#writer.ready);
    if (this.#causes.length > 0) {
      assert.equal(this.#writer.desiredSize, this.#closed ? 0 : null);
      if (!this.#closed) assert.equal(ready, "rejected");
      return;
    }
    const room = this.#room();
    assert.equal(this.#writer.desiredSize, this.#closed ? 0 : room);
    assert.equal(ready, room > 0 || this.#isClosing ? "fulfilled" : "pending");
    const waiting = this.#unacknowledged();
    assert.equal(sumOf(waiting), sumOf(this.#writes.filter(({ outcome }) => outcome === "pending")));
    if (this.#isBusy || !this.#started) return;
    const isFull = room <= 0 || sumOf(waiting) >= this.#program.maxBatch;
    if (isTurnOver || isFull || this.#isClosing) {
      assert.equal(waiting.length, 0, "an idle sink, and chunks that wait");
    }
  }

  /** Checks each write's outcome against the batches, after the end of the stream. */
  #checkOutcomes(): void {
    const failed = this.#batches.find(({ outcome }) => outcome === "failed");
    const stored = new Set<unknown>();
    for (const { accepted, batch, outcome, error, id } of this.#writes) {
      assert.equal(outcome, batch?.outcome === "written" ? "fulfilled" : "rejected", `write ${id}`);
      if (batch === failed && failed !== undefined) assert.equal(error, failed.error);
      else if (outcome === "rejected" && accepted) stored.add(error);
    }
    assert.ok(stored.size <= 1, "all others reject alike");
    for (const error of stored) assert.ok(this.#causes.includes(error));
    if (this.#causes.length === 0) {
      assert.ok(this.#writes.every(({ accepted, outcome }) => !accepted || outcome === "fulfilled"));
    }
  }
}

function sumOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { size }) => sum + size, 0);
}
