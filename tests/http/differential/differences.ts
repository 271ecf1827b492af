import type { Case } from "./generate_case.ts";

import { BY_OURS, chunks, type Difference, fields, lengths, lines, stricter, transfers } from "./strictness.ts";

const BY_IT = /^refused by it$/;
const codings = (...names: string[]): string[] => names.map((name) => `coding ${name}`);

/** Input that this package accepts and peers refuse. */
const laxer: readonly Difference[] = [
  {
    aspect: BY_IT,
    features: [...fields("fold", "fold first", "fold to nothing"), ...transfers("a fold")],
    reason: "a user agent replaces a line break and the white space behind it by a space before it looks at a value",
    section: "RFC 9112, 5.2",
  },
  {
    aspect: BY_IT,
    features: lines("HTTP/1.2 200 OK", "HTTP/1.9 200 OK"),
    reason: "a higher minor version is read as the highest that is known",
    section: "RFC 9110, 2.5",
  },
  {
    aspect: BY_IT,
    features: lengths("twice the same", "list of the same"),
    reason: "a Content-Length that says the same several times may be taken for one",
    section: "RFC 9110, 8.6",
  },
  {
    aspect: BY_IT,
    features: chunks("trailer that frames"),
    reason: "fields that frame a message mean nothing in trailers",
    section: "RFC 9110, 6.5.1",
  },
  {
    aspect: BY_IT,
    features: chunks("space after", "tab after"),
    reason: "there may be white space before a chunk's extension",
    section: "RFC 9112, 7.1.1",
  },
  {
    aspect: BY_IT,
    features: fields("many lines"),
    reason: "fields of 34 kB are within `maxHeaderSize`; others allow 16 kB, or some hundred lines",
    section: "RFC 9110, 5.4",
  },
  {
    aspect: BY_IT,
    features: [
      ...["a letter", "an empty line", "an answer", "a late error"].map((what) => `odd surplus ${what}`),
      ...lengths("one too few"),
      "odd body where there is none",
      ...chunks("two last chunks"),
    ],
    reason: "what follows a whole response ends the connection, not the response",
    section: "RFC 9112, 6.3 and 9.2",
  },
  {
    aspect: /^second: refused by it$/,
    features: ["ending fin", "ending reset", "ending keep"],
    reason: "the connection ends while the second request is on its way; ours makes another one",
    section: "RFC 9112, 9.3.1",
  },
  {
    peers: ["node:http"],
    aspect: BY_IT,
    features: ["ending reset"],
    reason:
      "a response that is whole when its connection is reset is a response; Deno's `node:http` loses it now and then",
    section: "RFC 9112, 8",
  },
  {
    peers: ["Deno's fetch"],
    aspect: BY_IT,
    features: lines("HTTP/1.0 200 OK"),
    reason: "a response of HTTP/1.0 in chunks is read, and its connection closed",
    section: "RFC 9112, 6.1",
  },
  {
    aspect: /^second: not its own$/,
    features: ["odd surplus an answer", "odd surplus a late error"],
    reason: "bytes that were not asked for are no answer to the next request; Deno takes them for one",
    section: "RFC 9112, 9.2",
  },
  {
    peers: ["undici"],
    aspect: BY_IT,
    features: ["informational 100"],
    reason: "a 100 (Continue) that was not asked for is passed over",
    section: "RFC 9110, 15.2",
  },
  {
    peers: ["undici"],
    aspect: BY_IT,
    features: ["odd status 407", "odd status 421"],
    reason: "407 and 421 are responses: undici's `fetch` makes an error of the one, and asks again after the other",
    section: "RFC 9110, 15.5.8 and 15.5.20",
  },
];

/** Bodies and fields that differ. */
const contents: readonly Difference[] = [
  {
    aspect: /^(body|refused by ours|refused by it)$/,
    features: ["status 205"],
    reason:
      "a 205 has no body for `fetch`, and its bytes are read for their framing; others pass over these, or hand them out",
    section: "Fetch, 2.2.3 (null body status); RFC 9110, 15.3.6",
  },
  {
    peers: ["undici"],
    aspect: /^field x-spaces$/,
    features: ["method GET", "method HEAD", "method POST"],
    reason: "white space of both kinds is no part of a value where it ends",
    section: "RFC 9112, 5.1",
  },
  {
    peers: ["node:http"],
    aspect: /^field x-empty$/,
    features: ["method GET", "method HEAD", "method POST"],
    reason: "Deno's `Headers` makes one empty value of two",
    section: "Fetch, 2.2.2 (get, combine)",
  },
  {
    peers: ["Deno's fetch"],
    aspect: /^(body|refused by ours)$/,
    features: codings(
      "deflate",
      "zstd",
      "x-gzip",
      "deflate, gzip",
      "deflate (raw)",
      "gzip (two members)",
    ),
    reason: "Deno decodes the first member of gzip, and br: other codings are handed out as they are",
    section: "RFC 9110, 8.4.1; RFC 1952, 2.2",
  },
  {
    peers: ["Bun's fetch"],
    aspect: /^body$/,
    features: codings("deflate, gzip"),
    reason: "several codings are undone in their order; Bun hands out the coded bytes",
    section: "RFC 9110, 8.4",
  },
  {
    peers: ["Deno's fetch", "undici", "Bun's fetch"],
    aspect: BY_IT,
    features: codings("gzip (empty)", "br (cut)"),
    reason: "no bytes at all are an empty body in any coding",
    section: "RFC 9110, 8.4",
  },
  {
    peers: ["undici", "Deno's fetch", "Bun's fetch"],
    aspect: BY_IT,
    features: codings("gzip (and more)"),
    reason: "what follows the last member of gzip is passed over, as gzip does",
    section: "RFC 1952, 2.2",
  },
];

/** Bodies that end too early or too late for their coding, including those that only the connection's end delimits. */
const cut: readonly Difference[] = [
  {
    peers: ["undici", "Deno's fetch", "Bun's fetch"],
    aspect: BY_OURS,
    features: [
      ...codings("gzip (cut)", "br (cut)", "gzip (empty)"),
      ...lengths("one too few", "one too many"),
      ...transfers("identity"),
      "odd cut fin",
      "odd cut keep",
      "odd cut reset",
      ...chunks("no end", "no last line"),
    ],
    reason:
      "a body whose coding is not at its end is an error; others hand out what there is, or do not wait for the message's end",
    section: "RFC 1952, 2.3; RFC 7932, 9; RFC 9112, 8",
  },
  {
    peers: ["undici", "Bun's fetch", "Deno's fetch"],
    aspect: BY_OURS,
    features: ["ending reset"],
    reason: "a body that the connection's end ends is not whole if that is a reset",
    section: "RFC 9112, 8; RFC 9293, 3.10.7",
  },
  {
    peers: ["undici", "Bun's fetch"],
    aspect: BY_OURS,
    features: codings("zstd"),
    reason: "what follows a frame of zstd is a frame, or an error",
    section: "RFC 8878, 3",
  },
];

const all: readonly Difference[] = [...stricter, ...laxer, ...contents, ...cut];

/** Returns the known difference that explains a finding; undefined if there is no such difference. */
export function explanationOf(peer: string, aspect: string, { features }: Case): Difference | undefined {
  return all.find((difference) =>
    (difference.peers === undefined || difference.peers.includes(peer)) && difference.aspect.test(aspect) &&
    difference.features.some((feature) => features.has(feature))
  );
}
