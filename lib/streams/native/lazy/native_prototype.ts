import { getterOf, isPlain } from "#streams/host";
import type { EndedPromise } from "../../language/promises.ts";
import { NativeReadableStream, NativeWritableStream, replaceGlobal } from "../../language/native_classes.ts";

/** Marks a new stream as one that can be transferred. */
type TransferMark = (stream: object) => void;

/** The symbol by which Deno recognizes transferable objects, anywhere on the prototype chain. */
const DENO_HOST_OBJECT = Symbol.for("Deno.core.hostObject");

/**
 * Finds the mark by which the runtime's serializer accepts a stream for transfer. The serializer checks each object
 * before any code of the object runs, so the mark must be there from the start.
 *
 * @param sample a stream of the runtime's class.
 * @param prototype the prototype of the streams that are to be marked like the sample.
 * @returns `undefined` if the runtime has no such mark.
 */
export function transferMarkOf(sample: object, prototype: object): TransferMark | undefined {
  const denoType = Object.getOwnPropertyDescriptor(sample, DENO_HOST_OBJECT);
  if (denoType === undefined) return nodeTransferMark(prototype);
  Object.defineProperty(prototype, DENO_HOST_OBJECT, denoType);
  return () => {};
}

/** The functions of `node:util` and `process` used here. */
interface NodeUtil {
  transferableAbortSignal?(signal: object): object;
}
interface NodeProcess {
  getBuiltinModule?(name: "node:util"): NodeUtil | undefined;
}

/** Whether a stream poses as an AbortSignal, which Node requires for marking it. */
let isMarking = false;

/**
 * Returns the function that sets Node's private mark, as constructors do: `util.transferableAbortSignal()`, called on
 * streams that pose as signals.
 */
function nodeTransferMark(prototype: object): TransferMark | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  const transferable = process?.getBuiltinModule?.("node:util")?.transferableAbortSignal;
  const signalBrand = Object.getOwnPropertySymbols(new AbortController().signal)
    .find(({ description }) => description === "kAborted");
  if (transferable === undefined || signalBrand === undefined) return undefined;
  Object.defineProperty(prototype, signalBrand, { get: () => isMarking ? false : undefined });
  return (stream) => {
    isMarking = true;
    transferable(stream);
    isMarking = false;
  };
}

/**
 * Calls a function with ten more calls on the stack, for a function whose errors are thrown while a module loads. Deno
 * records the innermost ten calls of each error, and for each of them in this module, V8 parses the module again to
 * find the line (5 of 12 ms of an import).
 */
function withShallowStack<T>(run: () => T, calls = 10): T {
  return calls === 0 ? run() : withShallowStack(run, calls - 1);
}

/** The symbols of properties in which Node's objects keep the name of their class, and all their mutable state. */
interface Keys {
  readonly kType?: symbol;
  readonly kState?: symbol;
}

/** The symbols that the runtime reads from a stream, once found: on Node both or neither. */
let keys: Keys | undefined;

/**
 * Returns an object like those of the runtime's class: with the two symbols of Node's classes, or, if these are
 * unknown, made by `make`.
 *
 * Node marks transferable streams in one function, which is fast only for the first four classes that it sees: later, a
 * new WritableStream takes 210 ns instead of 140. `URL` is the first and this package has three, so no native sample is
 * made.
 */
export function sampleOf({ name }: { readonly name: string }, make: () => object): object {
  keys ??= withShallowStack(askedKeys);
  if (knowsKeys()) return { [keys.kType!]: name, [keys.kState!]: { readable: {}, writable: {} } };
  try {
    return make();
  } catch {
    return {}; // workerd can make no stream while a module loads, and has internal slots
  }
}

/** Whether the keys of internal slots are known: samples are then made without the runtime's classes. */
function knowsKeys(): boolean {
  return keys?.kType !== undefined && keys.kState !== undefined;
}

/** Returns the symbols that the getter of `locked` reads from a stream, by their descriptions. */
function askedKeys(): Keys {
  const asked: Record<string, symbol> = {};
  const stream = new Proxy({}, {
    get: (_, key) => typeof key === "symbol" ? asked[key.description!] = key : undefined,
  });
  try {
    getterOf(NativeReadableStream.prototype, "locked").call(stream);
  } catch {
    // the getter throws, since the object is not a stream
  }
  return asked;
}

/** The names of the slots that show a native stream closing: none if the runtime hides its slots. */
let closingSlots: PropertyKey[] | undefined;

/** Whether a native stream is closing or closed, as far as the runtime shows its slots. */
export function isNativeClosing(stream: object): boolean {
  closingSlots ??= isPlain
    ? []
    : Reflect.ownKeys(slotsOf(new NativeWritableStream())).filter((key) => /closeRequest|state/i.test(String(key)));
  const slots = slotsOf(stream);
  return closingSlots.some((key) => slots[key] === "closed" || (slots[key] as EndedPromise | undefined)?.promise);
}

/** Sets the state of a native stream that is writable or erroring; returns whether the runtime shows its slots. */
export function showState(stream: object, state: string): boolean {
  const slots = slotsOf(stream);
  const key = Reflect.ownKeys(slots).find((key) => slots[key] === "writable" || slots[key] === "erroring");
  return key !== undefined && Reflect.set(slots, key, state);
}

/** Returns the object with the slots of a native stream. */
function slotsOf(stream: object): Properties {
  return (knowsKeys() ? Reflect.get(stream, keys!.kState!) : stream) as Properties;
}

/** A class between this package's class and the runtime's, or one of the two. */
export interface BareSubclass {
  readonly name: string;
  readonly prototype: object;
}

/** Returns the native side of a stream, reader or writer, made at the first call; `undefined` for another class. */
export type NativeSideOf = (object: object) => object | undefined;

type Class = BareSubclass & (new (...args: never[]) => object);

/** Makes the class to be checked, with native sides from the given function; `undefined` if that is impossible. */
type MakeStandIn = (sideOf: NativeSideOf) => BareSubclass | undefined;

/** A member of the runtime's class, which throws for objects of other classes. */
export type Member = (this: object) => unknown;

/**
 * Whether the runtime accepts an object without a native side as its own, and finds that side on access. A version that
 * stores streams in another way may do neither.
 *
 * @param sample an object of the runtime's class, or, if the symbols are known, an object with them: such a sample is
 * not cloned.
 * @param members the members of its class.
 */
export function isLikeNative(sample: object, makeStandIn: MakeStandIn, members: readonly Member[]): boolean {
  let standing: object | undefined = undefined;
  let hasLooked = false;
  const StandIn = makeStandIn((object) => {
    if (object !== standing) return undefined;
    hasLooked = true;
    return sample;
  });
  if (StandIn === undefined) return false;
  const { prototype } = StandIn;
  standing = knowsKeys() ? Object.create(prototype) as object : Reflect.construct(StandIn as Class, []) as object;
  if (!knowsKeys() && (howCloningFails(standing) !== howCloningFails(sample) || hasLooked)) return false;
  const others = isRefusalTried ? [] : [Object.create(prototype) as object, prototype];
  const isLike = members.every((member) =>
    passes(member, standing!) && hasLooked && !others.some((other) => passes(member, other))
  );
  isRefusalTried ||= isLike;
  return isLike;
}

/** Whether one class was tested to refuse objects without a native side; the other classes look for it in the same way. */
let isRefusalTried = false;

/** Returns the getters of a class of streams: `locked`, or `readable` and `writable`. */
export function gettersOf(prototype: object): Member[] {
  const names = Object.getOwnPropertyNames(prototype);
  return names.flatMap((name) => Object.getOwnPropertyDescriptor(prototype, name)?.get ?? []);
}

function passes(member: Member, object: object): boolean {
  try {
    return member.call(object) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the error of cloning a stream without transferring it, which shows the runtime's view of it. */
function howCloningFails(stream: object): string {
  try {
    structuredClone(stream);
    return "";
  } catch (error) {
    return String(error);
  }
}

type Properties = Record<PropertyKey, unknown>;

/** Whether one class was tested to mark its objects. */
let isMarkingTried = false;

/** Replaces the runtime's class by a stand-in until this package's class exists, if its instances pass as native. */
export function putInPlace(
  native: BareSubclass,
  sample: object,
  sideOf: NativeSideOf,
  makeStandIn: MakeStandIn,
  members: readonly Member[],
): boolean {
  const isLike = !isPlain && hasOnlySymbols(sample) &&
    withShallowStack(() => isLikeNative(sample, makeStandIn, members));
  return isLike && replaceGlobal(native.name, makeStandIn(sideOf)!);
}

/** Whether a class makes no native side, which is so if the serializer refuses to clone a stream that `sampleOf()` marks. */
export function staysLazy(ours: Class): boolean {
  const StandIn = Object.getPrototypeOf(ours) as Class;
  if (isMarked(StandIn, ours)) return true;
  const native = Object.getPrototypeOf(StandIn) as Class;
  Object.setPrototypeOf(ours, native);
  Object.setPrototypeOf(ours.prototype, native.prototype);
  return false;
}

/** Whether the runtime accepts objects of the class for transfer. Other classes are checked before they stand in. */
function isMarked(StandIn: Class, ours: Class): boolean {
  try {
    const stream = Reflect.construct(StandIn, [], ours) as object;
    return isMarkingTried || !knowsKeys() || (isMarkingTried = withShallowStack(() => howCloningFails(stream)) !== "");
  } catch {
    return false; // the runtime marks only its own objects
  }
}

function hasOnlySymbols(sample: object): boolean {
  const keys = Reflect.ownKeys(sample);
  return keys.length > 0 && keys.every((key) => {
    const { writable, configurable } = Object.getOwnPropertyDescriptor(sample, key)!;
    return typeof key === "symbol" && writable === true && configurable === true;
  });
}

/** Returns a class that extends the runtime's, without calling its constructor. */
export function makeBareSubclass(
  native: BareSubclass,
  sample: object,
  prototype: object,
  sideOf: NativeSideOf,
  mark: TransferMark,
  own: OwnState = {},
): BareSubclass {
  const keys = Reflect.ownKeys(sample);
  const names = keys.filter((key) => Reflect.get(sample, key) === native.name);
  for (const key of names) Object.defineProperty(prototype, key, { value: native.name });
  const others = keys.filter((key) => !Object.hasOwn(prototype, key));
  // On Node, one object contains all mutable state of a stream: both sides can share it.
  const isShared = others.length === 1 && typeof Reflect.get(sample, others[0]) === "object";
  for (const key of others) Object.defineProperty(prototype, key, delegate(key, sideOf, isShared, own.onClosed));
  const disturbed = others.find((key) => typeof key === "symbol" && key.description === "[[disturbed]]");
  if (disturbed !== undefined && own.stateOf) Object.defineProperty(prototype, disturbed, disturbedOf(own.stateOf));
  function StandIn(this: object): void {
    mark(this);
  }
  Object.setPrototypeOf(StandIn, native);
  StandIn.prototype = prototype;
  return StandIn as unknown as BareSubclass;
}

/** The access to the state of this package's stream, for runtimes that keep each slot in a property. */
export interface OwnState {
  /** Called when the runtime closes the native side by writing to its slots, so that the state is closed, too. */
  readonly onClosed?: (stream: object) => void;
  readonly stateOf?: (stream: object) => { disturbed: boolean } | undefined;
}

/**
 * Returns the property for Deno's `[[disturbed]]`, by which it checks whether a body was read: the stream's state
 * answers, whichever side was read.
 */
function disturbedOf(stateOf: NonNullable<OwnState["stateOf"]>): PropertyDescriptor & ThisType<object> {
  return {
    get() {
      return stateOf(this)?.disturbed;
    },
    set(this: Properties, value) {
      const state = stateOf(this);
      if (state !== undefined) state.disturbed = value;
    },
    configurable: true,
  };
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
      if (isShared) define(this, key, value); // later accesses find the property without this accessor
      return value;
    },
    set(value) {
      const side = sideOf(this) as Properties | undefined;
      // The runtime's constructor has made the object with this prototype.
      if (side === undefined) return define(this, key, value);
      side[key] = value;
      if (value === "closed") onClosed?.(this);
    },
    configurable: true,
  };
}

/** Defines a property, unless the object is frozen: then the accessors still answer for it. */
function define(stream: object, key: PropertyKey, value: unknown): void {
  Reflect.defineProperty(stream, key, { value, writable: true, enumerable: true, configurable: true });
}
