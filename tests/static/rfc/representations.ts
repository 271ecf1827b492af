import { MODIFIED } from "./known_tree.ts";
import { failed, notFound, ok, partial, type RFCCase, unchanged } from "./rfc_case.ts";

const IMMUTABLE = "public, max-age=31536000, immutable";

const types: readonly (readonly [target: string, type: string | RegExp])[] = [
  ["/index.html", "text/html; charset=utf-8"],
  ["/style.css", "text/css; charset=utf-8"],
  ["/app.js", "text/javascript; charset=utf-8"],
  ["/data.json", /^application\/json(?:; charset=utf-8)?$/],
  ["/icon.svg", /^image\/svg\+xml(?:; charset=utf-8)?$/],
  ["/picture.png", "image/png"],
  ["/clip.mp4", "video/mp4"],
  ["/font.woff2", "font/woff2"],
  ["/module.wasm", "application/wasm"],
  ["/READ.TXT", "text/plain; charset=utf-8"],
  ["/noextension", "application/octet-stream"],
  ["/unknown.qqq", "application/octet-stream"],
];

/** Metadata of representations, and fields for caches. */
export const representations: readonly RFCCase[] = [
  ...types.map(([target, type]): RFCCase => [
    "9110 8.3",
    `the media type of ${target}`,
    target,
    {},
    ok("identity", { fields: { "content-type": type, "x-content-type-options": "nosniff" } }),
  ]),
  [
    "9110 8.3",
    "a variant has the file's media type",
    "/app.js",
    { "accept-encoding": "br" },
    ok("br", {
      fields: { "content-type": "text/javascript; charset=utf-8", "content-encoding": "br" },
    }),
  ],
  [
    "9110 8.4",
    "a file that is gzip by itself has no coding",
    "/archive.tar.gz",
    { "accept-encoding": "gzip" },
    ok(
      "identity",
      { fields: { "content-type": /^application\/(?:x-)?gzip$/, "content-encoding": null } },
    ),
  ],
  [
    "9110 8.6",
    "Content-Length of an empty file",
    "/empty.txt",
    {},
    ok("identity", { fields: { "content-length": "0" } }),
  ],
  [
    "9110 8.8.2",
    "the date has no fraction of a second",
    "/ten.txt",
    {},
    ok("identity", {
      fields: { "last-modified": MODIFIED },
    }),
  ],
  [
    "9110 8.8.2.1",
    "Last-Modified is never later than now",
    "/future.txt",
    {},
    ok("identity", {
      fields: { "last-modified": /./ },
    }),
  ],
  [
    "9110 8.8.3",
    "the tag is strong, and of these bytes",
    "/ten.txt",
    {},
    ok("identity", {
      fields: { etag: /^"[A-Za-z0-9+/]{22}"$/ },
    }),
  ],
  ["9110 14.3", "ranges are offered", "/large.bin", {}, ok("identity", { fields: { "accept-ranges": "bytes" } })],
  [
    "9110 15.4.5",
    "a 304 has what a cache needs",
    "/app.js",
    { "if-none-match": "<identity>" },
    unchanged("identity", {
      fields: {
        "cache-control": "no-cache",
        "last-modified": null,
        "content-length": null,
        "content-type": null,
        "content-encoding": null,
      },
    }),
  ],
  [
    "9110 15.4.5",
    "a 304 of a variant has no coding",
    "/app.js",
    { "accept-encoding": "gzip", "if-none-match": "<gzip>" },
    unchanged(
      "gzip",
      { fields: { "content-encoding": null, "content-length": null } },
    ),
  ],
  [
    "9110 15.3.7",
    "a 206 has what the 200 has",
    "/app.js",
    { "accept-encoding": "gzip", "range": "bytes=0-9" },
    partial(
      "gzip",
      [[0, 9]],
      { fields: { "content-encoding": "gzip", "cache-control": "no-cache", "last-modified": MODIFIED } },
    ),
  ],
  ["9110 15.5.13", "a 412 has no coding and no range", "/app.js", { "accept-encoding": "br", "if-match": '"x"' }, {
    ...failed,
    fields: { "content-encoding": null, "content-range": null, "cache-control": /^(?!.*(?:immutable|max-age=[1-9]))/ },
  }],
  [
    "9111 5.2.2.4",
    "what may change is revalidated",
    "/index.html",
    {},
    ok("identity", {
      fields: { "cache-control": "no-cache" },
    }),
  ],
  [
    "8246 2",
    "what has a hash in its name is immutable",
    "/assets/main-3f9a1c0b.js",
    {},
    ok("identity", {
      fields: { "cache-control": IMMUTABLE },
    }),
  ],
  [
    "8246 2",
    "and so is its 304",
    "/assets/main-3f9a1c0b.js",
    { "if-none-match": "<identity>" },
    unchanged("identity", {
      fields: { "cache-control": IMMUTABLE },
    }),
  ],
  [
    "8246 2",
    "and so is a part of it",
    "/assets/main-3f9a1c0b.js",
    { range: "bytes=0-9" },
    partial("identity", [[0, 9]], {
      fields: { "cache-control": IMMUTABLE },
    }),
  ],
  ["9111 4.2.2", "what is not found is not kept by guesswork", "/assets/main-00000000.js", {}, {
    ...notFound,
    fields: { "cache-control": /^(?!.*(?:immutable|max-age=[1-9]))/, "etag": null, "last-modified": null },
  }],
  ["9111 4.3.3", "a cache's revalidation of several stored answers", "/app.js", {
    "accept-encoding": "gzip, br",
    "if-none-match": '"old", <gzip>',
    "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
  }, unchanged("gzip")],
  ["9111 5.2.1", "the request's Cache-Control is for caches", "/app.js", {
    "cache-control": "no-cache, only-if-cached",
    "pragma": "no-cache",
  }, ok("identity")],
];
