import { explain } from "../precompress/internal.ts";
import { printable } from "../static/internal.ts";

/** Returns the words about an error for a terminal: the explanation of it, without what would control the terminal. */
export function failureText(error: unknown): string {
  return printable(explain(error));
}
