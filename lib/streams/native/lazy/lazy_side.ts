import { isObject } from "../../language/webidl.ts";
import type { WritableStreamState } from "../../writable/stream_state.ts";
import {
  gettersOf,
  type NativeSideOf,
  type OwnState,
  putInPlace,
  sampleOf,
  type StandIn,
  standInFor,
  transferMarkOf,
} from "./native_prototype.ts";

const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;

/** The TransformStream class and its getter. */
let ours: object;
let getWritable: unknown;
let stateOf: (transform: object) => { readonly writable: WritableStreamState } | undefined;

/** Called once, by the TransformStream class. */
export function setTransformStateOf({ prototype }: { readonly prototype: object }, given: typeof stateOf): void {
  ours = prototype;
  getWritable = getOwnPropertyDescriptor(prototype, "writable")!.get;
  stateOf = given;
}

/**
 * Makes an end for the stream that `pair.writable` gives, where `pair` is a TransformStream of ours and nobody has put
 * another getter in the place of the class's: so that stream needs no object, and on Bun no native side, as long as
 * nobody looks at it.
 */
export function unseenWritableEnd<End>(
  pair: unknown,
  End: new (state: WritableStreamState) => End,
): End | undefined {
  if (!isObject(pair) || getPrototypeOf(pair) !== ours || hasOwn(pair, "writable")) return undefined;
  if (getOwnPropertyDescriptor(ours, "writable")?.get !== getWritable) return undefined;
  const state = stateOf(pair);
  return state && new End(state.writable);
}

export { EagerFeed } from "./eager_feed.ts";
export { lightSideOf } from "./light_side.ts";
export { staysLazy } from "./native_prototype.ts";
export { WatchedReadableFeed } from "./watched_feeds.ts";
export { closeEndedSide, WatchedWritableFeed } from "./watched_feeds.ts";
export { findStates, makeLockLazily } from "./lazy_lock.ts";

/** A class of streams of the runtime's. */
type StreamClass = StandIn & (new () => object);

/**
 * Lets streams of ours go without their native side until the runtime looks for it, where that can be: most never leave
 * our code, and the runtime's constructor takes longer than ours.
 *
 * Node and Deno keep what they know of a stream in properties named by symbols, by which they also tell their streams
 * from other objects. A class between ours and theirs has accessors of these names, which read and write the
 * properties of an object that the runtime's own constructor makes at that time. Whatever the runtime does with a stream
 * of ours, it does with that object's properties, and the readers, writers and controllers of that object find the same
 * there. What is looked for without a property is marked at once: see {@linkcode transferMarkOf}.
 *
 * Other runtimes have internal slots, which a constructor alone can make: there every stream is made by it.
 *
 * @returns whether `super()` makes no native side: then a class stands in the place of the runtime's, which ours is to
 * extend, until it is made; `staysLazy()` has the last word on it.
 */
export function makeNativeSideLazily(
  native: StreamClass,
  sideOf: NativeSideOf,
  own?: OwnState,
): boolean {
  const sample = sampleOf(native, () => new native());
  const makeStandIn = (sideOf: NativeSideOf): StandIn | undefined => {
    const prototype = Object.create(native.prototype);
    const mark = transferMarkOf(sample, prototype);
    if (mark === undefined) return undefined;
    return standInFor(native, sample, prototype, sideOf, mark, own);
  };
  return putInPlace(native, sample, sideOf, makeStandIn, gettersOf(native.prototype));
}

/**
 * Puts the ends of a transform stream of ours in the place of those of its native side, wherever that keeps them, so that
 * the runtime transfers ours, and locks them.
 */
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
