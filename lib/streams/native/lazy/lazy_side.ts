import { isLikeNative, type NativeSideOf, type StreamClass } from "./lazy_side_check.ts";
import { transferMarkOf } from "./transfer_mark.ts";

type Properties = Record<PropertyKey, unknown>;

/**
 * Lets streams of ours go without their native side until the runtime looks for it, where that can be: most never leave
 * our code, and the runtime's constructor takes longer than ours.
 *
 * Node and Deno keep what they know of a stream in properties named by symbols, by which they also tell their streams
 * from other objects. A class put between ours and theirs has accessors of these names, which read and write the
 * properties of an object that the runtime's own constructor makes at that time. Whatever the runtime does with a stream
 * of ours, it does with that object's properties, and the readers, writers and controllers of that object find the same
 * there. What is looked for without a property is marked at once: see {@linkcode transferMarkOf}.
 *
 * Other runtimes have internal slots, which a constructor alone can make: there every stream is made by it.
 *
 * @param ours the class, with all that it answers itself on its prototype.
 * @param onClosed called when the runtime closes the native side as one of its own, by writing so to ours.
 * @returns whether `super()` makes no native side from now on; if not, the class is left as it is.
 */
export function makeNativeSideLazily(
  ours: StreamClass,
  native: StreamClass,
  sideOf: NativeSideOf,
  onClosed?: (stream: object) => void,
): boolean {
  const sample = new native();
  if (!hasOnlySymbols(sample)) return false;
  const keys = Reflect.ownKeys(sample).filter((key) => !Object.hasOwn(ours.prototype, key));
  const makeStandIn = (sideOf: NativeSideOf): StreamClass | undefined =>
    standInFor(native, sample, keys, sideOf, onClosed);
  if (!isLikeNative(sample, native.prototype, makeStandIn)) return false;
  const StandIn = makeStandIn(sideOf)!;
  Object.setPrototypeOf(ours, StandIn);
  Object.setPrototypeOf(ours.prototype, StandIn.prototype);
  return true;
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

function hasOnlySymbols(sample: object): boolean {
  const keys = Reflect.ownKeys(sample);
  return keys.length > 0 && keys.every((key) => {
    const { writable, configurable } = Object.getOwnPropertyDescriptor(sample, key)!;
    return typeof key === "symbol" && writable === true && configurable === true;
  });
}

/** A class that extends the runtime's, without its constructor; `undefined` if its instances cannot be marked. */
function standInFor(
  native: StreamClass,
  sample: object,
  keys: PropertyKey[],
  sideOf: NativeSideOf,
  onClosed?: (stream: object) => void,
): StreamClass | undefined {
  const prototype = Object.create(native.prototype);
  const mark = transferMarkOf(sample, prototype);
  if (mark === undefined) return undefined;
  const names = keys.filter((key) => Reflect.get(sample, key) === native.name);
  for (const key of names) Object.defineProperty(prototype, key, { value: native.name });
  const others = keys.filter((key) => !Object.hasOwn(prototype, key));
  const isShared = isRecord(sample, others);
  for (const key of others) Object.defineProperty(prototype, key, delegate(key, sideOf, isShared, onClosed));
  function StandIn(this: object): void {
    mark!(this);
  }
  Object.setPrototypeOf(StandIn, native);
  StandIn.prototype = prototype;
  return StandIn as unknown as StreamClass;
}

/** Node has all that changes of a stream in one object, which our stream can share with its native side. */
function isRecord(sample: object, keys: PropertyKey[]): boolean {
  return keys.length === 1 && typeof Reflect.get(sample, keys[0]) === "object";
}

function delegate(
  key: PropertyKey,
  sideOf: NativeSideOf,
  isShared: boolean,
  onClosed?: (stream: object) => void,
): PropertyDescriptor & ThisType<object> {
  return {
    get() {
      const side = sideOf(this) as Properties | undefined;
      if (side === undefined) return undefined;
      const value = side[key];
      if (isShared) define(this, key, value); // so that it is found without us from now on
      return value;
    },
    set(value) {
      const side = sideOf(this) as Properties | undefined;
      if (side === undefined) return define(this, key, value); // the runtime's constructor made it with our prototype
      side[key] = value;
      if (value === "closed") onClosed?.(this);
    },
    configurable: true,
  };
}

/** Does nothing to an object that is frozen: the accessors go on answering for it. */
function define(stream: object, key: PropertyKey, value: unknown): void {
  Reflect.defineProperty(stream, key, { value, writable: true, enumerable: true, configurable: true });
}
