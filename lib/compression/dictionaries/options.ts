import {
  anyOf,
  bool,
  bytes,
  isUint8Array,
  listOf,
  type Member,
  member,
  nested,
  schema,
  type SchemaOf,
  text,
} from "../../streams/internal.ts";

/**
 * Paths whose responses are similar and share a dictionary.
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
  /** The path, with at most one `*` for any characters. Of several routes, the first match counts. */
  readonly path: string;
  /**
   * The dictionary: bytes that the responses have in common, without personal data.
   *
   * @default made from the first responses, if the route is public
   */
  readonly template?: string | Uint8Array;
  /**
   * Whether the responses are the same for all users, so that a dictionary may be made from them. Responses to requests
   * with a query, `Cookie` or `Authorization` are left out, as are those with `Set-Cookie` or a `Cache-Control` of
   * `private` or `no-store`.
   *
   * @default false
   */
  readonly public?: boolean;
}

/**
 * Options for compression with dictionaries (RFC 9842).
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
   * The routes. Clients load the dictionary of a route once; it then serves to compress all responses of the route.
   *
   * @default []
   */
  readonly routes?: readonly DictionaryRoute[];
  /**
   * The maximum bytes of former versions of public responses, URLs included. A client that has such a version gets a
   * delta against it. 0 keeps none.
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

const MEMORY = 16 * 1024 * 1024;
const PATH = "/.well-known/compression-dictionaries/";
/** A path without encoded characters, as requests contain it. */
const PLAIN_PATH = /^\/[!$&'()+,\-./0-9:;=@A-Z_a-z~]*$/;

export const dictionaryRoute: SchemaOf<DictionaryRoute, "public"> = /* @__PURE__ */ schema(
  "createCompression()",
  () => ({
    path: text(undefined, "a path that begins with a slash and has one * at most", isRoutePath),
    template: anyOf([
      text(undefined, "a text that is not empty", (template) => template !== ""),
      member<Uint8Array>("a Uint8Array that is not empty", (value) => isUint8Array(value) && value.length > 0),
    ]),
    public: bool(false),
  }),
);

function isRoutePath(path: string): boolean {
  const [before, after = "", ...more] = path.split("*");
  return PLAIN_PATH.test(before!) && PLAIN_PATH.test(`/${after}`) && more.length === 0;
}

export const dictionaryOptions: SchemaOf<DictionaryOptions, keyof DictionaryOptions> = /* @__PURE__ */ schema(
  "createCompression()",
  () => ({
    routes: listOf(wholeRoute(), "a list of routes", []),
    memory: bytes(MEMORY),
    path: text(PATH, "a path that begins and ends with a slash", (path) => PLAIN_PATH.test(path) && path.endsWith("/")),
  }),
);

/** Returns a schema member for a route with a path, and with a template or the permission to make one. */
function wholeRoute(): Member<DictionaryRoute> {
  return {
    ...nested(dictionaryRoute),
    check(value, name) {
      const { path, template, public: isPublic } = dictionaryRoute(value as object, `${name}.`);
      if (path === undefined) throw new TypeError(`${name}.path is missing: name the path of the route`);
      if (template !== undefined || isPublic) return { path, template, public: isPublic };
      throw new TypeError(`${name}, ${path}, needs a template, or public: true if one may be made from its responses`);
    },
  };
}
