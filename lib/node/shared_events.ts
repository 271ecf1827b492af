import type { EventEmitter } from "node:events";

/**
 * Makes sure that an argument is a stream of Node, of whatever class: it has the methods of one.
 *
 * @throws {TypeError} if one is missing.
 */
export function requireMethods(value: unknown, name: string, kind: string, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  const missing = methods.find((method) => typeof object[method] !== "function");
  if (missing === undefined) return;
  throw new TypeError(`${name} must be ${kind}: it has no ${missing}()`);
}

/** An error of a stream whose other end went away, with the code that `node:stream` gives it. */
export function prematureClose(message: string, cause: unknown): Error {
  const error = cause ? new Error(message, { cause }) : new Error(message);
  return Object.assign(error, { code: "ERR_STREAM_PREMATURE_CLOSE" });
}

/** A reason as an error to destroy a stream with: without one, http2 would tell the other end that all is well. */
export function toError(reason: unknown, message: string): Error {
  return reason instanceof Error ? reason : new Error(message, { cause: reason });
}

/** A stream of ours over a stream of Node, as told of that one's events. */
export interface Follower {
  /** Whether nobody uses it at the moment: it is not locked, and nothing is pending. */
  readonly isIdle: boolean;
  /** Whether the emitter's group holds it. The group alone writes it, as the next one. */
  isHeld: boolean;
  weak: WeakRef<Follower> | undefined;
  onError(error: unknown): void;
  /** The emitter has finished, or ended. */
  onEnd(): void;
  onClose(): void;
}

/**
 * The events that followers are told of: the one of the end is another for each side of a Duplex.
 *
 * The followers of an emitter are kept on it, below a symbol: a WeakMap would cost a page a tenth.
 */
export class SharedEvents {
  readonly #end: "finish" | "end";
  readonly #key: symbol;

  constructor(end: "finish" | "end") {
    this.#end = end;
    this.#key = Symbol(`millrace, until ${end}`);
  }

  /** Tells `follower` of what happens to `emitter`, until it has closed. */
  follow(emitter: EventEmitter, follower: Follower): void {
    const groups = emitter as unknown as Record<symbol, Group | undefined>;
    (groups[this.#key] ??= new Group(emitter, this.#end)).add(follower);
  }

  leave(emitter: EventEmitter, follower: Follower): void {
    (emitter as unknown as Record<symbol, Group | undefined>)[this.#key]?.delete(follower);
  }
}

/** From how many followers that nobody uses on it is seen which of them are still there. */
const MANY = 16;

/**
 * The streams of ours over one stream of Node. They share its listeners: many pipes with `preventClose` into one
 * writable, one after the other, add none. Until the emitter has closed, what listens also keeps late errors from being
 * uncaught.
 */
class Group {
  readonly #emitter: EventEmitter;
  readonly #end: string;
  /** The last one that was added. Most emitters have no other: a set for it would cost a page some percent. */
  #last: Follower | undefined = undefined;
  /** Others that are in use, or were when the last one was added. */
  #held: Set<Follower> | undefined = undefined;
  /** Others that are not: a stream that was dropped takes no memory. */
  #idle: Set<WeakRef<Follower>> | undefined = undefined;
  #many = MANY;
  #listens = false;

  constructor(emitter: EventEmitter, end: string) {
    this.#emitter = emitter;
    this.#end = end;
  }

  add(follower: Follower): void {
    const { weak } = follower;
    if (weak !== undefined) this.#idle?.delete(weak);
    if (this.#last !== undefined) this.#makeRoom(this.#last);
    this.#last = follower;
    follower.isHeld = true;
    if (this.#listens) return;
    this.#listens = true;
    this.#emitter.on("error", this.#onError).on(this.#end, this.#onEnd).on("close", this.#onClose);
  }

  delete(follower: Follower): void {
    if (this.#last === follower) this.#last = undefined;
    this.#held?.delete(follower);
    if (follower.weak !== undefined) this.#idle?.delete(follower.weak);
    follower.isHeld = false;
    if (this.#all().length === 0) this.#stopListening();
  }

  #makeRoom(last: Follower): void {
    const held = this.#held ??= new Set();
    const idle = this.#idle ??= new Set();
    held.add(last);
    for (const follower of held) {
      if (!follower.isIdle) continue;
      held.delete(follower);
      follower.isHeld = false;
      idle.add(follower.weak ??= new WeakRef(follower));
    }
    if (idle.size < this.#many) return;
    for (const weak of idle) if (weak.deref() === undefined) idle.delete(weak);
    this.#many = Math.max(MANY, 2 * idle.size);
  }

  #all(): Follower[] {
    const all = [this.#last, ...this.#held ?? [], ...Array.from(this.#idle ?? [], (weak) => weak.deref())];
    return all.filter((follower) => follower !== undefined);
  }

  #tell(tell: (follower: Follower) => void): void {
    if (this.#held === undefined && this.#last !== undefined) tell(this.#last);
    else this.#all().forEach(tell);
  }

  readonly #onError = (error: unknown): void => this.#tell((follower) => follower.onError(error));

  readonly #onEnd = (): void => this.#tell((follower) => follower.onEnd());

  readonly #onClose = (): void => {
    this.#stopListening();
    this.#tell((follower) => follower.onClose());
    this.#last = this.#held = this.#idle = undefined;
  };

  #stopListening(): void {
    this.#listens = false;
    this.#emitter.off("error", this.#onError).off(this.#end, this.#onEnd).off("close", this.#onClose);
  }
}
