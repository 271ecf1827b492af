import { MODIFIED } from "./known_tree.ts";
import { type Expected, notFound, ok, partial, redirect, type RFCCase, unsatisfiable } from "./rfc_case.ts";

type Row = readonly [name: string, range: string | readonly string[], expected: Expected];

const whole = ok("identity");
const none = unsatisfiable("identity");
const one = (first: number, last: number): Expected => partial("identity", [[first, last]]);
const several = (...ranges: readonly (readonly [number, number])[]): Expected => partial("identity", ranges);

/** Cases of `/ten.txt`, of ten bytes. */
const ofTen: readonly Row[] = [
  ["the first byte", "bytes=0-0", one(0, 0)],
  ["the last byte", "bytes=9-9", one(9, 9)],
  ["the middle", "bytes=3-6", one(3, 6)],
  ["all bytes by number", "bytes=0-9", one(0, 9)],
  ["open to the end", "bytes=4-", one(4, 9)],
  ["all bytes, open", "bytes=0-", one(0, 9)],
  ["beyond the end is cut", "bytes=4-10", one(4, 9)],
  ["far beyond the end is cut", "bytes=4-99999999999999999999999", one(4, 9)],
  ["a suffix", "bytes=-3", one(7, 9)],
  ["a suffix of all", "bytes=-10", one(0, 9)],
  ["a suffix of more than all", "bytes=-11", one(0, 9)],
  ["the unit is in any case", "Bytes=1-2", one(1, 2)],
  ["leading zeros", "bytes=0001-0002", one(1, 2)],
  ["an empty member", "bytes=,1-2,", one(1, 2)],
  ["several", "bytes=0-1,4-5", several([0, 1], [4, 5])],
  ["several, and white space", "bytes= 0-1 ,\t4-5", several([0, 1], [4, 5])],
  ["several in the order of the field", "bytes=8-8,0-1,4-4", several([8, 8], [0, 1], [4, 4])],
  ["several of each kind", "bytes=0-0,-1,4-5,7-7", several([0, 0], [9, 9], [4, 5], [7, 7])],
  ["several, of which one is not there", "bytes=0-1,20-30,4-5", several([0, 1], [4, 5])],
  ["several, of which all but one are not there", "bytes=20-,0-1,30-", one(0, 1)],
  ["overlapping ones are made one", "bytes=0-4,3-6", one(0, 6)],
  [
    "overlapping ones are made one, at the place of the first",
    "bytes=8-8,5-6,0-1,6-6",
    several([8, 8], [5, 6], [0, 1]),
  ],
  ["the same many times is sent once", `bytes=${"0-,".repeat(100)}`, one(0, 9)],
  ["ones that touch", "bytes=0-4,5-9", one(0, 9)],
  ["behind the end", "bytes=10-", none],
  ["behind the end, closed", "bytes=10-19", none],
  ["far behind the end", "bytes=99999999999999999999999-", none],
  ["a suffix of nothing", "bytes=-0", none],
  ["several that are not there", "bytes=10-,20-29,-0", none],
  ["more than 100", `bytes=${"0-0,".repeat(101)}`, whole],
  ["backwards", "bytes=4-3", whole],
  ["backwards among good ones", "bytes=0-1,4-3", whole],
  ["backwards behind the end", "bytes=20-10", whole],
  ["no number", "bytes=a-b", whole],
  ["no dash", "bytes=4", whole],
  ["only a dash", "bytes=-", whole],
  ["nothing", "bytes=", whole],
  ["only commas", "bytes=,,", whole],
  ["no equals sign", "bytes 0-1", whole],
  ["a space before the equals sign", "bytes =0-1", whole],
  ["spaces around the dash", "bytes=0 - 1", whole],
  ["a sign", "bytes=+0-1", whole],
  ["a hexadecimal number", "bytes=0x0-0x1", whole],
  ["a fraction", "bytes=0.0-1.0", whole],
  ["a semicolon for a comma", "bytes=0-1;4-5", whole],
  ["another unit", "items=0-1", whole],
  ["a unit that ends in bytes", "kilobytes=0-1", whole],
  ["no unit", "0-1", whole],
  ["an empty field", "", whole],
  ["several lines, which are no list", ["bytes=0-1", "bytes=4-5"], whole],
];

/** Cases of other files, with other fields. */
const ofOthers: readonly RFCCase[] = [
  ["9110 14.1.2", "the first bytes of a large file", "/large.bin", { range: "bytes=0-499" }, one(0, 499)],
  ["9110 14.1.2", "the middle of a large file", "/large.bin", { range: "bytes=65530-65545" }, one(65_530, 65_545)],
  [
    "9110 14.1.2",
    "more than a chunk of a large file",
    "/large.bin",
    { range: "bytes=1000-190000" },
    one(1000, 190_000),
  ],
  ["9110 14.1.2", "the end of a large file", "/large.bin", { range: "bytes=-1" }, one(-1, -1)],
  ["9110 14.1.2", "the rest of a large file", "/large.bin", { range: "bytes=699990-" }, one(699_990, -1)],
  ["9110 15.5.17", "behind the end of a large file", "/large.bin", { range: "bytes=<#identity>-" }, none],
  [
    "9110 15.3.7.2",
    "several ranges of a large file",
    "/large.bin",
    { range: "bytes=0-0,100000-500000,-1,5-50" },
    several([0, 0], [100_000, 500_000], [-1, -1], [5, 50]),
  ],
  ["9110 14.1.2", "an empty file has no first byte", "/empty.txt", { range: "bytes=0-0" }, none],
  ["9110 14.1.2", "an empty file has no bytes from its start", "/empty.txt", { range: "bytes=0-" }, none],
  ["9110 14.1.2", "the end of an empty file is all of it", "/empty.txt", { range: "bytes=-1" }, whole],
  ["9110 14.1.2", "the only byte", "/tiny.txt", { range: "bytes=0-" }, one(0, 0)],
  ["9110 14.2", "a range of a video", "/clip.mp4", { range: "bytes=100-" }, one(100, -1)],
  [
    "9110 15.3.7.2",
    "the parts have the file's type",
    "/picture.png",
    { range: "bytes=1-1,3-3" },
    several([1, 1], [3, 3]),
  ],

  [
    "9110 14.2",
    "ranges are of the variant",
    "/app.js",
    { "accept-encoding": "br", "range": "bytes=0-9" },
    partial("br", [[
      0,
      9,
    ]]),
  ],
  [
    "9110 14.2",
    "a suffix is of the variant",
    "/app.js",
    { "accept-encoding": "gzip", "range": "bytes=-10" },
    partial("gzip", [[-10, -1]]),
  ],
  [
    "9110 14.2",
    "an open range is of the variant",
    "/app.js",
    { "accept-encoding": "zstd", "range": "bytes=1000-" },
    partial("zstd", [[1000, -1]]),
  ],
  [
    "9110 14.2",
    "ranges of a large variant",
    "/large.js",
    { "accept-encoding": "gzip", "range": "bytes=70000-80000" },
    partial("gzip", [[70_000, 80_000]]),
  ],
  [
    "9110 15.3.7.2",
    "several ranges of a variant",
    "/app.js",
    { "accept-encoding": "br", "range": "bytes=0-9,100-109,-5" },
    partial("br", [[0, 9], [100, 109], [-5, -1]]),
  ],
  [
    "9110 15.3.7.2",
    "several ranges of a large variant",
    "/large.js",
    { "accept-encoding": "br", "range": "bytes=9-9,66000-67000" },
    partial("br", [[9, 9], [66_000, 67_000]]),
  ],
  [
    "9110 15.5.17",
    "behind the variant's end, though not the file's",
    "/app.js",
    { "accept-encoding": "br", "range": "bytes=<#br>-" },
    unsatisfiable("br"),
  ],
  ["9110 14.2", "a 404 has no ranges", "/nothing.js", { range: "bytes=0-1" }, notFound],
  ["9110 14.2", "a redirect has no ranges", "/docs", { range: "bytes=0-1" }, redirect(301, "/docs/")],
];

const first: Expected = one(0, 1);

/** Cases with `Range: bytes=0-1` of `/ten.txt`, last modified on {@linkcode MODIFIED}. */
const ifRange: readonly (readonly [name: string, value: string, expected: Expected])[] = [
  ["the tag", "<identity>", first],
  ["another tag", '"AAAAAAAAAAAAAAAAAAAAAA"', whole],
  ["the weak tag: the comparison is strong", "W/<identity>", whole],
  ["a list, which it cannot be", '<identity>, "x"', whole],
  ["*, which it cannot be", "*", whole],
  ["the date", MODIFIED, first],
  ["the date in RFC 850's format", "Monday, 06-May-24 07:08:09 GMT", first],
  ["the date in asctime's format", "Mon May  6 07:08:09 2024", first],
  ["an earlier date", "Mon, 06 May 2024 07:08:08 GMT", whole],
  ["a later date, which is not the same", "Mon, 06 May 2024 07:08:10 GMT", whole],
  ["no date", "today", whole],
];

const ifRangeOfOthers: readonly RFCCase[] = [
  [
    "9110 13.1.5",
    "the tag of the variant",
    "/app.js",
    { "accept-encoding": "br", "range": "bytes=0-1", "if-range": "<br>" },
    partial("br", [[0, 1]]),
  ],
  [
    "9110 13.1.5",
    "the tag of another variant that the client accepts",
    "/app.js",
    { "accept-encoding": "br, gzip", "range": "bytes=0-1", "if-range": "<gzip>" },
    partial("gzip", [[0, 1]]),
  ],
  [
    "9110 13.1.5",
    "the tag of a variant that the client does not accept",
    "/app.js",
    { "accept-encoding": "br", "range": "bytes=0-1", "if-range": "<gzip>" },
    ok("br"),
  ],
  [
    "9110 13.1.5",
    "the tag of the file as it is, where a variant would be chosen",
    "/app.js",
    { "accept-encoding": "gzip", "range": "bytes=0-1", "if-range": "<identity>" },
    partial("identity", [[0, 1]]),
  ],
  [
    "9110 8.8.2.2",
    "the date of a file with variants, which is of all of them",
    "/app.js",
    { "range": "bytes=0-1", "if-range": MODIFIED },
    whole,
  ],
  ["9110 13.1.5", "it means nothing without Range", "/ten.txt", { "if-range": '"x"' }, whole],
  [
    "9110 13.1.5",
    "a range that is not there is no 416 if it does not hold",
    "/ten.txt",
    { "range": "bytes=10-", "if-range": '"x"' },
    whole,
  ],
  [
    "9110 13.1.5",
    "a range that is not there is a 416 if it holds",
    "/ten.txt",
    { "range": "bytes=10-", "if-range": "<identity>" },
    none,
  ],
  [
    "9110 13.1.5",
    "several ranges if it holds",
    "/ten.txt",
    { "range": "bytes=0-0,9-9", "if-range": "<identity>" },
    several([0, 0], [9, 9]),
  ],
  ["9110 13.1.5", "all bytes of a large file if it does not hold", "/large.bin", {
    "range": "bytes=0-9",
    "if-range": '"x"',
  }, whole],
  ["9110 14.2", "a malformed range of a large file", "/large.bin", { range: "bytes=0 - 9" }, whole],
  [
    "9110 13.1.5",
    "all bytes if it does not hold",
    "/large.bin",
    { "range": "bytes=0-0,9-9", "if-range": 'W/"x"' },
    whole,
  ],
];

/** Range and If-Range. */
export const ranges: readonly RFCCase[] = [
  ...ofTen.map(([name, range, expected]): RFCCase => ["9110 14.1.2", name, "/ten.txt", { range }, expected]),
  ...ofOthers,
  ...ifRange.map(([name, value, expected]): RFCCase => [
    "9110 13.1.5",
    name,
    "/ten.txt",
    { "range": "bytes=0-1", "if-range": value },
    expected,
  ]),
  ...ifRangeOfOthers,
];
