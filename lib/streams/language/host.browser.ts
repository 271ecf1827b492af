import type { GlobalFunctions } from "./host.ts";

/** Whether readers have a `readMany()`. (First, so that minifiers put it in its places.) */
export const hasReadMany: boolean = false;

/** Returns an attribute's getter. The form for browsers of `host.ts`, for which no minimum version is given. */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  while (!Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype);
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

/** The global function of a name as it is at this call. Browsers load none late. */
export function globalFunction<Name extends keyof GlobalFunctions>(name: Name): GlobalFunctions[Name] | undefined {
  return (globalThis as unknown as GlobalFunctions)[name];
}
