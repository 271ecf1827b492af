/** Returns an attribute's getter. Replaces `getter_of.ts` in browsers, for which no minimum version is given. */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}
