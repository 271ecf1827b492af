import { isObject } from "../../language/webidl.ts";
import type { LockState, NativeLock } from "../native_locks.ts";
import { putInPlace, sampleOf, type StandIn, standInFor } from "./native_prototype.ts";

/** The runtime's class, and how it goes with ours. */
interface Native {
  readonly native: StandIn & { readonly prototype: NativeLock } & (new (stream: never) => NativeLock);
  /** A stream that can be locked so. */
  makeStream(): object;
  /** Has the runtime look for the native side of a stream. */
  look(stream: object): void;
}

type StateOf = (lock: object) => LockState | undefined;

/** A maker of the native sides of a class of readers or writers. */
class LazyLock {
  readonly #native: Native;
  #released: NativeLock | undefined;
  stateOf: StateOf = () => undefined;

  constructor(native: Native) {
    this.#native = native;
  }

  /** The native side of a lock, now that the runtime looks for it. */
  sideOf(lock: object): NativeLock | undefined {
    const state = this.stateOf(lock);
    if (state === undefined || state.nativeSide !== undefined) return state?.nativeSide;
    if (state.stream === undefined) return this.#releasedSample();
    this.#native.look(state.stream.shell!); // makes the stream's native side, which the lock then locks
    return state.nativeSide;
  }

  /** Not made before it is needed: for the error of the first release Node makes a realm, which takes as long as all else. */
  #releasedSample(): NativeLock {
    if (this.#released === undefined) {
      this.#released = new this.#native.native(this.#native.makeStream() as never);
      this.#released.releaseLock();
    }
    return this.#released;
  }
}

/** By the class of their states. */
const lazyLocks = new Map<object, LazyLock>();

/**
 * Lets readers or writers of ours go without their native side until the runtime looks for it, as
 * {@linkcode makeNativeSideLazily} does with streams: while a stream has no native side, nothing need lock that.
 *
 * @returns whether that can be.
 */
export function makeLockLazily(native: Native["native"], State: object, ways: Omit<Native, "native">): boolean {
  const natives = { native, ...ways };
  const sample = sampleOf(native, () => makeDetached(natives));
  const { releaseLock } = native.prototype;
  const lazyLock = new LazyLock(natives);
  lazyLocks.set(State, lazyLock);
  return putInPlace(
    native,
    sample,
    (lock) => lazyLock.sideOf(lock),
    (sideOf) => standInFor(native, sample, Object.create(native.prototype), sideOf, () => {}),
    [function (this: object) {
      releaseLock.call(this);
      return true;
    }],
  );
}

/**
 * A lock of the runtime's that looks as if it had been released, so that to release it does nothing: the runtime lets no
 * lock go but for the object that holds it. To release it would be the same, but for the error that it would hold then.
 */
function makeDetached({ native, makeStream }: Native): object {
  const stream = makeStream();
  const lock = new native(stream as never);
  const records = Reflect.ownKeys(lock).map((key) => Reflect.get(lock, key)).filter(isObject);
  for (const holder of [lock, ...records]) {
    for (const key of Reflect.ownKeys(holder)) {
      if (Reflect.get(holder, key) === stream) Reflect.set(holder, key, undefined);
    }
  }
  return lock;
}

/** Says how the states of a class are found, once the class is made. */
export function findStates(State: object, stateOf: StateOf): void {
  lazyLocks.get(State)!.stateOf = stateOf;
}
