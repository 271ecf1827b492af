import { type Pace, PipedStreamGenerator } from "./generate_piped_streams.ts";
import { StreamGenerator } from "./generate_streams.ts";
import type { Operation, Program } from "./program.ts";
import { Random } from "./random.ts";
import { reentrant } from "./reenter.ts";

/** The main subject of a program. */
type Theme = "readable" | "bytes" | "writable" | "transform" | "from" | "mixed" | "pipe";

const themes: readonly (readonly [number, Theme])[] = [
  [18, "readable"],
  [22, "bytes"],
  [18, "writable"],
  [20, "transform"],
  [6, "from"],
  [4, "mixed"],
  [22, "pipe"],
];

/** Returns the program of a seed, always the same one. */
export function generateProgram(seed: number): Program {
  const random = new Random(seed);
  const theme = random.weighted(themes);
  if (theme !== "pipe") {
    const operations = new ProgramGenerator(random, new StreamGenerator(random)).program(theme);
    return { seed, operations: random.chance(0.4) ? reentrant(operations, random) : operations };
  }
  const pace: Pace = random.chance(0.5) ? "burst" : "paced";
  return { seed, operations: new ProgramGenerator(random, new PipedStreamGenerator(random, pace)).pipeProgram() };
}

class ProgramGenerator {
  readonly random: Random;
  readonly streams: StreamGenerator;
  readonly operations: Operation[] = [];
  readonly controls: (() => Operation)[] = [];
  readonly readables: string[] = [];
  readonly byteStreams: string[] = [];
  readonly writables: string[] = [];
  readonly readers: string[] = [];
  readonly byobReaders: string[] = [];
  readonly writers: string[] = [];
  readonly iterators: string[] = [];
  readonly sinks: string[] = [];
  #names = 0;

  constructor(random: Random, streams: StreamGenerator) {
    this.random = random;
    this.streams = streams;
  }

  program(theme: Exclude<Theme, "pipe">): Operation[] {
    const { random } = this;
    this.create(theme);
    if (random.chance(0.1)) this.create(theme);
    for (let left = 5 + random.below(20); left > 0; left--) {
      this.operations.push(this.step());
      this.pause();
    }
    return this.operations;
  }

  pipeProgram(): Operation[] {
    const { random } = this;
    const chains = random.chance(0.1) ? 2 : 1;
    for (let chain = 0; chain < chains; chain++) this.chain();
    for (let left = 2 + random.below(10); left > 0; left--) {
      this.operations.push(this.step());
      if (random.chance(0.7)) this.operations.push({ kind: "macrotask" });
    }
    return this.operations;
  }

  /** A source, none to three transforms and a sink, piped. */
  private chain(): void {
    const { random } = this;
    this.create(random.weighted([[6, "readable"], [2, "bytes"], [1, "from"]]));
    let from = this.readables.at(-1)!;
    if (random.chance(0.1)) from = this.tee(from);
    if (random.chance(0.5)) this.operations.push(this.step());
    const signals: string[] = [];
    for (let hops = random.weighted([[4, 0], [4, 1], [1, 2], [1, 3], [0.3, 8]]); hops > 0; hops--) {
      this.create("transform");
      const through = this.writables.at(-1)!.replace(".writable", "");
      this.operations.push({ kind: "pipeThrough", from, through, options: this.options(signals) }, {
        kind: "macrotask",
      });
      from = `${through}.readable`;
    }
    if (random.chance(0.15)) return; // read by hand
    this.create("writable");
    const to = this.writables.at(-1)!;
    this.operations.push({ kind: "pipeTo", from, to, options: this.options(signals) }, { kind: "macrotask" });
  }

  private options(signals: string[]): Record<string, boolean | string> {
    const { random } = this;
    const options: Record<string, boolean | string> = {};
    for (const flag of ["preventClose", "preventAbort", "preventCancel"]) {
      if (random.chance(0.25)) options[flag] = random.chance(0.8);
    }
    if (random.chance(0.35)) {
      const name = signals.length > 0 && random.chance(0.5) ? random.pick(signals) : this.signal();
      signals.push(name);
      options.signal = name;
    }
    return options;
  }

  private signal(): string {
    const name = this.name("s");
    this.operations.push({ kind: "signal", name });
    const abort = (): Operation => ({ kind: "abortSignal", on: name, error: this.streams.errorName() });
    if (this.random.chance(0.08)) this.operations.push(abort());
    this.controls.push(abort);
    return name;
  }

  private name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  private create(theme: Theme): void {
    const kind = theme === "mixed"
      ? this.random.pick(["readable", "bytes", "writable", "transform", "from"] as const)
      : theme;
    const name = this.name(kind[0]);
    switch (kind) {
      case "readable":
        this.operations.push(this.streams.readable(name));
        this.controls.push(() => this.streams.control(name));
        this.readables.push(name);
        break;
      case "bytes":
        this.operations.push(this.streams.bytes(name));
        this.controls.push(() => this.streams.byteControl(name));
        this.readables.push(name);
        this.byteStreams.push(name);
        break;
      case "writable":
        this.operations.push(this.streams.writable(name));
        this.sinks.push(name);
        this.writables.push(name);
        break;
      case "transform":
        this.operations.push(this.streams.transform(name));
        this.controls.push(() => this.streams.transformControl(name));
        this.readables.push(`${name}.readable`);
        this.writables.push(`${name}.writable`);
        break;
      case "from":
        this.operations.push(this.streams.from(name));
        this.readables.push(name);
    }
  }

  private tee(of: string): string {
    const name = this.name("tee");
    this.operations.push({ kind: "tee", name, of });
    this.readables.push(`${name}.0`, `${name}.1`);
    if (this.byteStreams.includes(of)) this.byteStreams.push(`${name}.0`, `${name}.1`);
    return `${name}.${this.random.below(2)}`;
  }

  private pause(): void {
    const { random } = this;
    const count = random.weighted([[10, 0], [4, 1], [2, 2], [1, 3], [1, 5], [1, 12]]);
    if (count > 0) this.operations.push({ kind: "microtasks", count });
    else if (random.chance(0.2)) this.operations.push({ kind: "macrotask" });
  }

  /** Returns an operation on an existing object. */
  private step(): Operation {
    const { random } = this;
    const choices: (readonly [number, () => Operation])[] = [];
    if (this.controls.length > 0) choices.push([5, () => random.pick(this.controls)()]);
    if (this.sinks.length > 0) choices.push([0.7, () => this.streams.sinkControl(random.pick(this.sinks))]);
    if (this.readables.length > 0) choices.push([2, () => this.readableStep(random.pick(this.readables))]);
    if (this.writables.length > 0) choices.push([2, () => this.writableStep(random.pick(this.writables))]);
    if (this.readers.length > 0) choices.push([6, () => this.readerStep(random.pick(this.readers))]);
    if (this.byobReaders.length > 0) choices.push([6, () => this.byobStep(random.pick(this.byobReaders))]);
    if (this.writers.length > 0) choices.push([7, () => this.writerStep(random.pick(this.writers))]);
    if (this.iterators.length > 0) choices.push([4, () => this.iteratorStep(random.pick(this.iterators))]);
    return random.weighted(choices)();
  }

  private readableStep(of: string): Operation {
    const { random } = this;
    return random.weighted<() => Operation>([
      [8, () => {
        const byob = this.byteStreams.includes(of) ? random.chance(0.65) : random.chance(0.02);
        const name = this.name(`${of}.reader`);
        (byob ? this.byobReaders : this.readers).push(name);
        return { kind: byob ? "byobReader" : "reader", name, of };
      }],
      [2, () => {
        const name = this.name(`${of}.iterator`);
        this.iterators.push(name);
        return { kind: "iterator", name, of, preventCancel: random.chance(0.4) };
      }],
      [2, () => {
        this.tee(of);
        return this.operations.pop()!;
      }],
      [1, () => ({ kind: "cancel", on: of, error: this.streams.errorName() })],
    ])();
  }

  private readerStep(on: string): Operation {
    return this.random.weighted<() => Operation>([
      [12, () => ({ kind: "read", on })],
      [2, () => ({ kind: "readerClosed", on })],
      [1.5, () => ({ kind: "releaseReader", on })],
      [1, () => ({ kind: "cancelReader", on, error: this.streams.errorName() })],
    ])();
  }

  private byobStep(on: string): Operation {
    const { random } = this;
    if (random.chance(0.25)) return this.readerStep(on);
    const min = random.weighted([[6, undefined], [2, 1], [2, 2], [2, 3], [1, 5], [0.3, 0]]);
    return { kind: "readInto", on, view: this.streams.view(), ...(min === undefined ? {} : { min }) };
  }

  private iteratorStep(on: string): Operation {
    return this.random.chance(0.8) ? { kind: "next", on } : { kind: "return", on, error: this.streams.errorName() };
  }

  private writableStep(of: string): Operation {
    return this.random.weighted<() => Operation>([
      [8, () => {
        const name = this.name(`${of}.writer`);
        this.writers.push(name);
        return { kind: "writer", name, of };
      }],
      [1, () => ({ kind: "closeWritable", on: of })],
      [1, () => ({ kind: "abort", on: of, error: this.streams.errorName() })],
    ])();
  }

  private writerStep(on: string): Operation {
    return this.random.weighted<() => Operation>([
      [12, () => ({ kind: "write", on, chunk: this.streams.chunk() })],
      [3, () => ({ kind: "ready", on })],
      [1.5, () => ({ kind: "writerClosed", on })],
      [2, () => ({ kind: "writerDesiredSize", on })],
      [2, () => ({ kind: "closeWriter", on })],
      [1, () => ({ kind: "abortWriter", on, error: this.streams.errorName() })],
      [1, () => ({ kind: "releaseWriter", on })],
    ])();
  }
}
