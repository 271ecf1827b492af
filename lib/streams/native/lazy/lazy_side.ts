import { isObject } from "../../language/webidl.ts";
import type { LockState, NativeLock } from "../native_locks.ts";
import {
  type BareSubclass,
  gettersOf,
  makeBareSubclass,
  type NativeSideOf,
  type OwnState,
  putInPlace,
  sampleOf,
  transferMarkOf,
} from "./native_prototype.ts";

export { isNativeClosing, staysLazy } from "./native_prototype.ts";
export { adoptOwnClosedPromise, answerNode, closeIfEmpty } from "./node_interop.ts";
export { EagerFeed, endedSideOf, lightSideOf, WatchedReadableFeed } from "./runtime_feeds.ts";

/** A class of the runtime's streams. */
type StreamClass = BareSubclass & (new () => object);

/**
 * Postpones the native side of streams until the runtime reads it, if possible. Most streams never reach the runtime,
 * and its constructor takes longer than this package's.
 *
 * Node and Deno keep the state of a stream in properties named by symbols, which also serve as brands. A class between
 * this package's and the native one has accessors of these names. At the first access, the native constructor makes an
 * object, whose properties the accessors read and write from then on. The native readers, writers and controllers of
 * that object thus share one state. The serializer's mark is no property and is set at once: see {@linkcode
 * transferMarkOf}.
 *
 * Other runtimes have internal slots, which only a constructor can make: it makes each stream there.
 *
 * @returns whether `super()` makes no native side: then a stand-in for the native class is to be extended, until
 * `staysLazy()` has decided.
 */
export function makeNativeSideLazily(
  native: StreamClass,
  sideOf: NativeSideOf,
  own?: OwnState,
): boolean {
  const sample = sampleOf(native, () => new native());
  const makeStandIn = (sideOf: NativeSideOf): BareSubclass | undefined => {
    const prototype = Object.create(native.prototype);
    const mark = transferMarkOf(sample, prototype);
    if (mark === undefined) return undefined;
    return makeBareSubclass(native, sample, prototype, sideOf, mark, own);
  };
  return putInPlace(native, sample, sideOf, makeStandIn, gettersOf(native.prototype));
}

/** Replaces the ends of a native transform stream with this package's, so that the runtime transfers and locks these. */
export function withEndsOf(pair: ReadableWritablePair, side: ReadableWritablePair & object): object {
  const { readable, writable } = side;
  const record = Reflect.ownKeys(side).map((key) => Reflect.get(side, key)).find((value) =>
    value?.readable === readable
  );
  const holder = record ?? side;
  for (const key of Reflect.ownKeys(holder)) {
    const value = Reflect.get(holder, key);
    if (value === readable) Reflect.set(holder, key, pair.readable);
    else if (value === writable) Reflect.set(holder, key, pair.writable);
  }
  return side;
}

/** The runtime's class, and how this package's class differs from it. */
interface Native {
  readonly native: BareSubclass & { readonly prototype: NativeLock } & (new (stream: never) => NativeLock);
  /** Makes a stream that a reader or writer of the class can lock. */
  makeStream(): object;
  /** Makes the runtime access the native side of a stream. */
  look(stream: object): void;
}

type StateOf = (lock: object) => LockState | undefined;

const lockStates = new Map<string, StateOf>();

/** Sets the function that finds the states of a class of locks, once the class exists. */
export function findStates(name: string, stateOf: StateOf): void {
  lockStates.set(name, stateOf);
}

/** Postpones the native side of readers or writers, like {@linkcode makeNativeSideLazily}; returns whether that is possible. */
export function makeLockLazily(name: string, nativesOf: () => Native): boolean {
  const natives = nativesOf();
  const { native, makeStream, look } = natives;
  const { releaseLock } = native.prototype;
  const sample = sampleOf(native, () => makeDetached(natives));
  let released: NativeLock | undefined;
  const sideOf: NativeSideOf = (lock) => {
    const state = lockStates.get(name)?.(lock);
    if (state === undefined || state.nativeSide !== undefined) return state?.nativeSide;
    if (state.stream !== undefined) {
      look(state.stream.shell!); // makes the stream's native side, so that the lock below locks it
      return state.nativeSide;
    }
    // Made late: for the error of its first release, Node creates a realm, which takes as long as all else.
    if (released === undefined) {
      released = new native(makeStream() as never);
      released.releaseLock();
    }
    return released;
  };
  const makeStandIn = (sideOf: NativeSideOf): BareSubclass =>
    makeBareSubclass(native, sample, Object.create(native.prototype), sideOf, () => {});
  return putInPlace(native, sample, sideOf, makeStandIn, [function (this: object) {
    releaseLock.call(this);
    return true;
  }]);
}

/**
 * Makes a native lock that seems released, so that releasing it does nothing: the runtime unlocks a stream only for the
 * current lock. A lock that was really released would have another error.
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
