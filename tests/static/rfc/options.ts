import type { Coding } from "./known_tree.ts";
import { notAllowed, notFound, ok, redirect, type RFCCase } from "./rfc_case.ts";

const file = (path: string) => ok("identity", { file: path });
/** The page of an application at a path of its own. */
const page = (coding: Coding) => ok(coding, { file: "index.html", fields: { vary: "Accept-Encoding, Accept" } });
const base = { on: "base" } as const;
const clean = { on: "clean" } as const;
const application = { on: "application" } as const;
const errorPage = { on: "errorPage" } as const;
const byPath = { on: "byPath" } as const;

/** Cases of the handler's other options, with requests of the default ones. */
export const options: readonly RFCCase[] = [
  ["9110 7.1", "basePath: the root of the site", "/site/", {}, file("index.html"), base],
  ["9110 7.1", "basePath: a file", "/site/app.js", {}, file("app.js"), base],
  ["9110 7.1", "basePath: a folder", "/site/docs/", {}, file("docs/index.html"), base],
  ["9110 15.4.2", "basePath: a folder without its slash", "/site/docs", {}, redirect(301, "/site/docs/"), base],
  ["9110 15.4.2", "basePath: the root without its slash", "/site", {}, redirect(301, "/site/"), base],
  ["9110 15.4.2", "basePath: the root without its slash, query", "/site?a", {}, redirect(301, "/site/?a"), base],
  [
    "9842 2.1",
    "basePath: a dictionary's pattern is of the whole path",
    "/site/assets/main-3f9a1c0b.js",
    {},
    ok("identity", {
      file: "assets/main-3f9a1c0b.js",
      fields: { "use-as-dictionary": 'match="/site/assets/main-*.js"' },
    }),
    base,
  ],
  ["9110 7.1", "basePath: what is outside", "/app.js", {}, notFound, base],
  ["9110 7.1", "basePath: what is outside", "/", {}, notFound, base],
  ["9110 7.1", "basePath: a name that begins as it", "/sitemap/app.js", {}, notFound, base],
  ["9110 7.1", "basePath: twice", "/site/site/app.js", {}, notFound, base],

  ["9110 7.1", "cleanUrls: a page without its extension", "/about", {}, file("about.html"), clean],
  ["9110 7.1", "cleanUrls: a page in a folder", "/docs/guide", {}, file("docs/guide.html"), clean],
  [
    "9110 12.5.3",
    "cleanUrls: a variant of it",
    "/docs/guide",
    { "accept-encoding": "br" },
    ok("br", {
      file: "docs/guide.html",
    }),
    clean,
  ],
  ["9110 15.4.9", "cleanUrls: a page by its extension", "/about.html", {}, redirect(308, "/about"), clean],
  ["9110 15.4.9", "cleanUrls: with a query", "/docs/guide.html?a=b", {}, redirect(308, "/docs/guide?a=b"), clean],
  ["9110 15.4.9", "cleanUrls: the index by its name", "/docs/index.html", {}, redirect(308, "/docs/"), clean],
  ["9110 15.4.9", "cleanUrls: the root's index by its name", "/index.html", {}, redirect(308, "/"), clean],
  ["9110 15.4.9", "cleanUrls: a page with a slash", "/about/?a=b", {}, redirect(308, "/about?a=b"), clean],
  [
    "9110 15.4.9",
    "cleanUrls: a page in a folder with a slash",
    "/docs/guide/",
    {},
    redirect(308, "/docs/guide"),
    clean,
  ],
  ["9110 15.4.9", "cleanUrls: the index without its extension", "/docs/index?a", {}, redirect(308, "/docs/?a"), clean],
  ["9110 15.4.9", "cleanUrls: the root's index without its extension", "/index", {}, redirect(308, "/"), clean],
  ["9110 15.4.9", "cleanUrls: the index with a slash", "/docs/index/", {}, redirect(308, "/docs/"), clean],
  ["9110 7.1", "cleanUrls: a folder", "/docs/", {}, file("docs/index.html"), clean],
  ["9110 15.4.2", "cleanUrls: a folder without its slash", "/docs", {}, redirect(301, "/docs/"), clean],
  ["9110 7.1", "cleanUrls: other files have their extension", "/app", {}, notFound, clean],
  ["9110 7.1", "without cleanUrls a page has its extension", "/about", {}, notFound],

  ["9110 15.3.1", "fallback: an unknown path", "/orders/17", {}, page("identity"), application],
  ["9110 15.3.1", "fallback: an unknown folder", "/orders/", {}, page("identity"), application],
  ["9110 15.3.1", "fallback: with a query", "/orders?a.b", {}, page("identity"), application],
  ["9110 9.3.2", "fallback: HEAD", "/orders/17", {}, page("identity"), { ...application, method: "HEAD" }],
  [
    "9110 12.5.3",
    "fallback: negotiation",
    "/orders",
    { "accept-encoding": "gzip" },
    page("gzip"),
    application,
  ],
  ["9110 13.1.2", "fallback: preconditions", "/orders", { "if-none-match": "<identity>" }, {
    ...page("identity"),
    status: 304,
  }, application],
  ["9110 14.2", "fallback: ranges", "/orders", { range: "bytes=0-9" }, {
    ...page("identity"),
    status: 206,
    ranges: [[0, 9]],
  }, application],
  [
    "9110 12.5.1",
    "fallback: for who accepts HTML",
    "/orders",
    { accept: "text/*;q=0.1" },
    page("identity"),
    application,
  ],
  ["9110 12.5.5", "fallback: not for others, which caches are told", "/orders", { accept: "application/json" }, {
    ...notFound,
    fields: { vary: "Accept" },
  }, application],
  ["9110 12.5.5", "fallback: where there is none, Accept does not matter", "/orders.js", { accept: "text/html" }, {
    ...notFound,
    fields: { vary: null },
  }, application],
  ["9110 12.5.5", "fallback: at the page's own path Accept does not matter", "/", { accept: "application/json" }, {
    ...file("index.html"),
    fields: { vary: "Accept-Encoding" },
  }, application],
  ["9110 15.5.5", "fallback: a missing file is not found", "/orders/17.js", {}, notFound, application],
  ["9110 15.3.1", "fallback: a dot in a folder's name", "/v1.2/orders", {}, page("identity"), application],
  ["9110 15.3.1", "fallback: files come first", "/app.js", {}, file("app.js"), application],
  ["9110 15.4.2", "fallback: folders come first", "/docs", {}, redirect(301, "/docs/"), application],
  ["9110 15.5.6", "POST to a file is not allowed", "/app.js", {}, notAllowed, { ...application, method: "POST" }],

  ["9110 15.5.5", "notFound: the page", "/nothing", {}, {
    status: 404,
    coding: "identity",
    file: "errors/404.html",
  }, errorPage],
  ["9110 15.5.5", "notFound: the page negotiated", "/nothing", { "accept-encoding": "br" }, {
    status: 404,
    coding: "br",
    file: "errors/404.html",
  }, errorPage],
  ["9110 15.5.5", "notFound: HEAD", "/nothing", {}, { status: 404, coding: "identity", file: "errors/404.html" }, {
    ...errorPage,
    method: "HEAD",
  }],
  ["9110 13.2.1", "notFound: no preconditions", "/nothing", { "if-none-match": "*" }, {
    status: 404,
    coding: "identity",
    file: "errors/404.html",
  }, errorPage],
  ["9110 14.2", "notFound: no ranges", "/nothing", { range: "bytes=0-1" }, {
    status: 404,
    coding: "identity",
    file: "errors/404.html",
  }, errorPage],
  [
    "9110 15.5.5",
    "notFound: the page even if it is not acceptable as it is",
    "/nothing",
    {
      "accept-encoding": "identity;q=0",
    },
    notFound,
    errorPage,
  ],
  ["9110 7.1", "notFound: the page by its own path", "/errors/404.html", {}, file("errors/404.html"), errorPage],

  ["9110 7.1", "dotfiles", "/.env", {}, file(".env"), { on: "dotfiles" }],
  ["9110 7.1", "dotfiles: in a folder", "/.hidden/secret.txt", {}, file(".hidden/secret.txt"), { on: "dotfiles" }],
  ["9110 15.5.5", "dotfiles: never the manifest", "/.millrace.json", {}, notFound, { on: "dotfiles" }],
  ["9110 7.1", "index false: a folder is not found", "/docs/", {}, notFound, { on: "noIndex" }],
  ["9110 7.1", "index false: the root is not found", "/", {}, notFound, { on: "noIndex" }],
  ["9110 7.1", "index false: no redirect", "/docs", {}, notFound, { on: "noIndex" }],
  ["9110 7.1", "index false: the index by its name", "/docs/index.html", {}, file("docs/index.html"), {
    on: "noIndex",
  }],

  [
    "9111 5.2",
    "cacheControl by path",
    "/style.css",
    {},
    ok("identity", { fields: { "cache-control": "max-age=10" } }),
    byPath,
  ],
  [
    "9111 5.2",
    "cacheControl by path, default",
    "/data.json",
    {},
    ok("identity", {
      fields: { "cache-control": "no-cache" },
    }),
    byPath,
  ],
  [
    "8246 2",
    "immutable by pattern",
    "/docs/guide.html",
    {},
    ok("identity", {
      fields: { "cache-control": "public, max-age=31536000, immutable" },
    }),
    byPath,
  ],
  [
    "8246 2",
    "immutable by pattern: a hash does not matter then",
    "/assets/main-3f9a1c0b.js",
    {},
    ok("identity", {
      fields: { "cache-control": "no-cache" },
    }),
    byPath,
  ],
  [
    "9110 12.5.5",
    "headers: fields of one's own, and Vary is merged",
    "/app.js",
    {},
    ok("identity", {
      fields: {
        "x-own": "1",
        "access-control-allow-origin": "https://shop.example",
        "vary": /^(?=.*\borigin\b)(?=.*\baccept-encoding\b)(?=.*\bavailable-dictionary\b)/i,
      },
    }),
    byPath,
  ],
  ["9110 15.4.5", "headers: fields of one's own in a 304", "/app.js", { "if-none-match": "<identity>" }, {
    status: 304,
    coding: "identity",
    fields: { "access-control-allow-origin": "https://shop.example", "vary": /\borigin\b/i },
  }, byPath],
];
