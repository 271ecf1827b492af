import { farFromTop } from "./far_from_top.ts";
import {
  howCloningFails,
  isLikeNative,
  type MakeStandIn,
  type Member,
  type NativeSideOf,
  type StandIn,
} from "./lazy_side_check.ts";
import { knowsKeys } from "./sample.ts";
import type { TransferMark } from "./transfer_mark.ts";

type Properties = Record<PropertyKey, unknown>;

type Class = StandIn & (new (...args: never[]) => object);

/** Whether one class was seen to mark its objects. */
let isTried = false;

/** The global that a class stands in for at the moment. */
let replaced: { readonly name: string; readonly before: PropertyDescriptor } | undefined;

/**
 * Puts a class in the place of the runtime's, until {@linkcode putBack}, if the runtime takes its instances for its own:
 * a class that is made meanwhile and extends the global extends it. (To set the prototypes of a class later keeps V8 from
 * compiling its constructor: a new ReadableStream took 1.6 times as long.)
 */
export function putInPlace(
  native: StandIn,
  sample: object,
  sideOf: NativeSideOf,
  makeStandIn: MakeStandIn,
  members: readonly Member[],
): boolean {
  const isLike = hasOnlySymbols(sample) && farFromTop(() => isLikeNative(sample, makeStandIn, members));
  return isLike && standIn(native, makeStandIn(sideOf)!);
}

/** Puts a class in the place of the runtime's, until {@linkcode putBack}, if that can be. */
export function standIn(native: StandIn, value: StandIn): boolean {
  const { name } = native;
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  if (before?.configurable !== true || Reflect.get(globalThis, name) !== native) return false;
  replaced = { name, before };
  Object.defineProperty(globalThis, name, { value, configurable: true });
  return true;
}

/**
 * Puts the runtime's class back, once ours is made. A stream of that is marked at once, which `sampleOf()` is about; if
 * that does not have it refused as one to be cloned, ours is made to extend the runtime's class after all.
 *
 * @returns whether the class that ours extends makes no native side.
 */
export function putBack(ours?: Class): boolean {
  if (replaced === undefined) return false;
  const { name, before } = replaced;
  const StandIn = Reflect.get(globalThis, name) as Class;
  Object.defineProperty(globalThis, name, before);
  replaced = undefined;
  if (ours === undefined || isMarked(StandIn, ours)) return true;
  Object.setPrototypeOf(ours, before.value);
  Object.setPrototypeOf(ours.prototype, before.value.prototype);
  return false;
}

/** Whether the runtime sees that what a class makes can be transferred. Others are checked before they stand in. */
function isMarked(StandIn: Class, ours: Class): boolean {
  try {
    const stream = Reflect.construct(StandIn, [], ours) as object;
    return isTried || !knowsKeys() || (isTried = farFromTop(() => howCloningFails(stream)) !== "");
  } catch {
    return false; // it marks nothing but its own
  }
}

function hasOnlySymbols(sample: object): boolean {
  const keys = Reflect.ownKeys(sample);
  return keys.length > 0 && keys.every((key) => {
    const { writable, configurable } = Object.getOwnPropertyDescriptor(sample, key)!;
    return typeof key === "symbol" && writable === true && configurable === true;
  });
}

/**
 * A class that extends the runtime's, without its constructor. A sample of known keys may have fewer than a stream of the
 * runtime's: the first native side shows the others.
 */
export function standInFor(
  native: StandIn,
  sample: object,
  prototype: object,
  sideOf: NativeSideOf,
  mark: TransferMark,
  onClosed?: (stream: object) => void,
): StandIn {
  const keys = Reflect.ownKeys(sample);
  const names = keys.filter((key) => Reflect.get(sample, key) === native.name);
  for (const key of names) Object.defineProperty(prototype, key, { value: native.name });
  const others = keys.filter((key) => !Object.hasOwn(prototype, key));
  const isShared = isRecord(sample, others);
  let isComplete = !knowsKeys();
  const sideWithAll: NativeSideOf = (object) => {
    const side = sideOf(object);
    if (isComplete || side === undefined) return side;
    isComplete = true;
    for (const key of Reflect.ownKeys(side)) {
      if (!(key in prototype)) Object.defineProperty(prototype, key, delegate(key, sideOf, false));
    }
    return side;
  };
  for (const key of others) Object.defineProperty(prototype, key, delegate(key, sideWithAll, isShared, onClosed));
  function StandIn(this: object): void {
    mark(this);
  }
  Object.setPrototypeOf(StandIn, native);
  StandIn.prototype = prototype;
  return StandIn as unknown as StandIn;
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
