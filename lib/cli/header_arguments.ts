import { UsageError } from "./usage.ts";
import { isSettable, requireFieldValue } from "../semantics/mod.ts";

/** A field's name (RFC 9110, section 5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The fields that the values of `--header` name, each as `Name: value`. Those of one name are joined by commas, which
 * means the same (RFC 9110, section 5.3).
 *
 * @throws {UsageError} if one is no field.
 */
export function headerFields(texts: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const text of texts) {
    const [name, value] = fieldOf(text);
    const former = fields.get(name);
    if (former !== undefined && name === "set-cookie") throw new UsageError("--header Set-Cookie can be given once");
    fields.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return fields;
}

function fieldOf(text: string): [name: string, value: string] {
  const colon = text.indexOf(":");
  if (colon === -1) throw new UsageError(`--header ${JSON.stringify(text)} has no colon: use "Name: value"`);
  const name = text.slice(0, colon).trim();
  const value = text.slice(colon + 1).trim();
  if (!NAME.test(name)) {
    throw new UsageError(`--header ${JSON.stringify(text)}: ${JSON.stringify(name)} is no name of a header field`);
  }
  if (!isSettable(name)) throw new UsageError(`--header ${name}: only the server can know it`);
  try {
    requireFieldValue(`--header ${name}`, value);
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
  return [name.toLowerCase(), value];
}
