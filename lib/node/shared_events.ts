import type { EventEmitter } from "node:events";

/** @throws {TypeError} if a value is no stream of Node, of whatever class: if it lacks one of the methods. */
export function requireMethods(value: unknown, name: string, kind: string, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  const missing = methods.find((method) => typeof object[method] !== "function");
  if (missing === undefined) return;
  throw new TypeError(`${name} must be ${kind}: it has no ${missing}()`);
}

/** Returns the error of a stream whose other end is gone, with the code that `node:stream` gives it. */
export function prematureClose(message: string, cause: unknown): Error {
  const error = cause ? new Error(message, { cause }) : new Error(message);
  return Object.assign(error, { code: "ERR_STREAM_PREMATURE_CLOSE" });
}

/** Converts a reason to an error to destroy a stream with: without one, http2 reports success to the other end. */
export function toError(reason: unknown, message: string): Error {
  return reason instanceof Error ? reason : new Error(message, { cause: reason });
}

/** A web stream over a stream of Node, which receives that stream's events. */
export interface Follower {
  /** Whether the follower is unused at the moment: its stream is unlocked, and nothing is pending. */
  readonly isIdle: boolean;
  /** Whether the emitter's group holds the follower strongly. Only the group writes this. */
  isHeld: boolean;
  weak: WeakRef<Follower> | undefined;
  onError(error: unknown): void;
  /** Called when the emitter has finished, or ended. */
  onEnd(): void;
  onClose(): void;
}

/** The properties by which emitters hold their groups, by side: a WeakMap would make a page a tenth larger. */
const keys: Readonly<Record<"finish" | "end", symbol>> = {
  finish: Symbol("millrace, until finish"),
  end: Symbol("millrace, until end"),
};

type Groups = Record<symbol, Group | undefined>;

/** Notifies `follower` of events of `emitter` until it has closed; `end` differs for the two sides of a Duplex. */
export function follow(emitter: EventEmitter, end: keyof typeof keys, follower: Follower): void {
  ((emitter as unknown as Groups)[keys[end]] ??= new Group(emitter, end)).add(follower);
}

export function leave(emitter: EventEmitter, end: keyof typeof keys, follower: Follower): void {
  (emitter as unknown as Groups)[keys[end]]?.delete(follower);
}

/** The number of idle followers from which a group removes those that were garbage collected. */
const MIN_IDLE_TO_SWEEP = 16;

/** The web streams over one stream of Node, with shared listeners, which catch late errors until it has closed. */
class Group {
  readonly #emitter: EventEmitter;
  readonly #end: string;
  /** Followers in use, and those that were in use when the last one was added, including it. */
  #held: Follower[] = [];
  /** Others: a stream that was dropped takes no memory. Most emitters have none: a set would cost a page some percent. */
  #idle: Set<WeakRef<Follower>> | undefined = undefined;
  #many = MIN_IDLE_TO_SWEEP;
  #listens = false;

  constructor(emitter: EventEmitter, end: string) {
    this.#emitter = emitter;
    this.#end = end;
  }

  add(follower: Follower): void {
    if (this.#held.length > 0) this.#makeRoom();
    if (follower.weak !== undefined) this.#idle?.delete(follower.weak);
    this.#held.push(follower);
    follower.isHeld = true;
    if (this.#listens) return;
    this.#listens = true;
    this.#emitter.on("error", this.#onError).on(this.#end, this.#onEnd).on("close", this.#onClose);
  }

  delete(follower: Follower): void {
    this.#held = this.#held.filter((each) => each !== follower);
    if (follower.weak !== undefined) this.#idle?.delete(follower.weak);
    follower.isHeld = false;
    if (this.#all().length === 0) this.#stopListening();
  }

  #makeRoom(): void {
    const idle = this.#idle ??= new Set();
    for (const follower of this.#held) {
      follower.isHeld = !follower.isIdle;
      if (!follower.isHeld) idle.add(follower.weak ??= new WeakRef(follower));
    }
    this.#held = this.#held.filter(({ isHeld }) => isHeld);
    if (idle.size < this.#many) return;
    for (const weak of idle) if (weak.deref() === undefined) idle.delete(weak);
    this.#many = Math.max(MIN_IDLE_TO_SWEEP, 2 * idle.size);
  }

  #all(): Follower[] {
    if (this.#idle === undefined) return this.#held;
    const idle = Array.from(this.#idle, (weak) => weak.deref()).filter((follower) => follower !== undefined);
    return [...this.#held, ...idle];
  }

  readonly #onError = (error: unknown): void => this.#all().forEach((follower) => follower.onError(error));

  readonly #onEnd = (): void => this.#all().forEach((follower) => follower.onEnd());

  readonly #onClose = (): void => {
    this.#stopListening();
    this.#all().forEach((follower) => follower.onClose());
    this.#held = [];
    this.#idle = undefined;
  };

  #stopListening(): void {
    this.#listens = false;
    this.#emitter.off("error", this.#onError).off(this.#end, this.#onEnd).off("close", this.#onClose);
  }
}
