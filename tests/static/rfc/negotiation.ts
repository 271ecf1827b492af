import { notAcceptable, ok, type RFCCase, unchanged } from "./rfc_case.ts";

const accept = (codings: string) => ({ "accept-encoding": codings });

/** Cases of `/app.js`, which is there in br, zstd, gzip and as it is; br is the smallest, gzip the largest of the three. */
const ofAllVariants: readonly (readonly [name: string, field: string, Parameters<typeof ok>[0]])[] = [
  ["an empty field wants no coding", "", "identity"],
  ["the only coding is chosen", "gzip", "gzip"],
  ["the only coding is chosen", "br", "br"],
  ["the only coding is chosen", "zstd", "zstd"],
  ["the smallest of equals is chosen", "gzip, deflate, br, zstd", "br"],
  ["the smallest of equals is chosen", "zstd, gzip", "zstd"],
  ["the order of members means nothing", "br, gzip, zstd", "br"],
  ["a larger weight wins", "br;q=0.5, gzip", "gzip"],
  ["a larger weight wins", "br;q=0.8, zstd;q=0.9, gzip;q=0.7", "zstd"],
  ["a weight has three decimals", "br;q=0.998, gzip;q=0.999", "gzip"],
  ["equal weights are equal however they are written", "gzip;q=0.5, br;q=0.500", "br"],
  ["q=0 excludes a coding", "br;q=0, gzip", "gzip"],
  ["q=0.000 excludes a coding", "br;q=0.000, zstd;q=0.001", "zstd"],
  ["names are in any case", "GZIP", "gzip"],
  ["the weight's name is in any case", "br;Q=0.1, gzip;Q=0.2", "gzip"],
  ["white space is optional", "br ;\tq=0.1 ,gzip ; q=0.2", "gzip"],
  ["empty members are ignored", ",, ,gzip,", "gzip"],
  ["x-gzip is gzip", "x-gzip", "gzip"],
  ["* stands for all that is not named", "*", "br"],
  ["* does not stand for what is named", "*, br;q=0", "zstd"],
  ["* does not stand for what is named", "*;q=0.5, gzip", "gzip"],
  ["*;q=0 excludes all that is not named", "*;q=0, gzip", "gzip"],
  ["*;q=0 does not exclude identity if it is named", "*;q=0, identity", "identity"],
  ["identity is acceptable if it is not named", "compress", "identity"],
  ["identity can be liked most", "identity, br;q=0.5", "identity"],
  ["identity can be liked most", "gzip;q=0.2, identity;q=0.3", "identity"],
  ["a coding of any weight is liked more than an identity that is not named", "gzip;q=0.001", "gzip"],
  ["identity;q=0 leaves the others", "identity;q=0, gzip;q=0.1", "gzip"],
  ["unknown codings are passed over", "sdch, compress, lzma, gzip;q=0.1", "gzip"],
  ["deflate is none of ours", "deflate", "identity"],
  ["a weight beyond 1 is malformed, and its member skipped", "br;q=2, gzip;q=0.1", "gzip"],
  ["a weight of four decimals is malformed", "br;q=0.1234, gzip;q=0.1", "gzip"],
  ["a negative weight is malformed", "br;q=-1, gzip;q=0.1", "gzip"],
  ["a weight without a number is malformed", "br;q=, gzip;q=0.1", "gzip"],
  ["a parameter that is no weight is malformed", "br;level=11, gzip;q=0.1", "gzip"],
  ["a quoted name is malformed", '"br", gzip;q=0.1', "gzip"],
  ["a name is not found within another", "brotli, gzipped, xzstd", "identity"],
  ["a field of nothing but malformed members accepts identity", ";;;, q=1, ==", "identity"],
];

const excluded: readonly (readonly [name: string, field: string])[] = [
  ["nothing fits if all is excluded", "*;q=0"],
  ["nothing fits if identity is excluded and the rest unknown", "identity;q=0, deflate"],
  ["nothing fits if each is excluded by name", "identity;q=0, br;q=0, zstd;q=0, gzip;q=0, *"],
  ["a malformed member does not make up for the exclusion", "identity;q=0, br;q=1.5"],
];

/** Proactive negotiation by Accept-Encoding, and Vary. */
export const negotiation: readonly RFCCase[] = [
  ["9110 12.5.3", "without the field the file is sent as it is", "/app.js", {}, ok("identity")],
  ...ofAllVariants.map(([name, field, coding]): RFCCase => [
    "9110 12.5.3",
    `${name}: ${JSON.stringify(field)}`,
    "/app.js",
    accept(field),
    ok(coding),
  ]),
  ...excluded.map(([name, field]): RFCCase => [
    "9110 15.5.7",
    `${name}: ${field}`,
    "/app.js",
    accept(field),
    notAcceptable,
  ]),
  [
    "9110 12.5.3",
    "members may come in several lines",
    "/app.js",
    { "accept-encoding": ["br;q=0.1", "gzip"] },
    ok("gzip"),
  ],
  ["9110 12.5.3", "a field of 10,000 bytes is read", "/app.js", accept(`${"x-unknown, ".repeat(900)}gzip`), ok("gzip")],
  ["9110 12.5.3", "a large file has variants, too", "/large.js", accept("gzip"), ok("gzip")],
  ["9110 12.5.3", "a large file has variants, too", "/large.js", accept("br"), ok("br")],
  ["9110 12.5.3", "a large file has variants, too", "/large.js", accept("zstd"), ok("zstd")],
  ["9110 12.5.3", "a file without variants is sent as it is", "/picture.png", accept("gzip, br, zstd"), ok("identity")],
  ["9110 15.5.7", "a file without variants may not fit", "/picture.png", accept("identity;q=0, br"), notAcceptable],
  ["9110 15.5.7", "an empty file may not fit", "/empty.txt", accept("*;q=0"), notAcceptable],
  ["9110 12.5.1", "Accept does not matter", "/app.js", { accept: "image/png" }, ok("identity")],
  ["9110 12.5.4", "Accept-Language does not matter", "/app.js", { "accept-language": "la" }, ok("identity")],
  [
    "9110 13.2.1",
    "a 406 is none of preconditions",
    "/app.js",
    { ...accept("*;q=0"), "if-match": '"x"' },
    notAcceptable,
  ],
  ["9110 13.2.1", "a 406 is no 304", "/app.js", { ...accept("*;q=0"), "if-none-match": "*" }, notAcceptable],
  ["9110 14.2", "a 406 has no ranges", "/app.js", { ...accept("*;q=0"), range: "bytes=0-1" }, notAcceptable],

  ["9110 12.5.3", "an index file has variants", "/", accept("gzip"), ok("gzip", { file: "index.html" })],
  [
    "9110 12.5.5",
    "Vary names what chose",
    "/style.css",
    accept("br"),
    ok("br", { fields: { vary: /^accept-encoding$/i } }),
  ],
  [
    "9110 12.5.5",
    "Vary is there without the field, too",
    "/style.css",
    {},
    ok("identity", {
      fields: { vary: /^accept-encoding$/i },
    }),
  ],
  [
    "9110 12.5.5",
    "what has no variants does not vary",
    "/picture.png",
    accept("br"),
    ok("identity", {
      fields: { vary: null },
    }),
  ],
  [
    "9110 12.5.5",
    "Vary is in a 304",
    "/style.css",
    { ...accept("br"), "if-none-match": "<br>" },
    unchanged("br", {
      fields: { vary: /^accept-encoding$/i },
    }),
  ],

  ["9110 12.5.3", "the order option decides among equals", "/app.js", accept("gzip, br, zstd"), ok("zstd"), {
    on: "zstdFirst",
  }],
  ["9110 12.5.3", "the order option yields to weights", "/app.js", accept("gzip, br, zstd;q=0.9"), ok("br"), {
    on: "zstdFirst",
  }],
  ["9110 12.5.3", "the order option decides for *", "/app.js", accept("*"), ok("zstd"), { on: "zstdFirst" }],
  ["9110 12.5.3", "codings that are left out are not used", "/app.js", accept("br, zstd, gzip"), ok("gzip"), {
    on: "gzipOnly",
  }],
  ["9110 12.5.3", "codings that are left out are not used", "/app.js", accept("br, zstd"), ok("identity"), {
    on: "gzipOnly",
  }],
  [
    "9110 12.5.3",
    "all codings can be left out",
    "/style.css",
    accept("br, zstd, gzip"),
    ok("identity", {
      fields: { vary: /^(?:accept-encoding)?$/i },
    }),
    { on: "identityOnly" },
  ],
  ["9110 15.5.7", "codings that are left out do not fit", "/style.css", accept("identity;q=0, br"), notAcceptable, {
    on: "gzipOnly",
  }],
];
