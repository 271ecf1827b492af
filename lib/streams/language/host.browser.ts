import type { GlobalFunctions } from "./host.ts";

/** Whether readers have a `readMany()`. (First, so that minifiers put it in its places.) */
export const hasReadMany: boolean = false;
export { hasReadMany as isTunedToBun };

/** Returns an attribute's getter. The form for browsers of `host.ts`, for which no minimum version is given. */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  while (!Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype);
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

/** The browser's own classes, by what it makes, if polyfills replaced the globals. A TransformStream is not made so. */
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
    // its bodies are no byte streams
  }
  return classes;
}

/** The global function of a name as it is at this call. Browsers load none late. */
export function globalFunction<Name extends keyof GlobalFunctions>(name: Name): GlobalFunctions[Name] | undefined {
  return (globalThis as unknown as GlobalFunctions)[name];
}

export function asGlobalStreamPair<Pair>(pair: Pair): Pair {
  return pair;
}
