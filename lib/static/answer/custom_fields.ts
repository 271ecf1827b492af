import { type Answer, type Fields, textAnswer, valueOf, varying } from "./answer.ts";
import type { CrossOrigin } from "./cross_origin.ts";
import { goesWith, isSettable, joinedNames, requireFieldValue } from "../../semantics/mod.ts";
import type { RequestFields } from "./request_fields.ts";
import type { Settings } from "./settings.ts";

/** The fields that the options add to all responses about a file. */
export interface CustomFields {
  /** By name in lower case; an empty value leaves a field out. */
  readonly fields: Headers;
  /** The policy that adds a permission per request; undefined if `headers()` sets the permission itself. */
  readonly cors: CrossOrigin | undefined;
}

/**
 * The fields that `headers()` gives for `path`, and those of `cors`.
 *
 * @param path Below the folder; empty for the folder itself.
 * @throws {TypeError} if `headers()` gives what is no field.
 */
export function customFields(path: string, settings: Settings): CustomFields {
  const fields = givenFields(path, settings);
  if (settings.cors === undefined || fields.has("access-control-allow-origin")) return { fields, cors: undefined };
  for (const [name, value] of settings.cors.fields) if (!fields.has(name)) fields.set(name, value);
  if (settings.cors.vary !== "") fields.set("vary", joinedNames(`${fields.get("vary") ?? ""}, ${settings.cors.vary}`));
  return { fields, cors: settings.cors };
}

function givenFields(path: string, { headers }: Settings): Headers {
  const record: Readonly<Record<string, string>> | Headers = headers?.(path) ?? {};
  try {
    // Of a record, the runtimes' own Headers would lose a field named `__proto__`.
    const fields = new Headers(Symbol.iterator in record ? record : Object.entries(record));
    for (const [name, value] of fields) requireFieldValue(`"${name}"`, value);
    for (const name of [...fields.keys()]) if (!isSettable(name)) fields.delete(name);
    return fields;
  } catch (cause) {
    const place = path === "" ? 'the folder (path "")' : path;
    throw new TypeError(`headers() gives what is no header field for ${place}: ${(cause as Error).message}`, { cause });
  }
}

/** The fields of all responses about a file or the folder, also of those without a representation. */
export class GeneralFields {
  readonly #fields: Fields;
  readonly #vary: string;
  readonly #cors: CrossOrigin | undefined;

  constructor({ fields, cors }: CustomFields) {
    const isGeneral = (name: string) => name !== "vary" && goesWith(name, "none");
    this.#fields = [...fields].filter(([name, value]) => value !== "" && isGeneral(name)).flat();
    this.#vary = fields.get("vary") ?? "";
    this.#cors = cors;
  }

  /** Adds the permission for the origin of `request`, if the policy depends on it. */
  permit(answer: Answer, request: RequestFields): Answer {
    return this.#cors === undefined ? answer : this.#cors.permit(answer, request);
  }

  /** The origin of `request`, if the policy depends on it and allows it. */
  allowedOrigin(request: RequestFields): string | undefined {
    return this.#cors?.allowedOrigin(request);
  }

  /** A response with a line of text, the fields `own`, and these. */
  text(status: number, text: string, own: Fields = []): Answer {
    return textAnswer(status, text, this.beside(own));
  }

  /** `own`, and these fields where it has none of the name; the names in `Vary` are joined. */
  beside(own: Fields): Fields {
    const fields = [...own];
    for (let i = 0; i < this.#fields.length; i += 2) {
      if (valueOf(own, this.#fields[i]) === undefined) fields.push(this.#fields[i], this.#fields[i + 1]);
    }
    return varying(fields, this.#vary);
  }
}
