import { isLikeNative, type MakeStandIn, type Member, type NativeSideOf, type StandIn } from "./lazy_side_check.ts";
import type { TransferMark } from "./transfer_mark.ts";

type Properties = Record<PropertyKey, unknown>;

/** Puts a class between ours and the runtime's, if the runtime takes its instances for its own. */
export function putBetween(
  ours: StandIn,
  sample: object,
  sideOf: NativeSideOf,
  makeStandIn: MakeStandIn,
  members: readonly Member[],
): boolean {
  if (!hasOnlySymbols(sample) || !isLikeNative(sample, makeStandIn, members)) return false;
  const StandIn = makeStandIn(sideOf)!;
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
export function standInFor(
  native: StandIn,
  sample: object,
  ours: StandIn,
  prototype: object,
  sideOf: NativeSideOf,
  mark: TransferMark,
  onClosed?: (stream: object) => void,
): StandIn {
  const keys = Reflect.ownKeys(sample).filter((key) => !Object.hasOwn(ours.prototype, key));
  const names = keys.filter((key) => Reflect.get(sample, key) === native.name);
  for (const key of names) Object.defineProperty(prototype, key, { value: native.name });
  const others = keys.filter((key) => !Object.hasOwn(prototype, key));
  const isShared = isRecord(sample, others);
  for (const key of others) Object.defineProperty(prototype, key, delegate(key, sideOf, isShared, onClosed));
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
