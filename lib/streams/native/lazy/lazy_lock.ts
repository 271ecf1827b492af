import { isObject } from "../../language/webidl.ts";
import { putInPlace, sampleOf, type StandIn, standInFor } from "./native_prototype.ts";

/** A lock of one of the runtime's streams: a reader or a writer. */
interface NativeLock {
  releaseLock(): void;
}

export interface LockState {
  readonly stream: { readonly shell: object | undefined; readonly nativeSide: object | undefined } | undefined;
  /** The lock of the native side in its place; see {@linkcode makeLockLazily}. */
  nativeSide: NativeLock | undefined;
  /** Of all states of the class, but of those by which the native side locks our stream. */
  readonly lazyLock?: LazyLock | undefined;
}

/** The runtime's class, and how it goes with ours. */
interface Native {
  readonly native: StandIn & (new (stream: never) => NativeLock);
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

  /** Locks the native side of a stream that is locked now, be it by a pipe or an iterator, if that is there. */
  lock(state: LockState): void {
    const { nativeSide } = state.stream!;
    if (nativeSide !== undefined) state.nativeSide = new this.#native.native(nativeSide as never);
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

/**
 * Lets readers or writers of ours go without their native side until the runtime looks for it, as
 * {@linkcode makeNativeSideLazily} does with streams: while a stream has no native side, nothing need lock that.
 */
export function makeLockLazily(State: { prototype: LockState }, toNative: () => Native): void {
  const natives = toNative();
  const { native } = natives;
  const sample = sampleOf(native, () => makeDetached(natives));
  const { releaseLock } = native.prototype as NativeLock;
  const lazyLock = new LazyLock(natives);
  const isMade = putInPlace(
    native,
    sample,
    (lock) => lazyLock.sideOf(lock),
    (sideOf) => standInFor(native, sample, Object.create(native.prototype), sideOf, () => {}),
    [function (this: object) {
      releaseLock.call(this);
      return true;
    }],
  );
  if (isMade) Object.defineProperty(State.prototype, "lazyLock", { value: lazyLock });
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
export function findStates(State: { prototype: LockState }, stateOf: StateOf): void {
  const { lazyLock } = State.prototype;
  if (lazyLock !== undefined) lazyLock.stateOf = stateOf;
}

/** Whether the release of a lock of ours has released that, too; otherwise `super.releaseLock()` has to. */
export function unlockLazily(state: LockState): boolean {
  return state.lazyLock !== undefined;
}

/** Locks the native side of a stream, which has just been made, if the stream is locked, be it by a pipe or an iterator. */
export function lockNewSide(state: LockState | undefined): void {
  state?.lazyLock?.lock(state);
}
