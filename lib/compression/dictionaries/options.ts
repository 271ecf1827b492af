import { requireKnown } from "../../streams/internal.ts";

/**
 * Paths whose responses have much in common, and so share a dictionary.
 *
 * @example Give what the pages have in common
 * ```ts
 * import { createCompression, type DictionaryRoute } from "@millrace/streams/compression";
 *
 * const page = (title: string): string => `<!doctype html><nav>Corn, flour, bread</nav><h1>${title}</h1>`;
 * const route: DictionaryRoute = { path: "/goods/*", template: page("") };
 * const compression = createCompression({ dictionaries: { routes: [route] } });
 * ```
 */
export interface DictionaryRoute {
  /** The path; a `*` in it, one at most, stands for anything. Of several routes the first that matches counts. */
  readonly path: string;
  /**
   * The dictionary: bytes that the responses have in common, and nobody's data.
   *
   * @default made from the first responses, if the route is public
   */
  readonly template?: string | Uint8Array;
  /**
   * Whether the responses are the same for everybody, so that a dictionary may be made from them. Left out are those to
   * requests with a query, `Cookie` or `Authorization`, and those with `Set-Cookie` or a `Cache-Control` of `private` or
   * `no-store`.
   *
   * @default false
   */
  readonly public?: boolean;
}

/**
 * Which responses are compressed with dictionaries (RFC 9842).
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9842}
 * @example Have dictionaries made from public pages
 * ```ts
 * import { createCompression, type DictionaryOptions } from "@millrace/streams/compression";
 *
 * const dictionaries: DictionaryOptions = { routes: [{ path: "/goods/*", public: true }] };
 * const compression = createCompression({ dictionaries });
 * ```
 */
export interface DictionaryOptions {
  /**
   * Routes with a dictionary each, which clients load once, and all responses below may be compressed with.
   *
   * @default []
   */
  readonly routes?: readonly DictionaryRoute[];
  /**
   * The bytes of former versions of public responses to keep, with their URLs: clients that have one get the difference.
   * 0 keeps none.
   *
   * @default 16777216
   */
  readonly memory?: number;
  /**
   * The path below which the routes' dictionaries are served.
   *
   * @default "/.well-known/compression-dictionaries/"
   */
  readonly path?: string;
}

/** A checked route: its path before and after the `*`. */
export interface RouteSettings {
  readonly path: string;
  readonly before: string;
  /** Undefined if there is no `*`. */
  readonly after: string | undefined;
  readonly template: Uint8Array | undefined;
}

/** Checked options. */
export interface DictionarySettings {
  readonly routes: readonly RouteSettings[];
  readonly memory: number;
  readonly path: string;
}

const MEMORY = 16 * 1024 * 1024;
const PATH = "/.well-known/compression-dictionaries/";
/** A path as it is in a request: nothing in it is encoded, as nothing needs to be. */
const PLAIN_PATH = /^\/[!$&'()+,\-./0-9:;=@A-Z_a-z~]*$/;

/** @throws {TypeError | RangeError} if an option is not what it should be. */
export function dictionarySettings(options: DictionaryOptions): DictionarySettings {
  requireKnown(options, { routes: true, memory: true, path: true }, "dictionaries");
  const { routes = [], memory = MEMORY, path = PATH } = options;
  if (!Array.isArray(routes)) throw new TypeError(`dictionaries.routes must be an array, not ${String(routes)}`);
  if (!(typeof memory === "number" && memory >= 0)) {
    throw new RangeError(`dictionaries.memory ${String(memory)} is not a number of bytes: use 0 or more`);
  }
  if (typeof path !== "string" || !PLAIN_PATH.test(path) || !path.endsWith("/")) {
    throw new TypeError(`dictionaries.path ${JSON.stringify(path)} must be a path that begins and ends with a slash`);
  }
  return { routes: routes.map(routeSettings), memory, path };
}

function routeSettings(route: DictionaryRoute): RouteSettings {
  requireKnown(route, { path: true, template: true, public: true }, "a dictionary's route");
  const { path, template } = route;
  const [before, after, ...more] = typeof path === "string" ? path.split("*") : [""];
  if (!PLAIN_PATH.test(before) || !PLAIN_PATH.test(`/${after ?? ""}`) || more.length > 0) {
    throw new TypeError(`a route's path ${JSON.stringify(path)} must begin with a slash and have one * at most`);
  }
  if (template === undefined && route.public !== true) {
    throw new TypeError(`the route ${path} needs a template, or public: true if one may be made from its responses`);
  }
  const bytes = typeof template === "string" ? new TextEncoder().encode(template) : template;
  if (bytes !== undefined && !(bytes instanceof Uint8Array && bytes.length > 0)) {
    throw new TypeError(`the template of the route ${path} must be a string or a Uint8Array, and not empty`);
  }
  return { path, before, after, template: bytes };
}
