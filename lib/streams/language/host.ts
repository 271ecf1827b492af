/**
 * Returns the getter of an attribute when a module loads, so that later patches have no effect here.
 *
 * @throws {TypeError} if the runtime is too old to have the attribute.
 */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  for (let owner: object | null = prototype; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const getter = Object.getOwnPropertyDescriptor(owner, name)?.get;
    if (getter) return getter;
  }
  const missing = `${prototype.constructor.name}.prototype.${String(name)}`;
  throw new TypeError(`@millrace/streams needs ${missing}: Node 22.18, Deno 2.4, Bun 1.2.23 or newer`);
}

/** Whether readers have `readMany()`: only Bun's do. Its constructors are slow, and its streams cannot be transferred. */
export const hasReadMany: boolean = /* @__PURE__ */ looksForReadMany();

/** Looks for `readMany()` in a function, which bundlers drop if it is unused: the look-up loads all of Node's streams. */
function looksForReadMany(): boolean {
  return "readMany" in globalThis.ReadableStreamDefaultReader.prototype;
}

interface Globals {
  readonly Deno?: {
    readonly permissions: { querySync(permission: { name: "env"; variable: string }): { readonly state: string } };
    readonly env: { get(name: string): string | undefined };
  };
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Whether `MILLRACE_PLAIN` is set, which disables all uses of the runtime's internals. */
export const isPlain: boolean = /* @__PURE__ */ hasVariable("MILLRACE_PLAIN");

/** Whether a variable is set. Deno would prompt for the permission to read it, and looks `process` up slowly. */
function hasVariable(variable: string): boolean {
  const globals = globalThis as Globals;
  const { Deno: deno } = globals;
  if (deno === undefined) return Boolean(globals.process?.env?.[variable]);
  const { state } = deno.permissions.querySync({ name: "env", variable });
  return state === "granted" && Boolean(deno.env.get(variable));
}

/** Whether native sides and locks are always made with their streams, never on demand, as in browsers. */
export const isAlwaysEager: boolean = false;

/** Whether streams prefer the fast way on Bun, even if it departs from other runtimes. */
export const isTunedToBun: boolean = hasReadMany && !isPlain;

/** Does what `asStreamPair()` does, with the global class of the time of this call. */
export function asGlobalStreamPair<Pair extends object>(pair: Pair, constructor: new (...args: never[]) => Pair): Pair {
  return looksForReadMany() ? Reflect.construct(globalThis.TransformStream, [], constructor) as Pair : pair;
}

/** The global functions with the types used here: public types must not depend on the types of a library. */
export interface GlobalFunctions {
  setImmediate: (steps: () => void) => unknown;
  setTimeout: (steps: () => void, ms?: number) => unknown;
  clearTimeout: (timer: unknown) => void;
}

/** Returns the runtime's own classes of streams. */
export function platformClasses(): typeof globalThis {
  return globalThis;
}

/** The key of the global functions as they were when the first module of the package loaded. */
const FUNCTIONS: unique symbol = Symbol.for("@millrace/streams.functions") as never;

type Functions = Readonly<Record<keyof GlobalFunctions, PropertyDescriptor | undefined>>;

const { [FUNCTIONS]: functions = keepFunctions() } = globalThis as { [FUNCTIONS]?: Functions };

function keepFunctions(): Functions {
  const descriptor = (name: string) => Object.getOwnPropertyDescriptor(globalThis, name);
  const value = {
    setImmediate: descriptor("setImmediate"),
    setTimeout: descriptor("setTimeout"),
    clearTimeout: descriptor("clearTimeout"),
  };
  Object.defineProperty(globalThis, FUNCTIONS, { value });
  return value;
}

/**
 * Returns the global function of a name, if any, from the time when the package's first module loaded: timers may be
 * faked while later modules load. Deno's getters of timers load Node's modules, which is slow.
 */
export function globalFunction<Name extends keyof GlobalFunctions>(name: Name): GlobalFunctions[Name] | undefined {
  const { value, get } = functions[name] ?? {};
  if (get === undefined) return value;
  let loaded: ((...args: unknown[]) => unknown) | undefined = undefined;
  const load = (...args: unknown[]): unknown =>
    (loaded ??= get.call(globalThis) as NonNullable<typeof loaded>)(...args);
  return load as GlobalFunctions[Name];
}

/** Returns the kind of stream that a value must be, for a message; for a stream of `node:stream`, with its conversion. */
export function webStream(value: unknown, kind: "Readable" | "Writable"): string {
  const { on } = Object(value) as { readonly on?: unknown };
  return `a ${kind}Stream${on ? `: use fromNode${kind}() of @millrace/streams/node` : ""}`;
}

/** Refuses options for a function that has none, except `{ signal }`, which `map()` of `node:stream` passes beside an item. */
export function refuseOptions(owner: string, given: unknown, wayOut = ""): void {
  if (Object.keys(Object(given)).some((name) => name !== "signal")) {
    throw new TypeError(`${owner} has no options${wayOut}`);
  }
}
