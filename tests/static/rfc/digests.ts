import { notFound, ok, partial, type RFCCase, unchanged } from "./rfc_case.ts";

const on = { on: "digests" } as const;
const of = (coding: string) => ({ fields: { "repr-digest": `sha-256=:<sha256 ${coding}>:` } });

/** Cases of Repr-Digest: the digest of the whole encoded representation, also in partial responses. */
export const digests: readonly RFCCase[] = [
  ["9530 3", "the digest of a file", "/ten.txt", {}, ok("identity", of("identity")), on],
  ["9530 3", "the digest of an empty file", "/empty.txt", {}, ok("identity", of("identity")), on],
  ["9530 3", "the digest of a large file", "/large.bin", {}, ok("identity", of("identity")), on],
  ["9530 3", "the digest of a variant", "/app.js", { "accept-encoding": "br" }, ok("br", of("br")), on],
  ["9530 3", "the digest of a large variant", "/large.js", { "accept-encoding": "gzip" }, ok("gzip", of("gzip")), on],
  [
    "9530 3",
    "the digest of a delta",
    "/app.js",
    {
      "accept-encoding": "dcb",
      "available-dictionary": ":<dictionary>:",
    },
    ok("dcb", of("dcb")),
    on,
  ],
  ["9530 B.2", "HEAD", "/app.js", { "accept-encoding": "zstd" }, ok("zstd", of("zstd")), { ...on, method: "HEAD" }],
  [
    "9530 B.3",
    "a part has the digest of the whole",
    "/ten.txt",
    { range: "bytes=2-3" },
    partial(
      "identity",
      [[2, 3]],
      of("identity"),
    ),
    on,
  ],
  [
    "9530 B.3",
    "several parts have the digest of the whole",
    "/app.js",
    {
      "accept-encoding": "gzip",
      "range": "bytes=2-3,8-9",
    },
    partial("gzip", [[2, 3], [8, 9]], of("gzip")),
    on,
  ],
  [
    "9530 3",
    "a 304 has none of another representation",
    "/app.js",
    { "if-none-match": "<identity>" },
    unchanged("identity", {
      fields: { "repr-digest": /^(?:sha-256=:[A-Za-z0-9+/]{43}=:)?$/ },
    }),
    on,
  ],
  ["9530 3", "a 404 has none", "/nothing", {}, { ...notFound, fields: { "repr-digest": null } }, on],
  [
    "9530 4",
    "Want-Repr-Digest may be ignored",
    "/ten.txt",
    { "want-repr-digest": "sha-512=9" },
    ok(
      "identity",
      of("identity"),
    ),
    on,
  ],
  [
    "9530 3",
    "none unless it is asked for in the options",
    "/ten.txt",
    { "want-repr-digest": "sha-256=9" },
    ok("identity", {
      fields: { "repr-digest": null },
    }),
  ],
];
