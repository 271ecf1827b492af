/** The global function of a name as it is at this call. Replaces `global_function.ts` in browsers, which load none late. */
export function globalFunction<Name extends "setImmediate" | "setTimeout" | "clearTimeout">(
  name: Name,
): (typeof globalThis)[Name] | undefined {
  return globalThis[name];
}
