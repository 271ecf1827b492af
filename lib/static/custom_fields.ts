import { type Answer, type Fields, textAnswer, valueOf, without } from "./answer.ts";
import { joinedNames } from "./http/field_names.ts";
import { requireFieldValue } from "./http/field_value.ts";
import type { Settings } from "./settings.ts";

/** Fields of `headers()` that only the handler can know. */
const OURS_ALONE = /^(?:content-(?:length|encoding|range)|etag|transfer-encoding|connection|accept-ranges)$/i;

/** Fields about a representation: an answer that sends none is without them. */
const OF_REPRESENTATION =
  /^(?:content-(?!security-policy)|(?:cache-control|last-modified|expires|etag|accept-ranges|repr-digest|use-as-dictionary)$)/i;

/**
 * The fields that `headers()` gives for `path`, by name in lower case; an empty value leaves a field out.
 *
 * @param path Below the folder; empty for the folder itself.
 * @throws {TypeError} if it gives what is no field.
 */
export function customFields(path: string, { headers }: Settings): Headers {
  const record = headers?.(path) ?? {};
  try {
    const fields = new Headers(record);
    for (const [name, value] of fields) requireFieldValue(`"${name}"`, value);
    for (const name of [...fields.keys()]) if (OURS_ALONE.test(name)) fields.delete(name);
    return fields;
  } catch (cause) {
    const place = path === "" ? 'the folder (path "")' : path;
    throw new TypeError(`headers() gives what is no header field for ${place}: ${(cause as Error).message}`, { cause });
  }
}

/** The fields that every answer about a file has, or about the folder, also if it sends no representation. */
export class GeneralFields {
  readonly #fields: Fields;
  readonly #vary: string;

  /** @param custom What `headers()` gives for it. */
  constructor(custom: Headers) {
    const isGeneral = (name: string) => name !== "vary" && !OF_REPRESENTATION.test(name);
    this.#fields = [...custom].filter(([name, value]) => value !== "" && isGeneral(name)).flat();
    this.#vary = custom.get("vary") ?? "";
  }

  /** An answer with a line of text, the fields `own`, and these. */
  text(status: number, text: string, own: Fields = []): Answer {
    return textAnswer(status, text, this.beside(own));
  }

  /** `own` and those of these that it has not; `Vary` names what either does. */
  beside(own: Fields): Fields {
    const fields = [...own];
    for (let i = 0; i < this.#fields.length; i += 2) {
      if (valueOf(own, this.#fields[i]) === undefined) fields.push(this.#fields[i], this.#fields[i + 1]);
    }
    const vary = joinedNames(`${this.#vary}, ${valueOf(own, "Vary") ?? ""}`);
    return vary === "" ? fields : [...without(fields, ["vary"]), "Vary", vary];
  }
}
