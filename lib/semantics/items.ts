import { parseItem } from "./structured_fields.ts";

/**
 * Parses a Structured Fields item that is to be a boolean; its parameters are passed over.
 *
 * @returns undefined if the field is missing, malformed or something else: it does not count then.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9651#section-3.3.6}
 */
export function parseBoolean(field: string | undefined): boolean | undefined {
  const value = bareItemOf(field, /^ *\?([01])(?=[ ;]|$)/);
  return value === undefined ? undefined : value === "1";
}

/**
 * Parses a Structured Fields item that is to be an integer from 0 on; its parameters are passed over.
 *
 * @returns undefined if the field is missing, malformed or something else: it does not count then.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9651#section-3.3.1}
 */
export function parseNaturalNumber(field: string | undefined): number | undefined {
  const value = bareItemOf(field, /^ *(-?\d{1,15})(?=[ ;]|$)/);
  return value === undefined || Number(value) < 0 ? undefined : Math.abs(Number(value));
}

function bareItemOf(field: string | undefined, pattern: RegExp): string | undefined {
  const value = pattern.exec(field ?? "")?.[1];
  if (value === undefined) return undefined;
  try {
    parseItem(field!);
    return value;
  } catch {
    return undefined;
  }
}
