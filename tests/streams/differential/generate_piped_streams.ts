import { StreamGenerator } from "./generate_streams.ts";
import type { Callbacks, Chunk, Delay, Operation, Outcome, Reaction, Reactions, SizeResult, View } from "./program.ts";
import type { Random } from "./random.ts";

/**
 * The pace of a piped program's chunks. In a burst many chunks are pending at once, and nothing may fail in the middle
 * of it, since the standard leaves the microtask of a pipe's read to the implementation. When paced, each chunk has its
 * own turn of the event loop, and failures may happen at any point.
 */
export type Pace = "burst" | "paced";

/** Random streams for pipes, whose events are the same whenever in a turn a pipe reads and writes. */
export class PipedStreamGenerator extends StreamGenerator {
  readonly pace: Pace;

  constructor(random: Random, pace: Pace) {
    super(random);
    this.pace = pace;
  }

  override readable(name: string): Operation {
    const source = this.source(name, () => this.chunk());
    return { kind: "readable", name, source, strategy: this.strategy(() => []) };
  }

  override bytes(name: string): Operation {
    const source = this.source(name, () => this.view());
    return { kind: "bytes", name, source, strategy: { highWaterMark: this.highWaterMark() } };
  }

  override writable(name: string): Operation {
    const watch = (): Operation[] => this.random.chance(0.05) ? [{ kind: "watchSignal", on: name }] : [];
    const sink = {
      start: this.start([]),
      write: this.reactions(8, watch),
      close: this.reactions(1, () => []),
      abort: this.reactions(1, () => []),
    };
    return { kind: "writable", name, sink, strategy: this.strategy(() => []) };
  }

  override transform(name: string): Operation {
    const transformer = {
      start: this.start([]),
      ...(this.random.chance(0.85)
        ? { transform: this.reactions(8, () => this.transformChunk(name)).map(enqueueOrThrow) }
        : {}),
      flush: this.reactions(1, () => this.some(3, () => this.enqueue(name))),
      ...(this.random.chance(0.4) ? { cancel: this.reactions(1, () => []) } : {}),
    };
    const [writableStrategy, readableStrategy] = [this.strategy(() => []), this.strategy(() => [])];
    return { kind: "transform", name, transformer, writableStrategy, readableStrategy };
  }

  override from(name: string): Operation {
    const operation = super.from(name);
    if (this.pace === "burst" || operation.kind !== "from") return operation;
    return { ...operation, iterable: { ...operation.iterable, type: "async" } };
  }

  override delay(): Delay {
    return this.pace === "paced" || this.random.chance(0.5) ? "macrotask" : { microtasks: 0 };
  }

  override outcome(): Outcome {
    const { random } = this;
    return random.weighted<() => Outcome>([
      [60, () => ({ kind: "return" })],
      [28, () => ({ kind: "resolve", delay: random.chance(0.5) ? "macrotask" : { microtasks: 0 } })],
      [this.pace === "paced" ? 3 : 0, () => ({ kind: "throw", error: this.errorName() })],
      [3, () => ({ kind: "reject", error: this.errorName(), delay: "macrotask" })],
      [2, () => ({ kind: "never" })],
    ])();
  }

  override sizeResult(): SizeResult {
    return this.random.pick([1, 2, 0.5, 0]);
  }

  /** Never empty: enqueueing it would throw, and a pull() that enqueues nothing be called again, or not. */
  override view(): View {
    const view = super.view();
    return view.length === 0 ? { ...view, length: 1 } : view;
  }

  override transformChunk(on: string): Operation[] {
    const { random } = this;
    if (this.pace === "paced") return random.chance(0.8) ? [this.enqueue(on, "incoming")] : [this.transformControl(on)];
    return random.weighted<() => Operation[]>([
      [12, () => [this.enqueue(on, "incoming")]],
      [2, () => []],
      [3, () => [this.enqueue(on, "incoming"), this.enqueue(on)]],
    ])();
  }

  private enqueue(on: string, chunk: Chunk = this.chunk()): Operation {
    return { kind: "enqueue", on, chunk };
  }

  /** Generates a start() that does not fail: a failure would race with the pipe's first read. */
  private start(operations: Operation[]): Reactions {
    const outcome: Outcome = this.random.chance(0.7)
      ? { kind: "return" }
      : { kind: "resolve", delay: this.random.chance(0.5) ? "macrotask" : { microtasks: 0 } };
    return this.random.chance(0.5) ? [] : [{ operations, outcome }];
  }

  private source(on: string, chunk: () => Chunk): Callbacks<"start" | "pull" | "cancel"> {
    const count = this.random.below(7);
    const burst = this.pace === "burst";
    const start = this.start(burst ? this.startBurst(on, chunk) : []);
    const pull = Array.from({ length: count }, () => burst ? this.pullBurst(on, chunk) : this.pullPaced(on, chunk));
    return { start, pull, cancel: this.reactions(1, () => []) };
  }

  /** Generates a start() that enqueues, in one of ten cases, more than a pipe moves at once. */
  private startBurst(on: string, chunk: () => Chunk): Operation[] {
    if (this.random.chance(0.9)) return this.some(2, () => this.enqueue(on, chunk()));
    return [{ kind: "enqueue", on, chunk: chunk(), times: 1 + this.random.below(400) }];
  }

  override highWaterMark(): number | undefined {
    return this.random.chance(0.1) ? 1 + this.random.below(300) : super.highWaterMark();
  }

  private pullBurst(on: string, chunk: () => Chunk): Reactions[number] {
    const { random } = this;
    const operations = random.weighted<() => Operation[]>([
      [10, () => [this.enqueue(on, chunk())]],
      [3, () => [this.enqueue(on, chunk()), this.enqueue(on, chunk())]],
      [2, () => [this.enqueue(on, chunk()), { kind: "close", on }]],
    ])();
    return { operations, outcome: this.outcome() };
  }

  /** Generates a pull() with one chunk; the end comes later, from the main line or a rejected promise. */
  private pullPaced(on: string, chunk: () => Chunk): Reactions[number] {
    const { random } = this;
    const outcome: Outcome = random.chance(0.95)
      ? { kind: "resolve", delay: "macrotask" }
      : { kind: "reject", error: this.errorName(), delay: "macrotask" };
    return { operations: [this.enqueue(on, chunk())], outcome };
  }
}

/** Drops the operations before a throw: whether a chunk is read if an error follows at once differs between pipes. */
function enqueueOrThrow({ operations, outcome }: Reaction): Reaction {
  return { operations: outcome.kind === "throw" ? [] : operations, outcome };
}
