import { lasting } from "../../files/internal.ts";
import { fieldValue, isUndoable, type StoredCoding, storedCodings } from "../../semantics/mod.ts";
import {
  anyOf,
  bool,
  bytes,
  func,
  listOf,
  type Member,
  member,
  oneOf,
  schema,
  type SchemaOf,
  text,
} from "../../streams/internal.ts";
import type { Warn } from "../scan/representation.ts";

/**
 * A content coding of the files beside an original, by its name in HTTP.
 *
 * @example Prefer zstd, which is decoded faster, where both are there
 * ```ts
 * import { createStaticHandler, type PrecompressedCoding } from "@millrace/streams/static";
 *
 * const precompressed: PrecompressedCoding[] = ["zstd", "br"]; // and never gzip
 * const site = await createStaticHandler("dist", { precompressed });
 * await site.close();
 * ```
 */
export type PrecompressedCoding = "br" | "zstd" | "gzip";

/**
 * A problem with a file that the handler does not serve, or serves in an unexpected way.
 *
 * @example Collect what is left out
 * ```ts
 * import { createStaticHandler, type StaticWarning } from "@millrace/streams/static";
 *
 * const warnings: StaticWarning[] = [];
 * const site = await createStaticHandler("dist", { onWarning: (warning) => warnings.push(warning) });
 * console.log(warnings.length); // 0
 * await site.close();
 * ```
 */
export interface StaticWarning {
  /** The path below the folder. */
  readonly path: string;
  /** The problem, in plain words. */
  readonly message: string;
}

/**
 * Options of {@linkcode createStaticHandler}.
 *
 * @example A page of an application, fields of one's own, and a former deploy
 * ```ts
 * import { createStaticHandler, type StaticHandlerOptions } from "@millrace/streams/static";
 *
 * const headers = () => ({ "content-security-policy": "default-src 'self'" });
 * const options: StaticHandlerOptions = { fallback: "index.html", headers, previous: "dist-deployed" };
 * const site = await createStaticHandler("dist", options);
 * const response = await site.fetch(new Request("http://localhost/users/7"));
 * console.log(response.status, response.headers.get("content-security-policy")); // 200 default-src 'self'
 * await site.close();
 * ```
 */
export interface StaticHandlerOptions {
  /**
   * The file that is served for its folder, such as at `/docs/`, to which `/docs` redirects. `false`: none.
   *
   * @default "index.html"
   */
  index?: string | false;
  /**
   * Whether each page has one URL without its extension: `/about` serves `about.html`, `/docs/` serves
   * `docs/index.html`; `/about.html`, `/about/`, `/docs/index` and `/docs/index.html` redirect there.
   *
   * @default false
   */
  cleanUrls?: boolean;
  /**
   * The page of a single-page application: the path of a file below the folder. It is served with 200 for other paths
   * without an extension, if the request accepts HTML. Or a function, which is called for each such request with the
   * decoded path below `basePath`, and returns the path of the file. If it returns undefined, the response is a 404, or
   * `next()` is called.
   *
   * @default none
   */
  fallback?: string | ((path: string) => string | undefined);
  /**
   * The path of the page for a 404, below the folder. The nearest folder on the requested path that has such a page
   * serves it: `/de/nothing` gets `de/404.html`.
   *
   * @default "404.html", if there is one
   */
  notFound?: string;
  /**
   * The status of redirects, which add a folder's slash or lead to the one URL of a page.
   *
   * @default 301 for folders, 308 for pages
   */
  redirectStatus?: 301 | 302 | 307 | 308;
  /**
   * Whether names that begin with a dot are served; `.well-known` always is served.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * Returns fields to add or replace in the responses about a file; an empty value removes a field. Errors and
   * redirects have the fields, too, except those that describe content, such as `Cache-Control`, `Last-Modified` and
   * all `Content-*` but `Content-Security-Policy`. Called once for each file in each scan, with the path below the
   * folder, and once with `""` for responses without a file, such as a 404 without a page.
   *
   * @default none
   */
  headers?: (path: string) => Readonly<Record<string, string>> | undefined;
  /**
   * The origins whose pages may read the responses from scripts, by the CORS protocol: `true` for all, a list such as
   * `["https://app.example"]`, or a function, which is called for each request with an origin. Preflights are answered;
   * credentials are not allowed. `Access-Control-Allow-Origin` of `headers` takes precedence.
   *
   * @default false
   */
  cors?: boolean | readonly string[] | ((origin: string) => boolean);
  /**
   * The paths below the folder whose content never changes, as a pattern or a glob: browsers may keep them for a year
   * without revalidating. `false`: none.
   *
   * By default they are those in the manifest, if it was written with the option `immutable` of precompress or by a
   * build tool's plugin. Otherwise they are files with a content hash in their name, as build tools add it: recognized
   * by the name alone, or by similar names around it. HTML, documents, data, source maps and service workers are then
   * excluded. `reload()` warns of a file that was immutable and has changed.
   *
   * @default those of the manifest, or names with a hash, such as `app-3f9a1c0b.js`
   */
  immutable?: RegExp | string | false;
  /**
   * `Cache-Control` of files that are not immutable, for all, or by path below the folder. Undefined: the default; an
   * empty string: no field.
   *
   * @default "no-cache": kept, and revalidated each time
   */
  cacheControl?: string | ((path: string) => string | undefined);
  /**
   * The URL path of the folder, percent-encoded or not.
   *
   * @default "/"
   */
  basePath?: string;
  /**
   * The precompressed variants to use, in order of preference among those that a client accepts with equal weight.
   * `[]`: none.
   *
   * @default all, the smallest first
   */
  precompressed?: readonly PrecompressedCoding[];
  /**
   * Whether returning browsers get deltas against the version that they have (RFC 9842), if there are deltas.
   *
   * @default true
   */
  dictionaries?: boolean;
  /**
   * The maximum bytes of files kept in memory: those of at most 64 KiB, the smallest first. Others are streamed. On Bun
   * and Deno, the rest of the limit is used for ready Responses.
   *
   * @default 67108864 (64 MiB)
   */
  memoryLimit?: number;
  /**
   * The size in bytes above which files of at least 256 KiB are not hashed: their entity tag is made of their size and
   * modification time, unless the manifest records them. Replace such files by renaming.
   *
   * @default Infinity: all files are hashed, unless the manifest records them
   */
  hashLimit?: number;
  /**
   * Whether responses have the field `Repr-Digest` with the SHA-256 of the file (RFC 9530), if known.
   *
   * @default false
   */
  reprDigest?: boolean;
  /**
   * The immutable files of the previous deploy, which open pages may still request, stay served: those in the given
   * folder, or with `true` those that the last deploy removed, if they are in memory or their files exist.
   *
   * @default none
   */
  previous?: string | true;
  /**
   * Whether the folder is scanned again after a change in it: at once if no served file is missing; otherwise, such as
   * during a build, once changes have stopped. If the folder is a link, switching it is not noticed.
   *
   * @default false
   */
  watch?: boolean;
  /**
   * Called for each file that is not served, or differs from its expected content. An exception in it is printed.
   *
   * @default console.warn
   */
  onWarning?: (warning: StaticWarning) => void;
}

const MEMORY_LIMIT = 64 * 1024 * 1024;

export const staticHandlerOptions: SchemaOf<
  StaticHandlerOptions,
  Exclude<
    keyof StaticHandlerOptions,
    "fallback" | "headers" | "immutable" | "cacheControl" | "precompressed" | "previous" | "redirectStatus"
  >
> = /* @__PURE__ */ schema("createStaticHandler()", () => {
  const codings = (Object.keys(storedCodings) as StoredCoding[]).filter((coding) => isUndoable(coding));
  const fileName = text(undefined, "a file name such as index.html", (name) => !/^\.{0,2}$|\//.test(name));
  return {
    index: anyOf([fileName, oneOf<false>([false])], "index.html"),
    cleanUrls: bool(false),
    fallback: anyOf([pathBelow(), func<(path: string) => string | undefined>()]),
    notFound: pathBelow("404.html"),
    redirectStatus: oneOf([301, 302, 307, 308]),
    dotfiles: bool(false),
    headers: func<NonNullable<StaticHandlerOptions["headers"]>>(),
    cors: anyOf([bool(), listOf(text(), "a list of origins"), func<(origin: string) => boolean>()], false),
    immutable: anyOf([
      member<RegExp>("a regular expression", (value) => value instanceof RegExp),
      text(undefined, "a glob"),
      oneOf<false>([false]),
    ]),
    cacheControl: anyOf([fieldValue(), func<(path: string) => string | undefined>()]),
    basePath: text("/", "a path such as /docs/", (path) => !/[?#\\]|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(path)),
    precompressed: listOf(oneOf<PrecompressedCoding>(codings), "a list of codings"),
    dictionaries: bool(true),
    memoryLimit: bytes(MEMORY_LIMIT),
    hashLimit: bytes(Infinity),
    reprDigest: bool(false),
    previous: anyOf([lasting(text(undefined, "the path of a folder")), oneOf<true>([true])]),
    watch: bool(false),
    onWarning: func<(warning: StaticWarning) => void>(({ path, message }) =>
      console.warn(printable(`${path}: ${message}`))
    ),
  };
});

function pathBelow<D extends string | undefined = undefined>(fallback?: D): Member<string, D> {
  const accepts = (path: string): boolean => !/^(?:\.?\/)*\.?$/.test(path) && !path.split("/").includes("..");
  return text(fallback, "a path below the folder", accepts);
}

/** C0 and C1 controls, line ends, and marks of text direction, all of which affect terminals. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns `text` for one line of a terminal or a log, with control characters escaped. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The maximum number of warnings, since requests can provoke them. */
const MAX_WARNINGS = 100;

/** Wraps `warn`: each warning is passed on once, and at most 100 of them. */
export function warnOnce(warn: Warn): Warn {
  const recorded = new Set<string>();
  return (path, message) => {
    const warning = JSON.stringify([path, message]);
    if (recorded.size >= MAX_WARNINGS || recorded.has(warning)) return;
    recorded.add(warning);
    warn(path, message);
  };
}
