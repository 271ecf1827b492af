/**
 * Makes sure that an argument is a stream of Node, of whatever class: it has the methods of one.
 *
 * @throws {TypeError} if one is missing.
 */
export function requireMethods(value: unknown, name: string, kind: string, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  const missing = methods.find((method) => typeof object[method] !== "function");
  if (missing === undefined) return;
  throw new TypeError(`${name} must be ${kind}: it has no ${missing}()`);
}
