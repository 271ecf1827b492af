import { CallbackGenerator } from "./generate_callbacks.ts";
import type { Callbacks, Chunk, Iterable, Operation, Reactions } from "./program.ts";

/** Leaves out the callbacks that were decided against. */
function defined<Name extends string>(callbacks: { [name in Name]: Reactions | undefined }): Callbacks<Name> {
  return Object.fromEntries(Object.entries(callbacks).filter(([, reactions]) => reactions)) as Callbacks<Name>;
}

/** Random streams, and random things that their callbacks and the program's main line do to their controllers. */
export class StreamGenerator extends CallbackGenerator {
  readable(name: string): Operation {
    const source = defined({
      start: this.maybe(0.85, 1, () => this.some(2, () => this.control(name))),
      pull: this.maybe(0.8, 6, () => this.pull(name, () => this.chunk())),
      cancel: this.maybe(0.6, 1, () => this.some(1, () => this.control(name))),
    });
    return { kind: "readable", name, source, strategy: this.strategy(() => this.some(1, () => this.control(name))) };
  }

  bytes(name: string): Operation {
    const { random } = this;
    const source = defined({
      start: this.maybe(0.85, 1, () => this.some(2, () => this.byteControl(name))),
      pull: this.maybe(0.8, 8, () => this.pullBytes(name)),
      cancel: this.maybe(0.6, 1, () => this.some(1, () => this.byteControl(name))),
    });
    // A size function is a RangeError on byte streams: once in a while that is what is to be seen.
    const highWaterMark = this.highWaterMark();
    const strategy = random.chance(0.03) ? this.strategy(() => []) : { highWaterMark };
    const autoAllocateChunkSize = random.weighted([[6, undefined], [3, 4], [2, 8], [2, 1], [0.2, 0]]);
    return {
      kind: "bytes",
      name,
      source,
      strategy,
      ...(autoAllocateChunkSize === undefined ? {} : { autoAllocateChunkSize }),
    };
  }

  writable(name: string): Operation {
    const own = (): Operation[] => this.random.chance(0.12) ? [this.sinkControl(name)] : [];
    const sink = defined({
      start: this.maybe(0.8, 1, own),
      write: this.maybe(0.95, 8, own),
      close: this.maybe(0.7, 1, own),
      abort: this.maybe(0.7, 1, own),
    });
    return { kind: "writable", name, sink, strategy: this.strategy(() => [this.sinkControl(name)]) };
  }

  transform(name: string): Operation {
    const control = (): Operation[] => this.some(1, () => this.transformControl(name));
    const transformer = defined({
      start: this.maybe(0.8, 1, control),
      transform: this.maybe(0.85, 8, () => this.transformChunk(name)),
      flush: this.maybe(0.7, 1, () => this.some(3, () => this.transformControl(name))),
      cancel: this.maybe(0.4, 1, control),
    });
    return {
      kind: "transform",
      name,
      transformer,
      writableStrategy: this.strategy(control),
      readableStrategy: this.strategy(control),
    };
  }

  from(name: string): Operation {
    const { random } = this;
    const iterable: Iterable = {
      type: random.pick(["array", "sync", "async"]),
      values: random.below(5),
      end: random.chance(0.7) ? { kind: "return" } : this.outcome(),
      delay: this.delay(),
      ...(random.chance(0.6) ? { return: this.outcome() } : {}),
    };
    return { kind: "from", name, iterable };
  }

  control(on: string): Operation {
    return this.random.weighted<() => Operation>([
      [8, () => ({ kind: "enqueue", on, chunk: this.chunk() })],
      [2, () => ({ kind: "close", on })],
      [1.5, () => ({ kind: "error", on, error: this.errorName() })],
      [2, () => ({ kind: "desiredSize", on })],
    ])();
  }

  byteControl(on: string): Operation {
    const { random } = this;
    return random.weighted<() => Operation>([
      [7, () => ({ kind: "enqueue", on, chunk: random.chance(0.97) ? this.view() : "fresh" })],
      [2, () => ({ kind: "close", on })],
      [1, () => ({ kind: "error", on, error: this.errorName() })],
      [1, () => ({ kind: "desiredSize", on })],
      [1.5, () => ({ kind: "byobRequest", on })],
      [5, () => ({ kind: "respond", on, bytes: random.below(6), stale: random.chance(0.15) })],
      [2, () => ({
        kind: "respondWithNewView",
        on,
        view: random.weighted([[4, "same"], [3, "shorter"], [2, "transferred"], [1, "foreign"], [1, "shifted"]]),
        bytes: random.below(6),
      })],
    ])();
  }

  sinkControl(on: string): Operation {
    const { random } = this;
    return random.chance(0.5) ? { kind: "error", on, error: this.errorName() } : { kind: "watchSignal", on };
  }

  transformControl(on: string): Operation {
    return this.random.weighted<() => Operation>([
      [8, () => ({ kind: "enqueue", on, chunk: this.chunk() })],
      [1, () => ({ kind: "terminate", on })],
      [1, () => ({ kind: "error", on, error: this.errorName() })],
      [1, () => ({ kind: "desiredSize", on })],
    ])();
  }

  some(most: number, operation: () => Operation): Operation[] {
    return Array.from({ length: this.random.below(most + 1) }, operation);
  }

  pull(on: string, chunk: () => Chunk): Operation[] {
    return this.random.weighted<() => Operation[]>([
      [10, () => [{ kind: "enqueue", on, chunk: chunk() }]],
      [3, () => [{ kind: "enqueue", on, chunk: chunk() }, { kind: "enqueue", on, chunk: chunk() }]],
      [2, () => []],
      [2, () => [{ kind: "enqueue", on, chunk: chunk() }, { kind: "close", on }]],
      [2, () => this.some(3, () => this.control(on))],
    ])();
  }

  pullBytes(on: string): Operation[] {
    return this.random.weighted<() => Operation[]>([
      [6, () => [{ kind: "enqueue", on, chunk: this.view() }]],
      [6, () => [{ kind: "respond", on, bytes: 1 + this.random.below(4) }]],
      [2, () => []],
      [2, () => [{ kind: "close", on }, { kind: "respond", on, bytes: 0 }]],
      [5, () => this.some(3, () => this.byteControl(on))],
    ])();
  }

  transformChunk(on: string): Operation[] {
    return this.random.weighted<() => Operation[]>([
      [12, () => [{ kind: "enqueue", on, chunk: "incoming" }]],
      [2, () => []],
      [3, () => [{ kind: "enqueue", on, chunk: "incoming" }, { kind: "enqueue", on, chunk: "fresh" }]],
      [3, () => this.some(2, () => this.transformControl(on))],
    ])();
  }
}
