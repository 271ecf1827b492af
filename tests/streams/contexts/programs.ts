import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { randomNumbers } from "../../support/random_numbers.ts";
import type { StreamClasses } from "../differential/implementations.ts";

/** The streams that programs are made of. */
export interface ProgramClasses extends StreamClasses {
  /** Additional transforms of numbers. */
  readonly transforms?: readonly ((numbers: ReadableStream<number>) => ReadableStream<number>)[];
  /** Makes a sink of batches. */
  readonly batched?: (writev: (chunks: number[]) => Promise<void> | undefined) => WritableStream<number>;
  /** Makes one more source; `take` is called for each of its chunks. */
  readonly source?: (take: () => void) => ReadableStream<number>;
}

/** The context that a callback runs in. */
const context: AsyncLocalStorage<string> = new AsyncLocalStorage<string>();

/** Returns a whole number from 0 up to, but not including, `below`. */
type Random = (below: number) => number;

/** The promises that programs wait for: their own, and shared ones such as a cold start, a flag or a lock. */
export class Wakes {
  #shared: Promise<void> | undefined;

  /** Returns a promise by its number, some of them shared; undefined for other numbers. */
  at(kind: number): Promise<void> | undefined {
    switch (kind) {
      case 0:
        return this.#sharedOne();
      case 1:
        return endOfTurn();
      case 2:
        return Promise.resolve();
      case 3:
        return this.#sharedOne().then(() => {});
      default:
        return undefined;
    }
  }

  #sharedOne(): Promise<void> {
    return this.#shared ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#shared = undefined;
        resolve();
      });
    });
  }
}

/** The number of runs of each callback in each context. */
export type Seen = Map<string, Map<string, number>>;

/** The seed and settings of a random program of streams. */
export interface ProgramOptions {
  /** The seed: the same number yields the same program. */
  readonly seed: number;
  readonly wakes: Wakes;
  /**
   * The number of contexts in which its streams are made, piped and read. With one, none of its callbacks may run in
   * another, unless a chunk is enqueued from elsewhere.
   */
  readonly contexts: number;
}

/** Runs a program, and returns the contexts in which its callbacks ran. */
export async function runProgram(classes: ProgramClasses, options: ProgramOptions): Promise<Seen> {
  const program = new Program(classes, options);
  await program.run();
  return program.seen;
}

class Program {
  readonly seen: Seen = new Map();
  readonly #classes: ProgramClasses;
  readonly #options: ProgramOptions;
  readonly #random: Random;
  #named = 0;

  constructor(classes: ProgramClasses, options: ProgramOptions) {
    this.#classes = classes;
    this.#options = options;
    this.#random = randomNumbers(options.seed * 7919 + 1);
    for (let i = 0; i < 5; i++) this.#random(2); // neighbouring seeds begin alike
  }

  async run(): Promise<void> {
    const random = this.#random;
    let readable = this.#somewhere(() => this.#source());
    for (let i = random(4); i > 0; i--) {
      const { transforms = [] } = this.#classes;
      const special = transforms[random(3 * transforms.length)];
      if (special) {
        const from = readable;
        readable = this.#somewhere(() => special(from));
        continue;
      }
      const transform = this.#somewhere(() => this.#transform());
      const from = readable;
      readable = this.#somewhere(() => from.pipeThrough(transform));
    }
    if (random(4) > 0) return await this.#consume(readable);
    const branches = this.#somewhere(() => readable.tee());
    await Promise.all(branches.map((branch) => this.#consume(branch)));
  }

  /** Runs `steps` in one of the program's contexts. */
  #somewhere<T>(steps: () => T): T {
    return context.run(`${this.#options.seed}.${this.#random(this.#options.contexts)}`, steps);
  }

  #take(name: string): void {
    const counts = this.seen.get(name) ?? new Map<string, number>();
    this.seen.set(name, counts);
    const store = context.getStore() ?? "none";
    counts.set(store, (counts.get(store) ?? 0) + 1);
  }

  /** Returns a name for a callback, the same in each run of the program. */
  #name(callback: string): string {
    return `${callback} ${this.#named++}`;
  }

  #source(): ReadableStream<number> {
    const { ReadableStream } = this.#classes;
    const { wakes } = this.#options;
    const take = this.#take.bind(this);
    const [kind, wake, highWaterMark] = [this.#random(5), this.#random(5), this.#random(3)];
    let left = 1 + this.#random(12);
    const name = this.#name("source");
    const { source: another } = this.#classes;
    if (another && this.#random(10) === 0) return another(() => take(`${name} gives`));
    if (kind === 0) {
      const generate = async function* (): AsyncGenerator<number> {
        for (; left > 0; left--) {
          take(`${name} generates`);
          await wakes.at(wake);
          take(`${name} has waited`);
          yield left;
        }
      };
      return (ReadableStream as unknown as { from(source: AsyncIterable<number>): ReadableStream<number> })
        .from(generate());
    }
    if (kind === 1) {
      const start = async (controller: ReadableStreamDefaultController<number>): Promise<void> => {
        for (; left > 0; left--) {
          await wakes.at(wake);
          take(`${name} has waited`);
          controller.enqueue(left);
        }
        controller.close();
      };
      return new ReadableStream<number>({ start }, { highWaterMark });
    }
    const pull = async (controller: ReadableStreamController<never>): Promise<void> => {
      take(`${name} is pulled`);
      if (wake < 4) await wakes.at(wake);
      take(`${name} has waited`);
      controller.enqueue((kind === 2 ? new Uint8Array([left]) : left) as never);
      if (--left === 0) controller.close();
    };
    const source = { pull, ...(kind === 2 && { type: "bytes" }) } as UnderlyingDefaultSource<number>;
    return new ReadableStream<number>(source, { highWaterMark });
  }

  #transform(): ReadableWritablePair<number, number> {
    const { TransformStream } = this.#classes;
    const { wakes } = this.#options;
    const [wake, writable, readable] = [this.#random(7), 1 + this.#random(2), this.#random(3)];
    const name = this.#name("transform");
    const transform = (chunk: number, controller: TransformStreamDefaultController<number>): Promise<void> | void => {
      this.#take(`${name} transforms`);
      const woken = wakes.at(wake);
      if (woken === undefined) return controller.enqueue(chunk);
      return woken.then(() => controller.enqueue(chunk));
    };
    const flush = async (): Promise<void> => {
      this.#take(`${name} flushes`);
      await wakes.at(wake);
      this.#take(`${name} has flushed`);
    };
    return new TransformStream<number, number>(
      wake === 6 ? {} : { transform, flush },
      { highWaterMark: writable },
      { highWaterMark: readable },
    );
  }

  async #consume(readable: ReadableStream<number>): Promise<void> {
    const { WritableStream } = this.#classes;
    const { wakes } = this.#options;
    const [kind, wake, highWaterMark] = [this.#random(5), this.#random(6), 1 + this.#random(2)];
    const name = this.#name("consumer");
    if (kind === 0) {
      return await this.#somewhere(async () => {
        for await (const _ of readable) {
          this.#take(`${name} iterates`);
          await wakes.at(wake);
        }
      });
    }
    if (kind === 1) {
      return await this.#somewhere(async () => {
        const reader = readable.getReader();
        while (!(await reader.read()).done) this.#take(`${name} reads`);
      });
    }
    const write = (): Promise<void> | undefined => {
      this.#take(`${name} writes`);
      return wakes.at(wake);
    };
    const { batched } = this.#classes;
    if (batched && this.#random(3) === 0) {
      const writable = this.#somewhere(() => batched(write));
      return await this.#somewhere(() => readable.pipeTo(writable));
    }
    const close = (): void => this.#take(`${name} closes`);
    const writable = this.#somewhere(() => new WritableStream<number>({ write, close }, { highWaterMark }));
    await this.#somewhere(() => readable.pipeTo(writable));
  }
}
