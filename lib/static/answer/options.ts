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
 * A problem of a file that the handler leaves out, or answers in an unexpected way.
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
   * The file that answers for its folder; `/docs` redirects to `/docs/`. `false`: no file does.
   *
   * @default "index.html"
   */
  index?: string | false;
  /**
   * Whether each page has one URL without its extension: `/about` is answered by `about.html`, `/docs/` by
   * `docs/index.html`; `/about.html`, `/about/`, `/docs/index` and `/docs/index.html` redirect there.
   *
   * @default false
   */
  cleanUrls?: boolean;
  /**
   * The page of an application that routes by itself: the path of the file, below the folder, that answers paths that
   * nothing else does and whose last part has no extension, with 200, if the request accepts HTML. Or a function, which
   * is called for each such request, with the decoded path below `basePath`, and returns the path of the file;
   * undefined: none, so that the response is a 404, or `next()` is called.
   *
   * @default none
   */
  fallback?: string | ((path: string) => string | undefined);
  /**
   * The path of the page, below the folder, that goes with a 404. Where folders on the way to what was requested have a
   * page by that path, too, the nearest one's does: `/de/nothing` gets `de/404.html`.
   *
   * @default "404.html", if there is one
   */
  notFound?: string;
  /**
   * The status of redirects to a folder's slash and to a page's one URL.
   *
   * @default 301 for folders, 308 for pages
   */
  redirectStatus?: 301 | 302 | 307 | 308;
  /**
   * Whether names that begin with a dot are served; `.well-known` always is.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * Fields to add to the responses about a file, or to set otherwise; an empty value leaves the field out. Errors and
   * redirects have them too, except those that describe content, such as `Cache-Control`, `Last-Modified` and all
   * `Content-*` but `Content-Security-Policy`. Called once a file whenever the folder is scanned, with the path below
   * the folder, and once with `""`: for responses about no file, such as a 404 without a page.
   *
   * @default none
   */
  headers?: (path: string) => Readonly<Record<string, string>> | undefined;
  /**
   * The origins whose pages may read the responses from scripts, by the CORS protocol: `true` for all, a list such as
   * `["https://app.example"]`, or a function, which is called for each request that names an origin. Preflights are
   * answered; credentials are not allowed. `Access-Control-Allow-Origin` of `headers` goes before it.
   *
   * @default false
   */
  cors?: boolean | readonly string[] | ((origin: string) => boolean);
  /**
   * The paths below the folder whose content never changes, as a pattern or a glob: browsers may keep them for a year
   * without revalidating. `false`: none.
   *
   * By default those that the manifest names, if it was written with precompress's option of that name or by a plugin
   * for a build tool. Otherwise those whose names hold a hash of their content, as build tools name them: single names,
   * and names that others around them show to be hashed. HTML, documents, data, source maps and service workers are
   * never among them then. `reload()` warns of a file that was immutable and has changed.
   *
   * @default what the manifest says, or names that hold a hash, such as `app-3f9a1c0b.js`
   */
  immutable?: RegExp | string | false;
  /**
   * `Cache-Control` of files that are not immutable, for all or by path below the folder; undefined stands for the
   * default, the empty string for no field.
   *
   * @default "no-cache": kept, and revalidated each time
   */
  cacheControl?: string | ((path: string) => string | undefined);
  /**
   * The path that the folder is served at, encoded as in a URL or not.
   *
   * @default "/"
   */
  basePath?: string;
  /**
   * Which precompressed variants are used, the preferred one first where a client likes several equally. `[]`: none.
   *
   * @default all, the smallest first
   */
  precompressed?: readonly PrecompressedCoding[];
  /**
   * Whether returning visitors get deltas against what they have (RFC 9842), if there are any.
   *
   * @default true
   */
  dictionaries?: boolean;
  /**
   * The limit in bytes of the files kept in memory: those of at most 64 KiB, the smallest first. Others are streamed.
   * The rest of the limit holds ready Responses on Bun and Deno.
   *
   * @default 67108864 (64 MiB)
   */
  memoryLimit?: number;
  /**
   * Files of more bytes, and of 256 KiB at least, are not read before they are sent: their tag is made of their size
   * and the time of their last change, unless the manifest records them. Replace such files by renaming.
   *
   * @default Infinity: all files are hashed, unless the manifest records them
   */
  hashLimit?: number;
  /**
   * Whether answers carry the SHA-256 of the file that they are of (RFC 9530), if it is known.
   *
   * @default false
   */
  reprDigest?: boolean;
  /**
   * Keeps the immutable files of the former deploy answerable, which open pages may still request: those in that
   * folder, or, if `true`, those that the last deploy removed, if they are in memory or their files exist.
   *
   * @default none
   */
  previous?: string | true;
  /**
   * Whether the folder is scanned again when something in it changes: at once if no served file is missing; otherwise,
   * as during a build, once changes have stopped. Switching a link in place of the folder is not noticed.
   *
   * @default false
   */
  watch?: boolean;
  /**
   * Called for each file that is left out or differs from what is expected. Its exceptions are printed.
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
  return {
    index: anyOf([text(undefined, "a file name such as index.html", isFileName), oneOf<false>([false])], "index.html"),
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

function isFileName(name: string): boolean {
  return !["", ".", ".."].includes(name) && !name.includes("/");
}

function pathBelow<D extends string | undefined = undefined>(fallback?: D): Member<string, D> {
  const accepts = (path: string): boolean => !/^\/*$/.test(path) && !path.split("/").includes("..");
  return text(fallback, "a path below the folder", accepts);
}

/** C0 and C1 controls, line ends, and marks that change the direction of text, all of which terminals obey. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns `text` for one line of a terminal or a log, with control characters escaped. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The maximum number of warnings, since requests provoke them. */
const MAX_WARNINGS = 100;

/** Passes each warning on once, and at most 100 of them. */
export function warnOnce(warn: Warn): Warn {
  const recorded = new Set<string>();
  return (path, message) => {
    const warning = JSON.stringify([path, message]);
    if (recorded.size >= MAX_WARNINGS || recorded.has(warning)) return;
    recorded.add(warning);
    warn(path, message);
  };
}
