import { isLikeNative } from "./lazy_side_check.ts";
import { transferMarkOf } from "./transfer_mark.ts";

/** A stream class, of ours or the runtime's. */
export type StreamClass = new () => object;

/**
 * The native side of a stream: an object of the runtime's own class that stands for it, made at the first call;
 * `undefined` for what is no stream of the class.
 */
export type NativeSideOf = (stream: object) => object | undefined;

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
 * @returns whether `super()` makes no native side from now on; if not, the class is left as it is.
 */
export function makeNativeSideLazily(ours: StreamClass, native: StreamClass, sideOf: NativeSideOf): boolean {
  const sample = new native();
  const isLazy = hasOnlySymbols(sample) &&
    isLikeNative(sample, native.prototype, (sampleSideOf) => standInFor(native, sample, sampleSideOf));
  if (!isLazy) return false;
  const StandIn = standInFor(native, sample, sideOf)!;
  Object.setPrototypeOf(ours, StandIn);
  Object.setPrototypeOf(ours.prototype, StandIn.prototype);
  return true;
}

function hasOnlySymbols(sample: object): boolean {
  const keys = Reflect.ownKeys(sample);
  return keys.length > 0 && keys.every((key) => {
    const { writable, configurable } = Object.getOwnPropertyDescriptor(sample, key)!;
    return typeof key === "symbol" && writable === true && configurable === true;
  });
}

/** A class that extends the runtime's, without its constructor. */
function standInFor(native: StreamClass, sample: object, sideOf: NativeSideOf): StreamClass | undefined {
  const prototype = Object.create(native.prototype);
  for (const key of Reflect.ownKeys(sample)) delegate(prototype, key, sideOf);
  const mark = transferMarkOf(sample, prototype);
  if (mark === undefined) return undefined;
  function StandIn(this: object): void {
    mark!(this);
  }
  Object.setPrototypeOf(StandIn, native);
  StandIn.prototype = prototype;
  return StandIn as unknown as StreamClass;
}

function delegate(prototype: object, key: PropertyKey, sideOf: NativeSideOf): void {
  Object.defineProperty(prototype, key, {
    get(this: object): unknown {
      const side = sideOf(this);
      return side === undefined ? undefined : Reflect.get(side, key);
    },
    set(this: object, value: unknown): void {
      const side = sideOf(this);
      // What is no stream of the class may be one that the runtime's constructor makes with our prototype.
      if (side !== undefined) Reflect.set(side, key, value);
      else Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
    configurable: true,
  });
}
