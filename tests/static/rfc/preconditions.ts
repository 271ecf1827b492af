import { MODIFIED } from "./known_tree.ts";
import { type Expected, failed, notFound, ok, partial, redirect, type RFCCase, unchanged } from "./rfc_case.ts";

/** The times one second before and after {@linkcode MODIFIED}. */
const BEFORE = "Mon, 06 May 2024 07:08:08 GMT";
const AFTER = "Mon, 06 May 2024 07:08:10 GMT";
const OTHER = '"AAAAAAAAAAAAAAAAAAAAAA"';

type Row = readonly [name: string, value: string | readonly string[], expected: Expected];

const same = ok("identity");
const had = unchanged("identity");

const ifMatch: readonly Row[] = [
  ["the tag", "<identity>", same],
  ["*", "*", same],
  ["a list with the tag", `${OTHER}, <identity>`, same],
  ["a list with the tag first", `<identity>,${OTHER}`, same],
  ["a list of two lines", [OTHER, "<identity>"], same],
  ["a list with empty members", `, ,\t<identity> ,`, same],
  ["a weak and the strong tag", "W/<identity>, <identity>", same],
  ["another tag", OTHER, failed],
  ["a list of others", `${OTHER}, "x", ""`, failed],
  ["the weak tag: the comparison is strong", "W/<identity>", failed],
  ["the tag of another coding", "<br>", failed],
  ["the tag without quotes", "AAAAAAAAAAAAAAAAAAAAAA", failed],
  ["nothing", "", failed],
  ["* in a list", `${OTHER}, *`, failed],
];

const ifNoneMatch: readonly Row[] = [
  ["the tag", "<identity>", had],
  ["the weak tag: the comparison is weak", "W/<identity>", had],
  ["*", "*", had],
  ["a list with the tag", `${OTHER}, <identity>, "x"`, had],
  ["a list with the weak tag", `${OTHER},W/<identity>`, had],
  ["a list of two lines", [OTHER, "<identity>"], had],
  ["a list with empty members", `,, <identity>,`, had],
  ["a tag with a comma before it", `"a,b", <identity>`, had],
  ["another tag", OTHER, same],
  ["a list of others", `${OTHER}, W/"x", ""`, same],
  ["w/ in lower case", "w/<identity>", same],
  ["the tag within another tag", '"x<opaque identity>"', same],
  ["a tag without its last quote", '"AAAAAAAAAAAAAAAAAAAAAA', same],
  ["nothing", "", same],
  ["* in a list", `${OTHER}, *`, same],
  ["10,000 bytes of other tags, then the tag", `${`${OTHER}, `.repeat(380)}<identity>`, had],
];

const ifModifiedSince: readonly Row[] = [
  ["the same second", MODIFIED, had],
  ["a second later", AFTER, had],
  ["a second before", BEFORE, same],
  ["a date ahead of the clock", "Fri, 31 Dec 9999 23:59:59 GMT", had],
  ["1970", "Thu, 01 Jan 1970 00:00:00 GMT", same],
  ["RFC 850's format", "Monday, 06-May-24 07:08:09 GMT", had],
  ["RFC 850's format, a second before", "Monday, 06-May-24 07:08:08 GMT", same],
  ["RFC 850's format, of the past century", "Sunday, 06-Nov-94 08:49:37 GMT", same],
  ["asctime's format", "Mon May  6 07:08:09 2024", had],
  ["asctime's format, a second before", "Mon May  6 07:08:08 2024", same],
  ["no date", "yesterday", same],
  ["an ISO date", "2030-05-06T07:08:09Z", same],
  ["another zone", "Tue, 06 May 2025 07:08:09 CEST", same],
  ["a day that is none", "Fri, 31 Feb 2025 07:08:09 GMT", same],
  ["a number of seconds", "1900000000", same],
  ["nothing", "", same],
];

const ifUnmodifiedSince: readonly Row[] = [
  ["the same second", MODIFIED, same],
  ["a second later", AFTER, same],
  ["a second before", BEFORE, failed],
  ["RFC 850's format, before", "Sunday, 06-Nov-94 08:49:37 GMT", failed],
  ["asctime's format, before", "Sun Nov  6 08:49:37 1994", failed],
  ["no date", "yesterday", same],
  ["an ISO date", "1994-11-06T08:49:37Z", same],
  ["nothing", "", same],
];

const each = (section: string, field: string, rows: readonly Row[]): RFCCase[] =>
  rows.map(([name, value, expected]) => [section, `${field}: ${name}`, "/app.js", { [field]: value }, expected]);

/** The tags of several variants: each has its own, and those that the client accepts count for If-None-Match. */
const ofVariants: readonly RFCCase[] = [
  [
    "9110 13.1.2",
    "the tag of a variant",
    "/app.js",
    { "accept-encoding": "br", "if-none-match": "<br>" },
    unchanged("br"),
  ],
  [
    "9110 13.1.2",
    "the tag of a variant",
    "/app.js",
    { "accept-encoding": "gzip", "if-none-match": "W/<gzip>" },
    unchanged(
      "gzip",
    ),
  ],
  [
    "9110 13.1.2",
    "the tag of a large variant",
    "/large.js",
    { "accept-encoding": "zstd", "if-none-match": "<zstd>" },
    unchanged(
      "zstd",
    ),
  ],
  [
    "9110 15.4.5",
    "the tag of another variant that the client accepts is named by the 304",
    "/app.js",
    { "accept-encoding": "br, gzip", "if-none-match": "<gzip>" },
    unchanged("gzip"),
  ],
  [
    "9110 15.4.5",
    "the file as it is counts as accepted if it is not excluded",
    "/app.js",
    { "accept-encoding": "br", "if-none-match": "<identity>" },
    unchanged("identity"),
  ],
  [
    "9110 15.4.5",
    "of several the chosen one is named",
    "/app.js",
    { "accept-encoding": "br, gzip", "if-none-match": "<identity>, <gzip>, <br>" },
    unchanged("br"),
  ],
  [
    "9110 13.1.2",
    "the tag of a variant that the client does not accept does not count",
    "/app.js",
    { "accept-encoding": "br", "if-none-match": "<gzip>" },
    ok("br"),
  ],
  ["9110 13.1.2", "a variant is nothing to who has no Accept-Encoding", "/app.js", { "if-none-match": "<br>" }, same],
  [
    "9110 13.1.2",
    "the file as it is does not count if it is excluded",
    "/app.js",
    { "accept-encoding": "br, identity;q=0", "if-none-match": "<identity>" },
    ok("br"),
  ],
  [
    "9110 13.1.2",
    "* names the chosen one",
    "/app.js",
    { "accept-encoding": "zstd", "if-none-match": "*" },
    unchanged("zstd"),
  ],
  [
    "9110 13.1.1",
    "If-Match is about the chosen one",
    "/app.js",
    { "accept-encoding": "br", "if-match": "<br>" },
    ok("br"),
  ],
  [
    "9110 13.1.1",
    "If-Match is not about another one",
    "/app.js",
    { "accept-encoding": "br, gzip", "if-match": "<identity>, <gzip>" },
    failed,
  ],
  [
    "9110 13.1.3",
    "a variant has its original's date",
    "/app.js",
    { "accept-encoding": "gzip", "if-modified-since": MODIFIED },
    unchanged("gzip"),
  ],
];

type Combination = readonly [name: string, fields: Readonly<Record<string, string>>, expected: Expected];

/** Section 13.2.2: If-Match or If-Unmodified-Since, then If-None-Match or If-Modified-Since, then Range and If-Range. */
const combined: readonly Combination[] = [
  ["If-Match fails before If-None-Match", { "if-match": OTHER, "if-none-match": "<identity>" }, failed],
  ["If-Match holds, then If-None-Match", { "if-match": "<identity>", "if-none-match": "<identity>" }, had],
  ["both hold", { "if-match": "<identity>", "if-none-match": OTHER }, same],
  ["If-Match fails before If-Modified-Since", { "if-match": OTHER, "if-modified-since": MODIFIED }, failed],
  ["If-Match holds, then If-Modified-Since", { "if-match": "*", "if-modified-since": MODIFIED }, had],
  ["If-Match makes If-Unmodified-Since void", { "if-match": "<identity>", "if-unmodified-since": BEFORE }, same],
  ["If-Match fails whatever If-Unmodified-Since says", { "if-match": OTHER, "if-unmodified-since": AFTER }, failed],
  ["If-Unmodified-Since fails before If-None-Match", { "if-unmodified-since": BEFORE, "if-none-match": "*" }, failed],
  ["If-Unmodified-Since holds, then If-None-Match", { "if-unmodified-since": AFTER, "if-none-match": "*" }, had],
  [
    "If-Unmodified-Since fails before If-Modified-Since",
    { "if-unmodified-since": BEFORE, "if-modified-since": MODIFIED },
    failed,
  ],
  ["both dates are the same", { "if-unmodified-since": MODIFIED, "if-modified-since": MODIFIED }, had],
  ["a void If-Unmodified-Since is as none", { "if-unmodified-since": "x", "if-none-match": "<identity>" }, had],
  ["If-None-Match makes If-Modified-Since void", { "if-none-match": OTHER, "if-modified-since": AFTER }, same],
  ["If-None-Match decides alone", { "if-none-match": "<identity>", "if-modified-since": BEFORE }, had],
  ["an empty If-None-Match is there nevertheless", { "if-none-match": "", "if-modified-since": AFTER }, same],
  ["an empty If-Match is there nevertheless", { "if-match": "", "if-unmodified-since": AFTER }, failed],
  ["a malformed If-None-Match is there nevertheless", { "if-none-match": "x", "if-modified-since": AFTER }, same],
  [
    "all four",
    {
      "if-match": "<identity>",
      "if-unmodified-since": BEFORE,
      "if-none-match": OTHER,
      "if-modified-since": AFTER,
    },
    same,
  ],
  ["a 412 comes before ranges", { "if-match": OTHER, "range": "bytes=0-1" }, failed],
  ["a 412 comes before ranges", { "if-unmodified-since": BEFORE, "range": "bytes=0-1" }, failed],
  ["a 304 comes before ranges", { "if-none-match": "<identity>", "range": "bytes=0-1" }, had],
  ["a 304 comes before ranges", { "if-modified-since": MODIFIED, "range": "bytes=0-1" }, had],
  ["a 304 comes before a 416", { "if-none-match": "<identity>", "range": "bytes=999999999-" }, had],
  ["a 412 comes before a 416", { "if-match": OTHER, "range": "bytes=999999999-" }, failed],
  ["If-Match holds, then Range", { "if-match": "<identity>", "range": "bytes=0-1" }, partial("identity", [[0, 1]])],
  ["If-None-Match holds, then Range", { "if-none-match": OTHER, "range": "bytes=0-1" }, partial("identity", [[0, 1]])],
  [
    "If-Match, If-Range and Range",
    { "if-match": "<identity>", "if-range": "<identity>", "range": "bytes=0-1" },
    partial("identity", [[0, 1]]),
  ],
  ["a 304 comes before If-Range", { "if-none-match": "<identity>", "if-range": OTHER, "range": "bytes=0-1" }, had],
  [
    "If-Range does not stand in for If-Match",
    { "if-match": OTHER, "if-range": "<identity>", "range": "bytes=0-1" },
    failed,
  ],
];

/** Section 13.2.1: where the answer without them would be no 2xx. */
const without2xx: readonly RFCCase[] = [
  ["9110 13.2.1", "a 404 has no preconditions", "/nothing.js", { "if-none-match": "*" }, notFound],
  ["9110 13.2.1", "a 404 has no preconditions", "/nothing.js", { "if-match": OTHER }, notFound],
  ["9110 13.2.1", "a 404 has no preconditions", "/nothing.js", { "if-modified-since": AFTER }, notFound],
  ["9110 13.2.1", "a redirect has no preconditions", "/docs", { "if-none-match": "*" }, redirect(301, "/docs/")],
  ["9110 13.2.1", "a redirect has no preconditions", "/docs", { "if-match": OTHER }, redirect(301, "/docs/")],
];

/** Preconditions, alone and together. */
export const preconditions: readonly RFCCase[] = [
  ...each("9110 13.1.1", "if-match", ifMatch),
  ...each("9110 13.1.2", "if-none-match", ifNoneMatch),
  ...each("9110 13.1.3", "if-modified-since", ifModifiedSince),
  ...each("9110 13.1.4", "if-unmodified-since", ifUnmodifiedSince),
  ...ofVariants,
  ...combined.map(([name, fields, expected]): RFCCase => ["9110 13.2.2", name, "/app.js", fields, expected]),
  ...without2xx,
];
