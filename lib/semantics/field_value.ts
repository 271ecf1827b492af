/** The characters that a field's value may not have: controls other than the tab, and all that are no byte. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Checks the value of a header field: servers refuse a wrong one when they send it, some by an error that nobody catches.
 *
 * @param origin The option or function that gave the value, for the message.
 * @throws {TypeError} if it is none.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-5.5}
 */
export function requireFieldValue(origin: string, value: string): void {
  if (typeof value === "string" && !NOT_IN_VALUE.test(value)) return;
  throw new TypeError(
    `${origin} gives ${JSON.stringify(value)}, which is no value of a header field: use printable text`,
  );
}
