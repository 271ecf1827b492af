import type { Answer } from "./answer.ts";
import type { StaticHandlerOptions } from "./options.ts";
import type { RequestFields } from "./request_fields.ts";
import type { Warn } from "../scan/representation.ts";
import { warnOnce } from "./warn_once.ts";

/** The permission that a preflight asks for. `*` stands for every request field but `Authorization`. */
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

const isRead = (method: string | null | undefined): boolean => method === "GET" || method === "HEAD";

/** Whether the request is a preflight: a browser asks if a page of another origin may send another request. */
export function isPreflight(method: string, request: RequestFields): boolean {
  return method === "OPTIONS" && !!request.get("origin") && !!request.get("access-control-request-method");
}

/** Whether the request is a preflight of a GET or HEAD request. */
export function isPreflightOfRead(method: string, request: RequestFields): boolean {
  return isPreflight(method, request) && isRead(request.get("access-control-request-method"));
}

/**
 * The policy for pages of other origins that read responses by script.
 *
 * @see {@link https://fetch.spec.whatwg.org/#http-cors-protocol}
 */
export class CrossOrigin {
  /** The fields of every response, with names in lower case; `Access-Control-Allow-Origin` only if it is always the same. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The request field that responses depend on; empty if they depend on none. */
  readonly vary: string;
  readonly #allows: ((origin: string) => boolean) | undefined;

  /** @param allows Whether an origin may read responses; undefined: every origin may. */
  constructor(allows: ((origin: string) => boolean) | undefined) {
    const exposed = ["access-control-expose-headers", "*"] as const;
    this.fields = allows === undefined ? [["access-control-allow-origin", "*"], exposed] : [exposed];
    this.vary = allows === undefined ? "" : "Origin";
    this.#allows = allows;
  }

  /** The value of `Access-Control-Allow-Origin`, if it depends on the request and allows it. */
  allowedOrigin(request: RequestFields): string | undefined {
    if (this.#allows === undefined) return undefined;
    const origin = request.get("origin");
    return origin && ORIGIN.test(origin) && this.#allows(origin) ? origin : undefined;
  }

  /** Adds the permission for the origin of `request`, if it depends on that. */
  permit(answer: Answer, request: RequestFields): Answer {
    const origin = this.allowedOrigin(request);
    return origin === undefined ? answer : answer.with(["Access-Control-Allow-Origin", origin]);
  }
}

/**
 * The policy of the option `cors`; undefined if no other origin may read anything.
 *
 * @throws {TypeError} if it is not what it should be.
 */
export function crossOriginOf(cors: StaticHandlerOptions["cors"], warn: Warn): CrossOrigin | undefined {
  if (cors === undefined || cors === false) return undefined;
  if (cors === true) return new CrossOrigin(undefined);
  if (typeof cors === "function") return new CrossOrigin(carefully(cors, warnOnce(warn)));
  if (!Array.isArray(cors)) {
    throw new TypeError(`cors ${cors} is not what it should be: use true, a list of origins, or a function`);
  }
  for (const origin of cors) requireOrigin(origin);
  const allowed = new Set<string>(cors);
  return new CrossOrigin((origin) => allowed.has(origin));
}

/** Wraps a function of the user's: where it throws, the origin is not allowed, and a warning says so. */
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

function requireOrigin(origin: unknown): void {
  if (typeof origin === "string" && (origin === "null" || isOrigin(origin))) return;
  const wayOut = "use one such as https://app.example, or true for any";
  throw new TypeError(`cors "${origin}" is not an origin as browsers send it: ${wayOut}`);
}

/** The URL standard serializes origins of `http` and `https`; those of other schemes, as in apps, must look like one. */
function isOrigin(origin: string): boolean {
  if (!URL_ORIGIN.test(origin) || !URL.canParse(origin)) return false;
  return !/^https?:/.test(origin) || new URL(origin).origin === origin;
}
