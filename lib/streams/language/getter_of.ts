/**
 * The getter of an attribute, taken when a module loads, so that later patches change nothing here.
 *
 * @throws {TypeError} if the runtime is too old to have it.
 */
// deno-lint-ignore no-explicit-any -- each getter has its own type
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => any {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (getter) return getter;
  const missing = `${prototype.constructor.name}.prototype.${String(name)}`;
  throw new TypeError(`@millrace/streams needs ${missing}: Node 22.18, Deno 2.4, Bun 1.2.23 or newer`);
}
