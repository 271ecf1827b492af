import type { GlobalFunctions } from "./host.ts";

/** Whether readers have a `readMany()`. (First, so that minifiers replace the name by its value.) */
export const hasReadMany: boolean = false;
export const isAlwaysEager: boolean = true;
export { hasReadMany as isTunedToBun };

/** Returns an attribute's getter. The counterpart of `host.ts` for browsers, which have no minimum version. */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  while (!Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype);
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

/** Returns the browser's own classes, from results of its functions, since polyfills may have replaced the globals. */
export function platformClasses(): object {
  if (/native code/.test(Function.prototype.toString.call(ReadableStream))) return globalThis;
  const body = (): object => new Response("0").body!;
  const classes: Record<string, unknown> = { TransformStream };
  const add = (object: object): unknown => classes[object.constructor.name] = object.constructor;
  const { writable } = new TextEncoderStream();
  for (const object of [body(), writable, writable.getWriter()]) add(object);
  add((body() as ReadableStream).getReader());
  try {
    add((body() as ReadableStream).getReader({ mode: "byob" }));
  } catch {
    // the bodies of this browser are not byte streams
  }
  return classes;
}

/** Returns the global function of a name at the time of this call, since browsers load no global late. */
export function globalFunction<Name extends keyof GlobalFunctions>(name: Name): GlobalFunctions[Name] | undefined {
  return (globalThis as unknown as GlobalFunctions)[name];
}

export function asGlobalStreamPair<Pair>(pair: Pair): Pair {
  return pair;
}

export function webStream(_value: unknown, kind: "Readable" | "Writable"): string {
  return `a ${kind}Stream`;
}

// In pages, functions without options take any argument in their place: only types refuse it.
export { noop as refuseOptions } from "./promises.ts";
