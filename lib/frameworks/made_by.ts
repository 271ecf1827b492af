export const STATIC_HANDLER = 'await createStaticHandler("dist")';
export const COMPRESSION = "createCompression()";

/** Returns the error for an argument of another type, such as a promise, or for options, which the maker takes. */
export function faultOf(
  value: unknown,
  method: string,
  taker: { readonly name: string; readonly how: string },
  options?: unknown,
): TypeError | undefined {
  // A path is not a handler, although strings have a `match()`, too.
  const isMade = typeof value === "object" && typeof (value as Record<string, unknown> | null)?.[method] === "function";
  if (isMade && typeof options !== "object") return;
  return new TypeError(`${taker.name} takes what ${taker.how} gives, and nothing else`);
}
