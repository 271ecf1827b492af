/**
 * C0 and C1 controls, with which a terminal can be told anything, ends of lines, and marks that turn the direction of
 * what follows them.
 */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** `text` as it can be printed on one line of a terminal or a log: control characters are escaped. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
