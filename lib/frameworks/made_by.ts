export const STATIC_HANDLER = 'await createStaticHandler("dist")';
export const COMPRESSION = "createCompression()";

/**
 * Returns the error for an argument that was not made by the function that it has to come from, undefined if it was:
 * one that was not awaited, or options in its place, would fail at each request.
 */
export function faultOf(
  value: unknown,
  method: string,
  taker: { readonly name: string; readonly how: string },
): TypeError | undefined {
  // A path is no handler, though a string has a match(), too.
  if (typeof value === "object" && typeof (value as Record<string, unknown> | null)?.[method] === "function") return;
  return new TypeError(`${taker.name} takes what ${taker.how} gives, and nothing else`);
}
