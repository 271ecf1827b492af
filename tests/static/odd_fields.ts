import fc from "fast-check";
import type { KnownSite } from "./known_site.ts";

/** A request with fields that a handler reads, sensible, broken, or beyond reason. */
export interface OddRequest {
  readonly method: "GET" | "HEAD";
  readonly path: string;
  /** The fields; names can occur repeatedly, and each character of a value is the byte of its code. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Every character that a field's value may have, tab included (RFC 9110, section 5.5). */
const fieldCharacters = [
  "\t",
  ...Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).filter((char) => /[ -~\x80-\xff]/.test(char)),
];

const noise = fc.string({ unit: fc.constantFrom(...fieldCharacters), maxLength: 60 });
const space = fc.constantFrom("", "", " ", "\t", "  ", " \t ");
const digits = fc.oneof(
  fc.nat(200_000).map(String),
  fc.constantFrom(
    "",
    "0",
    "00",
    "-1",
    "+5",
    "1e3",
    "0x10",
    "9007199254740993",
    "99999999999999999999",
    "1.5",
    " 7",
    "\u00b2",
  ),
);

function list(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const separator = fc.tuple(space, fc.constantFrom(",", ",", ",", ",,", ";", ""), space).map((parts) =>
    parts.join("")
  );
  const odd = fc.array(fc.tuple(member, separator), { maxLength: 8 })
    .map((members) => members.flat().slice(0, -1).join(""));
  const plain = fc.array(member, { minLength: 1, maxLength: 4 }).map((members) => members.join(", "));
  return fc.oneof(odd, plain);
}

const weight = fc.constantFrom(
  ...["", "", "", ";q=0", ";q=0.0", ";q=0.000", ";q=1", ";q=1.000", ";q=0.5", "; q=0.001", ";Q=0.3", ";q=2", ";q=-1"],
  ...[";q=", ";q", ";", ";q=.5", ";q=1.001", ";q=0.1234", ";q=NaN", ";q=Infinity", ";q=0x1", ";level=1", ";q=0.5;q=0"],
  ...[' ; q = "0.5"', ";q=\xa0", ";q=1e9"],
);
const coding = fc.constantFrom(
  ...[
    "br",
    "gzip",
    "zstd",
    "identity",
    "*",
    "dcb",
    "dcz",
    "x-gzip",
    "BR",
    "GZip",
    "deflate",
    "",
    "br/gzip",
    "bro",
    "b r",
  ],
  ...["__proto__", "constructor", "toString", "\xff", '"br"', "gzip\tbr"],
);
const acceptEncoding = list(fc.tuple(coding, weight).map((parts) => parts.join("")));

const position = fc.tuple(digits, fc.constantFrom("-", "-", "-", "-", "", "--", "~", " - "), digits)
  .map((parts) => parts.join(""));
const span = fc.tuple(fc.nat(120_000), fc.nat(3_000)).map(([start, length]) => `${start}-${start + length}`);
const near = fc.tuple(fc.nat(40), fc.nat(20)).map(([start, length]) => `${start}-${start + length}`);
const unit = fc.constantFrom("bytes=", "bytes=", "bytes=", "bytes=", "Bytes=", "bytes", "bytes =", "items=", "=", "");
const sensible = fc.oneof(span, near, near, fc.constantFrom("-5", "0-", "-1", "3-"));
const range = fc.oneof(
  fc.tuple(unit, list(fc.oneof(position, sensible))).map((parts) => parts.join("")),
  fc.array(sensible, { minLength: 1, maxLength: 5 }).map((ranges) => `bytes=${ranges.join(", ")}`),
);

const date = fc.oneof(
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((day) => day.toUTCString()),
  fc.constantFrom(
    ...[
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
      "Thu, 01 Jan 1970 00:00:00 GMT",
      "0",
      "-1",
      "now",
    ],
    ...["Sun, 31 Feb 2021 00:00:00 GMT", "Sun, 06 Nov 1994 24:60:61 GMT", "2021-01-01T00:00:00Z", "sun, 06 nov 1994"],
    ...["Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov -001 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC"],
  ),
);

/** Any request for a file of the site. */
export function oddRequest(site: KnownSite): fc.Arbitrary<OddRequest> {
  const tags = [...site.files.values()].flat().map(({ tag }) => tag);
  const tag = fc.tuple(
    fc.constantFrom("", "", "", "W/", "w/", "W", "W/W/"),
    fc.oneof(
      fc.constantFrom(...tags),
      fc.constantFrom('""', '"', "*", "x", '"a b"', '"\xe9"', '"a\\"', '"a,b"', '"a"b"'),
    ),
  ).map((parts) => parts.join(""));
  const dictionary = fc.constantFrom(
    ...[site.dictionary, site.dictionary, site.dictionary.slice(1), site.dictionary.slice(0, -1), "::", ":", ":====:"],
    ...[`${site.dictionary};a=1`, `(${site.dictionary})`, `${site.dictionary}, ${site.dictionary}`, ":not base64!:"],
  );
  const fields: Readonly<Record<string, fc.Arbitrary<string>>> = {
    "Accept-Encoding": acceptEncoding,
    "Range": range,
    "If-Range": fc.oneof(tag, date),
    "If-Match": list(tag),
    "If-None-Match": list(tag),
    "If-Modified-Since": date,
    "If-Unmodified-Since": date,
    "Available-Dictionary": dictionary,
    "Dictionary-ID": fc.constantFrom('"a"', "a", '"'),
    "Sec-Fetch-Mode": fc.constantFrom("cors", "no-cors", "navigate", "same-origin", "CORS", "?1", ""),
    "Sec-Fetch-Site": fc.constantFrom("same-origin", "cross-site", "none", "same-site", "elsewhere", ""),
    "Sec-Fetch-Dest": fc.constantFrom("script", "document", "empty", "", "?"),
    "Origin": fc.constantFrom("http://127.0.0.1", "null", "*", ""),
  };
  const often = ["Range", "Range", "Range", "Accept-Encoding", "Accept-Encoding", "Accept-Encoding", "If-None-Match"];
  const line = fc.constantFrom(...Object.keys(fields), ...often).chain((name) =>
    fc.tuple(fc.constant(name), fc.oneof({ weight: 6, arbitrary: fields[name] }, { weight: 1, arbitrary: noise }))
  );
  const returning = fc.constantFrom(...["gzip, br, zstd, dcb, dcz", "dcb", "dcz;q=0.5, br;q=0.1"].map((codings) => [
    ["Accept-Encoding", codings] as const,
    ["Available-Dictionary", site.dictionary] as const,
  ]));
  const before = fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: returning });
  const withDeltas = [...site.files].filter(([, known]) => known.length > 4).map(([path]) => path);
  return fc.record({
    method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
    path: fc.oneof(fc.constantFrom(...site.files.keys()), fc.constantFrom(...withDeltas)),
    fields: fc.tuple(before, fc.array(line, { maxLength: 5 })).map(([some, others]) => [...some, ...others]),
  });
}
