import { MODIFIED } from "./known_tree.ts";
import { notAcceptable, ok, partial, type RFCCase, unchanged, unsatisfiable } from "./rfc_case.ts";

const MAIN = "/assets/main-3f9a1c0b.js";
const ALL = "gzip, deflate, br, zstd, dcb, dcz";
const KNOWN = ":<dictionary>:";
const UNKNOWN = ":AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";

const fields = (dictionary: string | readonly string[], codings = ALL) => ({
  "accept-encoding": codings,
  "available-dictionary": dictionary,
});

/** Which of the deltas and variants of `/app.js` is sent: dcb is the smallest of all. */
const chosen: readonly (readonly [name: string, codings: string, Parameters<typeof ok>[0]])[] = [
  ["both deltas accepted", ALL, "dcb"],
  ["only dcz accepted", "gzip, br, zstd, dcz", "dcz"],
  ["only dcb accepted", "dcb", "dcb"],
  ["names are in any case", "DCB", "dcb"],
  ["no delta accepted", "gzip, br, zstd", "br"],
  ["* stands for no delta", "*", "br"],
  ["a delta excluded", "br, dcb;q=0, dcz", "dcz"],
  ["both excluded", "br, dcb;q=0, dcz;q=0", "br"],
  ["a delta liked less than another", "br;q=0.1, dcb;q=0.4, dcz;q=0.5", "dcz"],
  ["a delta liked less than a variant", "gzip, dcb;q=0.9", "gzip"],
  ["identity excluded, a delta not", "identity;q=0, dcb", "dcb"],
];

const malformed: readonly (readonly [name: string, field: string | readonly string[]])[] = [
  ["another dictionary", UNKNOWN],
  ["no colons", "<dictionary>"],
  ["one colon", ":<dictionary>"],
  ["a string", '"<dictionary>"'],
  ["a token", "sha-256"],
  ["too short", ":AAAA:"],
  ["empty", "::"],
  ["no value", ""],
  ["spaces within", ": <dictionary> :"],
  ["a list", `${UNKNOWN}, ${KNOWN}`],
  ["two lines", [KNOWN, KNOWN]],
  ["a malformed parameter", `${KNOWN};=1`],
  ["base64 of URLs", ":____________________________________________:"],
];

/** Section 9.3.3: the page that asks has to be one that may read the answer. */
const crossOrigin: readonly (readonly [name: string, fields: Readonly<Record<string, string>>, isDelta: boolean])[] = [
  ["the same origin", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors" }, true],
  ["a navigation", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }, true],
  ["a page of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, false],
  ["a page of another site, though it tells its origin", {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "no-cors",
    "origin": "https://shop.example",
  }, false],
  ["a page of another origin", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, false],
  ["CORS that the answer does not allow", {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "cors",
    "origin": "https://shop.example",
  }, false],
];

/** Compression dictionaries: advertising them, and deltas against them. */
export const dictionaries: readonly RFCCase[] = [
  ...chosen.map(([name, codings, coding]): RFCCase => [
    "9842 6.1",
    `${name}: ${codings}`,
    "/app.js",
    fields(KNOWN, codings),
    ok(coding),
  ]),
  ...malformed.map(([name, field]): RFCCase => ["9842 2.2", `no delta: ${name}`, "/app.js", fields(field), ok("br")]),
  ["9842 2.2", "no delta without the field", "/app.js", { "accept-encoding": ALL }, ok("br")],
  ["9842 2.2", "a parameter has no meaning", "/app.js", fields(`${KNOWN};a=1;b`), ok("dcb")],
  ["9842 2.3", "Dictionary-ID has no meaning", "/app.js", { ...fields(KNOWN), "dictionary-id": '"v1"' }, ok("dcb")],
  [
    "9842 6.1",
    "deltas only are acceptable, and the dictionary is another",
    "/app.js",
    fields(UNKNOWN, "dcb, identity;q=0"),
    notAcceptable,
  ],
  ["9842 6.1", "a delta of a file with a hash in its name", MAIN, fields(KNOWN), ok("dcb")],
  ["9842 6.1", "a delta of a file with a hash in its name", MAIN, fields(KNOWN, "dcz"), ok("dcz")],
  ["9842 6.1", "a delta of a large file", "/large.js", fields(KNOWN), ok("dcb")],
  ["9842 6.1", "a delta of a large file", "/large.js", fields(KNOWN, "zstd, dcz"), ok("dcz")],
  ["9842 6.1", "a file without deltas", "/style.css", fields(UNKNOWN), ok("br")],
  ["9842 6.1", "a file without variants", "/picture.png", fields(UNKNOWN), ok("identity")],
  ["9842 6.1", "no delta by HEAD", "/app.js", fields(KNOWN), ok("br"), { method: "HEAD" }],
  [
    "9842 6.1",
    "none if they are switched off",
    "/app.js",
    fields(KNOWN),
    ok("br", {
      fields: { vary: /^accept-encoding$/i },
    }),
    { on: "noDictionaries" },
  ],
  ["9842 6.1", "deltas whatever the order of variants", "/app.js", fields(KNOWN), ok("dcb"), { on: "zstdFirst" }],

  ...["", "br", "gzip"].map((codings): RFCCase => [
    "9842 6.2",
    `Vary names both where there are deltas: ${codings}`,
    "/app.js",
    { "accept-encoding": codings },
    ok(codings === "" ? "identity" : codings as "br", {
      fields: { vary: /^accept-encoding,\s*available-dictionary$/i },
    }),
  ]),
  [
    "9842 6.2",
    "Vary of a delta",
    "/app.js",
    fields(KNOWN),
    ok("dcb", {
      fields: { vary: /^accept-encoding,\s*available-dictionary$/i },
    }),
  ],
  [
    "9842 6.2",
    "Vary of a delta's 304",
    "/app.js",
    { ...fields(KNOWN), "if-none-match": "<dcb>" },
    unchanged("dcb", {
      fields: { vary: /^accept-encoding,\s*available-dictionary$/i },
    }),
  ],

  [
    "9111 4.3.4",
    "a delta's tag from a client without its dictionary",
    "/app.js",
    { "accept-encoding": fields(KNOWN)["accept-encoding"], "if-none-match": "<dcb>" },
    ok("br"),
  ],
  [
    "9110 13.1.2",
    "a delta has a tag of its own",
    "/app.js",
    { ...fields(KNOWN), "if-none-match": "<dcb>" },
    unchanged("dcb"),
  ],
  ["9110 13.1.2", "the other delta's tag", "/app.js", { ...fields(KNOWN), "if-none-match": "<dcz>" }, unchanged("dcz")],
  ["9110 13.1.2", "a delta's tag from a client with another dictionary", "/app.js", {
    ...fields(UNKNOWN),
    "if-none-match": "<dcb>",
  }, ok("br")],
  ["9110 13.1.2", "a delta's tag where deltas are not accepted", "/app.js", {
    "accept-encoding": "br",
    "if-none-match": "<dcb>",
  }, ok("br")],
  [
    "9110 13.1.2",
    "a variant's tag where a delta is chosen",
    "/app.js",
    { ...fields(KNOWN), "if-none-match": "<gzip>" },
    unchanged("gzip"),
  ],
  ["9110 13.1.1", "If-Match of a delta", "/app.js", { ...fields(KNOWN), "if-match": "<dcb>" }, ok("dcb")],
  ["9110 13.1.1", "If-Match of another", "/app.js", { ...fields(KNOWN), "if-match": "<br>" }, { status: 412 }],
  [
    "9110 13.1.3",
    "a delta has its original's date",
    "/app.js",
    { ...fields(KNOWN), "if-modified-since": MODIFIED },
    unchanged("dcb"),
  ],
  // A part of a delta is useless without the rest, and browsers that request parts of media name dcb and dcz.
  ["9110 14.2", "a range is never one of a delta", "/app.js", {
    ...fields(KNOWN, "identity, dcb, dcz"),
    "range": "bytes=0-9",
  }, partial("identity", [[0, 9]])],
  [
    "9110 14.2",
    "a range is never one of a delta",
    "/app.js",
    { ...fields(KNOWN), "range": "bytes=0-9" },
    partial("br", [[0, 9]]),
  ],
  [
    "9110 15.5.17",
    "nor is one that is not there",
    "/app.js",
    { ...fields(KNOWN), "range": "bytes=<#br>-" },
    unsatisfiable("br"),
  ],

  [
    "9842 2.1",
    "a file with a hash in its name is for its successors",
    MAIN,
    { "accept-encoding": "br" },
    ok("br", {
      fields: { "use-as-dictionary": 'match="/assets/main-*.js"' },
    }),
  ],
  [
    "9842 2.1",
    "as it is, too",
    MAIN,
    {},
    ok("identity", {
      fields: { "use-as-dictionary": 'match="/assets/main-*.js"' },
    }),
  ],
  [
    "9842 2.1",
    "a delta becomes the next dictionary",
    MAIN,
    fields(KNOWN),
    ok("dcb", {
      fields: { "use-as-dictionary": 'match="/assets/main-*.js"' },
    }),
  ],
  [
    "9842 2.1",
    "a part is no dictionary",
    MAIN,
    { range: "bytes=0-99" },
    partial("identity", [[0, 99]], {
      fields: { "use-as-dictionary": null },
    }),
  ],
  [
    "9842 2.1",
    "nor are several",
    MAIN,
    { range: "bytes=0-9,90-99" },
    partial("identity", [[0, 9], [90, 99]], {
      fields: { "use-as-dictionary": null },
    }),
  ],
  [
    "9842 2.1",
    "what is revalidated each time is none",
    "/app.js",
    {},
    ok("identity", {
      fields: { "use-as-dictionary": null },
    }),
  ],
  [
    "9842 2.1",
    "a name without a hash is for itself",
    "/app.js",
    {},
    ok("identity", {
      fields: { "cache-control": "max-age=3600", "use-as-dictionary": 'match="/app.js"' },
    }),
    { on: "fresh" },
  ],
  [
    "9842 2.1",
    "noise is none",
    "/picture.png",
    {},
    ok("identity", {
      fields: { "cache-control": "max-age=3600", "use-as-dictionary": null },
    }),
    { on: "fresh" },
  ],
  ["9842 2.1", "none if they are switched off", MAIN, {}, ok("identity", { fields: { "use-as-dictionary": null } }), {
    on: "noDictionaries",
  }],

  ...crossOrigin.map(([name, more, isDelta]): RFCCase => [
    "9842 9.3.3",
    `${isDelta ? "a" : "no"} delta: ${name}`,
    "/app.js",
    { ...fields(KNOWN), ...more },
    ok(isDelta ? "dcb" : "br"),
  ]),
  [
    "9842 9.3.3",
    "a delta: CORS that the answer allows",
    "/app.js",
    {
      ...fields(KNOWN),
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "cors",
      "origin": "https://shop.example",
    },
    ok("dcb", { fields: { vary: /available-dictionary/i } }),
    { on: "byPath" },
  ],
  [
    "9842 9.3.3",
    "no delta: what is no CORS, though the answer would allow it",
    "/app.js",
    {
      ...fields(KNOWN),
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "no-cors",
      "origin": "https://shop.example",
    },
    ok("br", { fields: { vary: /available-dictionary/i } }),
    { on: "byPath" },
  ],
  [
    "9842 9.3.3",
    "no delta: CORS that the answer allows to another",
    "/app.js",
    {
      ...fields(KNOWN),
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "cors",
      "origin": "https://other.example",
    },
    ok("br", { fields: { vary: /available-dictionary/i } }),
    { on: "byPath" },
  ],
];
