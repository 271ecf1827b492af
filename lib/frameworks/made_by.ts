export const STATIC_HANDLER = 'await createStaticHandler("dist")';
export const COMPRESSION = "createCompression()";

/** Returns the error for an argument of another type, such as a promise, which would otherwise fail at each request. */
export function faultOf(
  value: unknown,
  method: string,
  taker: { readonly name: string; readonly how: string },
): TypeError | undefined {
  // A path is not a handler, although strings have a `match()`, too.
  if (typeof value === "object" && typeof (value as Record<string, unknown> | null)?.[method] === "function") return;
  return new TypeError(`${taker.name} takes what ${taker.how} gives, and nothing else`);
}
