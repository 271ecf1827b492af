import { goesWith, isSettable, joinedNames, requireFieldValue } from "../../semantics/mod.ts";
import type { Warn } from "../scan/representation.ts";
import { Answer, type Fields, type RequestFields, valueOf, varying } from "./answer.ts";
import { type StaticHandlerOptions, warnOnce } from "./options.ts";
import type { Settings } from "./settings.ts";

/** The permission for preflights. `*` includes every request field except `Authorization`. */
export const PREFLIGHT: readonly string[] = [
  "Access-Control-Allow-Methods",
  "GET, HEAD, OPTIONS",
  "Access-Control-Allow-Headers",
  "*, Authorization",
  "Access-Control-Max-Age",
  "86400",
];

/** A value of `Origin` that can be echoed; browsers send no others. */
const ORIGIN = /^[!-~]{1,1000}$/;
const URL_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/;

/** Whether the request is a preflight, with which browsers ask whether a page of another origin may send a request. */
export function isPreflight(method: string, request: RequestFields): boolean {
  return method === "OPTIONS" && !!request.get("origin") && !!request.get("access-control-request-method");
}

/** The policy for pages of other origins: {@link https://fetch.spec.whatwg.org/#http-cors-protocol}. */
export class CrossOrigin {
  /** The fields of every response, with names in lower case; `Access-Control-Allow-Origin` only if it is constant. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The request field that responses depend on; empty without one. */
  readonly vary: string;
  readonly #allows: ((origin: string) => boolean) | undefined;

  /** @param allows Whether an origin may read responses; undefined: every origin may. */
  constructor(allows: ((origin: string) => boolean) | undefined) {
    const exposed = ["access-control-expose-headers", "*"] as const;
    this.fields = allows === undefined ? [["access-control-allow-origin", "*"], exposed] : [exposed];
    this.vary = allows === undefined ? "" : "Origin";
    this.#allows = allows;
  }

  /** Returns the value of `Access-Control-Allow-Origin` if it depends on the request and the origin is allowed. */
  allowedOrigin(request: RequestFields): string | undefined {
    if (this.#allows === undefined) return undefined;
    const origin = request.get("origin");
    return origin && ORIGIN.test(origin) && this.#allows(origin) ? origin : undefined;
  }
}

/** Returns the policy of the option `cors`; undefined if no other origin may read responses. */
export function crossOriginOf(cors: NonNullable<StaticHandlerOptions["cors"]>, warn: Warn): CrossOrigin | undefined {
  if (cors === false) return undefined;
  if (cors === true) return new CrossOrigin(undefined);
  if (typeof cors === "function") return new CrossOrigin(carefully(cors, warnOnce(warn)));
  const wrong = cors.find((origin) => {
    if (origin === "null") return false;
    if (!URL_ORIGIN.test(origin) || !URL.canParse(origin)) return true;
    return /^https?:/.test(origin) && new URL(origin).origin !== origin; // URL serializes no origin of other schemes
  });
  const hint = "use one such as https://app.example, or true for any";
  if (wrong !== undefined) throw new TypeError(`cors "${wrong}" is not an origin as browsers send it: ${hint}`);
  const allowed = new Set<string>(cors);
  return new CrossOrigin((origin) => allowed.has(origin));
}

/** Wraps a user's function: if it throws, the origin is not allowed, and a warning is printed. */
function carefully(allows: (origin: string) => boolean, warn: Warn): (origin: string) => boolean {
  return (origin) => {
    try {
      return allows(origin) === true;
    } catch (error) {
      warn("", `cors() failed for ${origin}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
}

/** The fields that options add to all responses about a file. */
export interface CustomFields {
  /** The fields by name in lower case; an empty value removes a field. */
  readonly fields: Headers;
  /** The policy that adds a permission to each response; undefined if `headers()` sets it. */
  readonly cors: CrossOrigin | undefined;
}

/** Returns the fields of `headers()` for `path`, and those of `cors`. */
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
    if ("then" in record) throw new TypeError("it is a promise, and is asked for while files are listed");
    // The runtimes' Headers ignore a record's field named `__proto__`, so lists are passed.
    const fields = new Headers(Symbol.iterator in record ? record : Object.entries(record));
    for (const [name, value] of fields) {
      if (!isSettable(name)) throw new TypeError(`only the server can know "${name}"`);
      (name === "cache-control" ? requireDirectives : requireFieldValue)(`"${name}"`, value);
    }
    return fields;
  } catch (cause) {
    const place = path === "" ? 'the folder (path "")' : path;
    throw new TypeError(`headers() gives what cannot be sent for ${place}: ${(cause as Error).message}`, { cause });
  }
}

/** @throws {TypeError} if a value of `Cache-Control` is invalid, or has a number alone, which no cache respects. */
export function requireDirectives(origin: string, value: string): void {
  requireFieldValue(origin, value);
  const [, number] = /(?:^|,)\s*(\d+)\s*(?:,|$)/.exec(value) ?? [];
  if (number === undefined) return;
  throw new TypeError(`${origin} gives ${JSON.stringify(value)}, and ${number} is no directive: use max-age=${number}`);
}

/** The fields of all responses about a file or the folder, with or without a representation. */
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

  /** Adds the permission for the request's origin, if the policy depends on that. */
  permit(answer: Answer, request: RequestFields): Answer {
    const origin = this.allowedOrigin(request);
    return origin === undefined ? answer : answer.with(["Access-Control-Allow-Origin", origin]);
  }

  /** Returns the request's origin, if the policy depends on it and allows it. */
  allowedOrigin(request: RequestFields): string | undefined {
    return this.#cors?.allowedOrigin(request);
  }

  /** Returns a response with a line of text, the fields `own`, and these. */
  text(status: number, text: string, own: Fields = []): Answer {
    const bytes = new TextEncoder().encode(`${text}\n`);
    const about = ["Content-Type", "text/plain; charset=utf-8", "Content-Length", String(bytes.length)];
    return new Answer(status, [...about, ...this.beside(own)], bytes);
  }

  /** Returns `own` with the custom fields that it lacks; the names in `Vary` are joined. */
  beside(own: Fields): Fields {
    const fields = [...own];
    for (let i = 0; i < this.#fields.length; i += 2) {
      if (valueOf(own, this.#fields[i]) === undefined) fields.push(this.#fields[i], this.#fields[i + 1]);
    }
    return varying(fields, this.#vary);
  }
}
