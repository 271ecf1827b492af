/** What takes the place of `getter_of.ts` in browsers, which are not told what version they should be. */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}
