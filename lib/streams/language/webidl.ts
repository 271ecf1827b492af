// Web IDL conversions of arguments, in the standard's order: https://webidl.spec.whatwg.org/#js-type-mapping

import { getterOf } from "#streams/host";
import { illegalConstructor, mustBe } from "./errors.ts";
import { isThenableLike } from "./promises.ts";

const { call } = Function.prototype;
const { apply } = Reflect;
const { defineProperty } = Object;

/** Whether a value is an object. Functions do not count. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

export function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

/** Requires an object, such as an iterator's result. */
export function toObject(value: unknown, name: string, code?: "ERR_INVALID_STATE"): Record<PropertyKey, unknown> {
  if (isThenableLike(value)) return value as Record<PropertyKey, unknown>;
  throw mustBe(name, "an object", code);
}

// V8 would make Object.create(null) a hash table, whose look-ups are slow.
const EMPTY: Readonly<Record<PropertyKey, unknown>> = Object.setPrototypeOf({}, null);

/** Converts a dictionary argument: `undefined` and `null` become empty ones, other primitives are errors. */
export function toDictionary(value: unknown, name: string): Readonly<Record<PropertyKey, unknown>> {
  return value === undefined || value === null ? EMPTY : toObject(value, name);
}

/** Converts a callback member of a dictionary, to be called by {@linkcode Callback.call}. */
export function toCallback(value: unknown, name: string): Callback | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "function") throw mustBe(name, "a function");
  // Avoids `value.call`, which user code may have replaced or removed.
  if (value.call === call) return value as Callback;
  return function (this: unknown, ...args: unknown[]): unknown {
    return apply(value as Callback, this, args);
  };
}

export type Callback = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Converts a value to WebIDL's `[EnforceRange] unsigned long long`. @throws {TypeError} if the value is not a number,
 * not finite or out of range.
 */
export function toUnsignedLongLong(value: unknown, name: string): number {
  const number = Math.trunc(+(value as number));
  if (!(number >= 0 && number <= Number.MAX_SAFE_INTEGER)) {
    throw mustBe(name, `an integer from 0 to 2^53 - 1, not ${String(value)}`);
  }
  return number + 0; // turns -0 into 0
}

/**
 * Makes a class's members enumerable, as Web IDL requires, and sets its name, which a bundler may have changed. The
 * class itself stays unchanged if possible: V8 inlines `super()` only if none of its properties was redefined.
 */
export function defineInterface(constructor: { name: string; prototype: object }, name: string): void {
  const { prototype } = constructor;
  for (const member of Object.getOwnPropertyNames(prototype)) {
    if (member !== "constructor") defineProperty(prototype, member, { enumerable: true });
  }
  if (constructor.name !== name) defineProperty(constructor, "name", { value: name, configurable: true });
  defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}

/** Whether a getter accepts a value as an object of its class, whatever its prototype. */
export function hasBrand(getter: (this: unknown) => unknown, value: unknown): boolean {
  try {
    apply(getter, value, []);
    return true;
  } catch {
    return false;
  }
}

const abortedOf = getterOf(AbortSignal.prototype, "aborted");

/** Whether a value is an AbortSignal, of any prototype. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  return hasBrand(abortedOf, value);
}

/*
 * Makes objects of public classes that callers cannot construct, or not from a state: the state is kept here while the
 * constructor runs. Callers cannot observe it, and their own calls take no longer.
 */

let waiting: object | undefined;

/** Constructs a public object around a state. */
export function construct<T>(constructor: new (...args: never[]) => T, state: object): T {
  waiting = state;
  return new constructor();
}

/** Passes the state for {@linkcode construct}: its first half, for fast calls of one known constructor. */
export function passState(state: object): void {
  waiting = state;
}

/** Returns the state given to {@linkcode construct} if that has called this constructor; otherwise undefined. */
export function receiveState<State extends object>(): State | undefined {
  const state = waiting as State | undefined;
  waiting = undefined;
  return state;
}

/** Returns the state that internal code passes to a constructor; throws if there is none. */
export function requireState<State extends object>(): State {
  const state = receiveState<State>();
  if (state === undefined) throw illegalConstructor();
  return state;
}
