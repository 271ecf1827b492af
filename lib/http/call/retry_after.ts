import { parseHTTPDate } from "../../semantics/mod.ts";
import type { HeaderList } from "../exchange.ts";
import { joinedField } from "../response/response_headers.ts";

/**
 * How long a response asks to wait before the next attempt, in ms; undefined if it does not say. A date counts from the server's own
 * `Date` where there is one, as clocks differ.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3}
 */
export function retryAfter(headers: HeaderList): number | undefined {
  const value = joinedField(headers, "retry-after");
  if (/^[0-9]+$/.test(value)) return Number(value) * 1000;
  const time = parseHTTPDate(value);
  if (time === undefined) return undefined;
  return Math.max(0, time - (parseHTTPDate(joinedField(headers, "date")) ?? Date.now()));
}
