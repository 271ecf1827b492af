/** The error of a body that gives something else than bytes. */
export function notBytes(chunk: unknown): TypeError {
  const kind = typeof chunk === "object" && chunk !== null
    ? `an object of ${chunk.constructor?.name}`
    : `a ${typeof chunk}`;
  return new TypeError(`The chunks of a body must be Uint8Arrays, not ${kind}`);
}
