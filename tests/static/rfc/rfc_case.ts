import type { StaticHandlerOptions } from "../../../lib/static/mod.ts";
import type { Coding } from "./known_tree.ts";

/** The fields of a request or response; an array has one value a line. */
export type FieldLines = Readonly<Record<string, string | readonly string[]>>;

/** The expectations of a response. */
export interface Expected {
  readonly status: number;
  /** The coding of the file that the answer is of, if it is of one. */
  readonly coding?: Coding;
  /** The path of that file below the folder. Default: the target's file. */
  readonly file?: string;
  /** First and last bytes of the parts, as in `Content-Range`; negative ones are counted from the end. */
  readonly ranges?: readonly (readonly [first: number, last: number])[];
  /**
   * Additional fields, or values that differ from those implied by status and file; null requires a field's absence.
   */
  readonly fields?: Readonly<Record<string, string | RegExp | null>>;
  /** The path and query of a redirect's location. */
  readonly location?: string;
}

/** The settings of a case that differ from the defaults. */
export interface Particulars {
  /** Default: GET. */
  readonly method?: string;
  /** The handler's options. Default: `plain`. */
  readonly on?: SiteName;
  /** The only entry point that can receive such a request. */
  readonly only?: "node" | "fetch";
  /** The reason why Bun cannot answer so; undefined if it can. */
  readonly notOnBun?: string;
  /** The version in the request line. Default: 1.1. */
  readonly version?: "1.0";
  /** The request's content. */
  readonly content?: string;
}

/**
 * A request and its answer. In fields, `<br>` stands for the tag of the file's representation in that coding, `<opaque br>`
 * for the tag without its quotes, `<#br>` for the size and `<sha256 br>` for the SHA-256 of that representation, and
 * `<dictionary>` for the SHA-256 of the file's former version.
 */
export type RFCCase = readonly [
  /** RFC and section, such as `9110 13.1.2`. */
  section: string,
  /** A sentence, without its end. */
  name: string,
  target: string,
  fields: FieldLines,
  expected: Expected,
  particulars?: Particulars,
];

/** A handler under test, named after its options. */
export type SiteName =
  | "plain"
  | "streamed"
  | "zstdFirst"
  | "gzipOnly"
  | "identityOnly"
  | "noDictionaries"
  | "base"
  | "clean"
  | "application"
  | "errorPage"
  | "digests"
  | "dotfiles"
  | "noIndex"
  | "fresh"
  | "byPath"
  | "middleware";

/** The options of each site; all serve the same folder. */
export const sites: Readonly<Record<SiteName, StaticHandlerOptions>> = {
  plain: {},
  /** A site with nothing in memory: every response is streamed. */
  streamed: { memoryLimit: 0 },
  zstdFirst: { precompressed: ["zstd", "br", "gzip"] },
  gzipOnly: { precompressed: ["gzip"] },
  identityOnly: { precompressed: [], dictionaries: false },
  noDictionaries: { dictionaries: false },
  base: { basePath: "/site/" },
  clean: { cleanUrls: true },
  application: { fallback: "index.html" },
  errorPage: { notFound: "errors/404.html" },
  digests: { reprDigest: true },
  dotfiles: { dotfiles: true },
  noIndex: { index: false },
  fresh: { cacheControl: "max-age=3600" },
  byPath: {
    cacheControl: (path) => path === "style.css" ? "max-age=10" : undefined,
    immutable: /^docs\//,
    headers: (path) =>
      path === "app.js"
        ? { "Access-Control-Allow-Origin": "https://shop.example", "Vary": "Origin", "X-Own": "1" }
        : undefined,
  },
  /** The handler as middleware; requests it passes on yield 299. */
  middleware: { notFound: "errors/404.html" },
};

type More = Pick<Expected, "file" | "fields">;

/** The whole file in a coding. */
export const ok = (coding: Coding, more: More = {}): Expected => ({ status: 200, coding, ...more });
/** Returns a partial response with ranges of a file. */
export const partial = (coding: Coding, ranges: Expected["ranges"], more: More = {}): Expected => ({
  status: 206,
  coding,
  ranges,
  ...more,
});
/** The client has the file in that coding. */
export const unchanged = (coding: Coding, more: More = {}): Expected => ({ status: 304, coding, ...more });
/** The file in that coding has no such range. */
export const unsatisfiable = (coding: Coding, more: More = {}): Expected => ({ status: 416, coding, ...more });
/** A precondition does not hold. */
export const failed: Expected = { status: 412 };
export const badRequest: Expected = { status: 400 };
export const notFound: Expected = { status: 404 };
export const notAllowed: Expected = { status: 405, fields: { allow: "GET, HEAD, OPTIONS" } };
export const notAcceptable: Expected = { status: 406, fields: { vary: /^accept-encoding/i } };
/** The response to OPTIONS. */
export const allowed: Expected = {
  status: 204,
  fields: { "allow": "GET, HEAD, OPTIONS", "content-length": null, "content-type": null },
};
/** The response of the handler after this one. */
export const next: Expected = { status: 299 };
export const redirect = (status: 301 | 308, location: string): Expected => ({ status, location });
