export const STATIC_HANDLER = 'await createStaticHandler("dist")';
export const COMPRESSION = "createCompression()";

/** Returns the error for an argument of another maker, such as a promise: it would fail at each request otherwise. */
export function faultOf(
  value: unknown,
  method: string,
  taker: { readonly name: string; readonly how: string },
): TypeError | undefined {
  // A path is no handler, though strings have a `match()`, too.
  if (typeof value === "object" && typeof (value as Record<string, unknown> | null)?.[method] === "function") return;
  return new TypeError(`${taker.name} takes what ${taker.how} gives, and nothing else`);
}
