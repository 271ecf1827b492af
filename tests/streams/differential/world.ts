import { EventLog } from "./events.ts";
import type { StreamClasses } from "./implementations.ts";
import type { Chunk, Delay, Operation, Outcome, View } from "./program.ts";

const constructors = { Uint8Array, Uint16Array, Int32Array, DataView };

/** Performs one operation; `incoming` is the chunk of the callback that it stands in. */
export type Perform = (world: World, operation: Operation, incoming?: unknown) => void;

/** The objects of a running program, by name. */
export class World {
  readonly log: EventLog = new EventLog();
  readonly objects: Map<string, object> = new Map();
  readonly classes: StreamClasses;
  readonly perform: Perform;
  #waiting: { readonly key: string; readonly run: () => void }[] = [];
  readonly #counters = new Map<string, number>();
  readonly #errors = new Map<string, Error>();
  readonly #promises = new Map<unknown, string>();

  constructor(classes: StreamClasses, perform: Perform) {
    this.classes = classes;
    this.perform = perform;
  }

  add(name: string, object: object): void {
    this.objects.set(name, object);
    this.log.name(object, name);
  }

  /** Returns the object of that name; undefined if shrinking dropped the operation that creates it. */
  find<T>(name: string): T | undefined {
    return this.objects.get(name) as T | undefined;
  }

  /** Returns the error that the program calls so: the same one each time. */
  error(name: string | undefined): Error | undefined {
    if (name === undefined) return undefined;
    let error = this.#errors.get(name);
    if (error === undefined) {
      error = new Error(name);
      this.#errors.set(name, error);
      this.log.name(error, name);
    }
    return error;
  }

  /** 1, 2, 3 ... for each subject of its own, so that numbers do not depend on how objects' events interleave. */
  count(subject: string): number {
    const count = (this.#counters.get(subject) ?? 0) + 1;
    this.#counters.set(subject, count);
    return count;
  }

  /** Returns an object for the classes to read; that they do is recorded if that is comparable. */
  given<T extends object>(subject: string, object: T): T {
    if (!this.classes.readsAreEvents) return object;
    return new Proxy(object, {
      get: (target, member, receiver): unknown => {
        if (typeof member === "string") this.log.record(subject, `${member} is read`);
        return Reflect.get(target, member, receiver);
      },
    });
  }

  chunk(chunk: Chunk, subject: string, incoming: unknown): unknown {
    if (chunk === "incoming") return incoming;
    if (chunk === "undefined") return undefined;
    if (chunk === "fresh") return `${subject}:${this.count(subject)}`;
    return this.view(chunk, subject);
  }

  /** Returns a view as described, whose buffer is filled with numbers that identify it. */
  view({ type, length, offset, rest }: View, subject: string): ArrayBufferView<ArrayBuffer> {
    const unit = type === "DataView" ? 1 : constructors[type].BYTES_PER_ELEMENT;
    const buffer = new ArrayBuffer(offset + length * unit + rest);
    const first = this.count(subject) * 16;
    new Uint8Array(buffer).forEach((_, at, bytes) => bytes[at] = first + at);
    const construct = constructors[type] as new (
      ...parts: [ArrayBuffer, number, number]
    ) => ArrayBufferView<ArrayBuffer>;
    return new construct(buffer, offset, length);
  }

  /** Records how a promise that a getter returned settles, once; and which of its promises it was. */
  watchGetter(subject: string, getter: string, promise: unknown): void {
    const known = this.#promises.get(promise);
    if (known !== undefined) return this.log.record(subject, `${getter} is ${known}`);
    const name = `${getter}@${this.count(`${subject} ${getter}`)}`;
    this.#promises.set(promise, name);
    this.log.record(subject, `${getter} is new: ${name}`);
    this.log.watch(subject, name, promise);
  }

  /**
   * Continues when nothing else happens. Callbacks that wait for a macrotask are then released one at a time, in the
   * order of their names, since the order in which they started to wait may depend on microtasks.
   */
  async turn(): Promise<void> {
    await macrotask();
    const waiting = this.#waiting.sort((one, other) => one.key < other.key ? -1 : 1);
    this.#waiting = [];
    for (const { run } of waiting) {
      run();
      await macrotask();
    }
    this.log.turn++;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Ends a callback as the program says: returns or throws its outcome. */
  end(outcome: Outcome, subject: string): unknown {
    switch (outcome.kind) {
      case "return":
        return undefined;
      case "throw":
        throw this.error(outcome.error);
      case "never":
        return new Promise(() => {});
      case "thenable":
        return { then: (resolve: (value?: unknown) => void): void => resolve() };
      case "resolve":
        return new Promise<void>((resolve) => this.#after(outcome.delay, subject, resolve));
      case "reject": {
        const reason = this.error(outcome.error);
        return new Promise<void>((_, reject) => this.#after(outcome.delay, subject, () => reject(reason)));
      }
    }
  }

  #after(delay: Delay, subject: string, run: () => void): void {
    if (delay !== "macrotask") return afterMicrotasks(delay.microtasks, run);
    const turn = String(this.count(`${subject} waits`)).padStart(3, "0");
    this.#waiting.push({ key: `${subject} ${turn}`, run });
  }
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function afterMicrotasks(count: number, run: () => void): void {
  if (count === 0) run();
  else queueMicrotask(() => afterMicrotasks(count - 1, run));
}
