/**
 * The global function of a name as it is at this call, which need not be loaded until it is used: Deno's getters of timers
 * load Node's modules, which takes as long as to load all of ours.
 *
 * @returns undefined if there is none.
 */
export function globalFunction<Name extends "setImmediate" | "setTimeout" | "clearTimeout">(
  name: Name,
): (typeof globalThis)[Name] | undefined {
  const { value, get } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
  if (get === undefined) return value;
  let loaded: ((...args: unknown[]) => unknown) | undefined = undefined;
  const load = (...args: unknown[]): unknown =>
    (loaded ??= get.call(globalThis) as NonNullable<typeof loaded>)(...args);
  return load as (typeof globalThis)[Name];
}
