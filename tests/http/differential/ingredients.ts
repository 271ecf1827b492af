/** Choices and their weights. */
export type Weighted = readonly (readonly [weight: number, choice: string])[];
/** Statuses of every class, 200 above all. */
export const STATUSES: Weighted = [
  [30, "200"],
  ..."201 202 206 226 299 301 302 303 304 307 308 400 401 403 404 410".split(" ")
    .concat("412 416 418 422 425 429 451 499 500 501 502 503 504 511 599 204 205 304 204".split(" ")).map((status) =>
      [1, status] as const
    ),
];
/** Statuses that some clients know by themselves, or that are none. */
export const ODD_STATUSES: readonly string[] = "407 408 421 600 700 999 099 000 101 20 2000 2x0 -20".split(" ");
/** Status lines that are not in order, or read otherwise by some. */
export const ODD_LINES: readonly string[] = [
  "HTTP/1.0 200 OK",
  "HTTP/1.2 200 OK",
  "HTTP/1.9 200 OK",
  "HTTP/2.0 200 OK",
  "HTTP/0.9 200 OK",
  "HTTP/1 200 OK",
  "HTTP/1.10 200 OK",
  "http/1.1 200 OK",
  "HTTPS/1.1 200 OK",
  "ICY 200 OK",
  "RTSP/1.0 200 OK",
  "HTTP/1.1  200 OK",
  "HTTP/1.1\t200 OK",
  " HTTP/1.1 200 OK",
  "\r\nHTTP/1.1 200 OK",
  "\nHTTP/1.1 200 OK",
  "xHTTP/1.1 200 OK",
  "HTTP/1.1 200",
  "HTTP/1.1 200 ",
  "HTTP/1.1 200  two spaces",
  "HTTP/1.1 200 \xe9t\xe9",
  "HTTP/1.1 200 a\tb",
  "HTTP/1.1 200 a\0b",
  "HTTP/1.1 200 a\x01b",
  "HTTP/1.1 200 a\rb",
  "HTTP/1.1 200\tOK",
  "HTTP/1.1 200OK",
];

/** Field lines that are in order. */
export const FIELDS: readonly string[] = [
  "Content-Type: text/plain",
  "X-Empty:",
  "X-Spaces:   a  b \t",
  "X-Twice: a\r\nX-Twice: b",
  "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2, c",
  "x-lower: 1",
  "X-UPPER: 1",
  "X!#$%&'*+-.^_`|~9: token",
  `X-Long: ${"v".repeat(5000)}`,
  Array.from({ length: 40 }, (_, i) => `X-Number-${i}: ${i}`).join("\r\n"),
  "Date: Thu, 26 Nov 2026 12:00:00 GMT",
  'ETag: "a,b"',
  "X-Comma: a, b",
  "Keep-Alive: timeout=5, max=100",
  "Trailer: x-sum",
  "Vary: accept-encoding",
  "constructor: 1\r\n__proto__: 2\r\ntoString: 3",
];
/** Field lines that are not, or that clients read otherwise. */
export const ODD_FIELDS: Readonly<Record<string, string>> = {
  "obs-text": "X-Text: caf\xe9 \xff",
  "utf-8": "X-Text: caf\xc3\xa9",
  fold: "X-Fold: a\r\n  b\r\n\tc",
  "fold to nothing": "X-Fold: a\r\n \r\nX-Next: b",
  "fold first": " X-Fold: a",
  "space in name": "X Name: a",
  "space before colon": "X-Name : a",
  "no colon": "X-Name",
  "no name": ": a",
  "nul in value": "X-Name: a\0b",
  "control in value": "X-Name: a\x01b",
  "del in value": "X-Name: a\x7fb",
  "cr in value": "X-Name: a\rb",
  "lf in value": "X-Name: a\nX-More: b",
  "lf only": "X-Name: a\nX-More: b\n",
  "cr only": "X-Name: a\rX-More: b\r",
  "cr cr lf": "X-Name: a\r",
  "obs-text in name": "X-N\xe9: a",
  "bracket in name": "X-[a]: b",
  "control in name": "X-\x01: b",
  "large value": `X-Large: ${"v".repeat(100_000)}`,
  "many lines": Array.from({ length: 3000 }, (_, i) => `X-${i}: ${i}`).join("\r\n"),
  "colon in value": "X-Colon: :a:",
  "quoted": 'X-Quoted: "a\\"b',
};

/** Invalid or unusual framings by length, of a body of `size` bytes. */
export const ODD_LENGTHS: Readonly<Record<string, (size: number) => string>> = {
  "twice the same": (size) => `Content-Length: ${size}\r\nContent-Length: ${size}`,
  "list of the same": (size) => `Content-Length: ${size}, ${size}`,
  "twice, other": (size) => `Content-Length: ${size}\r\nContent-Length: ${size + 1}`,
  "list, other": (size) => `Content-Length: ${size}, ${size + 1}`,
  plus: (size) => `Content-Length: +${size}`,
  minus: (size) => `Content-Length: -${size}`,
  "leading zeros": (size) => `Content-Length: 00${size}`,
  hexadecimal: (size) => `Content-Length: 0x${size.toString(16)}`,
  decimals: (size) => `Content-Length: ${size}.0`,
  unit: (size) => `Content-Length: ${size}b`,
  empty: () => "Content-Length:",
  word: () => "Content-Length: none",
  "inner space": (size) => `Content-Length: ${size} ${size}`,
  "ending comma": (size) => `Content-Length: ${size},`,
  huge: () => "Content-Length: 99999999999999999999999",
  "2^64": (size) => `Content-Length: ${2n ** 64n + BigInt(size)}`,
  "one too many": (size) => `Content-Length: ${size + 1}`,
  "one too few": (size) => `Content-Length: ${Math.max(0, size - 1)}`,
  "space before colon": (size) => `Content-Length : ${size}`,
  underscore: (size) => `Content_Length: ${size}`,
};

/** Framings by a transfer coding that are not in order. */
export const ODD_TRANSFERS: Readonly<Record<string, string>> = {
  "upper case": "Transfer-Encoding: CHUNKED",
  identity: "Transfer-Encoding: identity",
  "identity, chunked": "Transfer-Encoding: identity, chunked",
  "gzip, chunked": "Transfer-Encoding: gzip, chunked",
  "chunked, gzip": "Transfer-Encoding: chunked, gzip",
  "chunked twice": "Transfer-Encoding: chunked, chunked",
  "two lines of chunked": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
  "and a length": "Transfer-Encoding: chunked\r\nContent-Length: 3",
  "a length before": "Content-Length: 3\r\nTransfer-Encoding: chunked",
  xchunked: "Transfer-Encoding: xchunked",
  chunkedx: "Transfer-Encoding: chunkedx",
  "ending comma": "Transfer-Encoding: chunked,",
  parameter: "Transfer-Encoding: chunked;a=b",
  quoted: 'Transfer-Encoding: "chunked"',
  empty: "Transfer-Encoding:",
  "vertical tab": "Transfer-Encoding: \x0bchunked",
  "space before colon": "Transfer-Encoding : chunked",
  "a fold": "Transfer-Encoding:\r\n chunked",
};

/** Chunks that are not in order, or that clients read otherwise: changes to the coding of a body that is in order. */
export const ODD_CHUNKS: Readonly<Record<string, (chunks: string) => string>> = {
  "lf lines": (chunks) => chunks.replace(/^([0-9a-f]+)\r\n/, "$1\n"),
  "lf after data": (chunks) => chunks.replace(/\r\n0\r\n/, "\n0\r\n"),
  "no crlf after data": (chunks) => chunks.replace(/\r\n0\r\n/, "0\r\n"),
  "data too long": (chunks) => chunks.replace(/\r\n0\r\n/, "x\r\n0\r\n"),
  "hexadecimal prefix": (chunks) => `0x${chunks}`,
  plus: (chunks) => `+${chunks}`,
  minus: (chunks) => `-${chunks}`,
  "space before": (chunks) => ` ${chunks}`,
  "space after": (chunks) => chunks.replace("\r\n", " \r\n"),
  "tab after": (chunks) => chunks.replace("\r\n", "\t\r\n"),
  "no size": (chunks) => chunks.replace(/^[0-9a-f]+/, ""),
  "no number": (chunks) => `g${chunks}`,
  "huge size": (chunks) => `ffffffffffffffff${chunks}`,
  "2^64": (chunks) => `1000000000000000${chunks}`,
  "lf in extension": (chunks) => chunks.replace("\r\n", ";a=b\nc\r\n"),
  "nul in extension": (chunks) => chunks.replace("\r\n", ";a=\0\r\n"),
  "large extension": (chunks) => chunks.replace("\r\n", `;a=${"x".repeat(20_000)}\r\n`),
  "underscore": (chunks) => chunks.replace(/^([0-9a-f])/, "$1_"),
  "cr without lf": (chunks) => chunks.replace("\r\n", "\rx\n"),
  "two last chunks": (chunks) => chunks.replace(/0\r\n(?!.*0\r\n)/s, "0\r\n0\r\n"),
  "trailer without colon": (chunks) => chunks.replace(/\r\n\r\n$/, "\r\nx-sum\r\n\r\n"),
  "trailer with lf": (chunks) => chunks.replace(/\r\n\r\n$/, "\r\nx-sum: 1\n\r\n"),
  "trailer that frames": (chunks) => chunks.replace(/\r\n\r\n$/, "\r\nContent-Length: 1\r\n\r\n"),
  "large trailer": (chunks) => chunks.replace(/\r\n\r\n$/, `\r\nx-sum: ${"x".repeat(100_000)}\r\n\r\n`),
  "no end": (chunks) => chunks.replace(/0\r\n\r\n$/, ""),
  "no last line": (chunks) => chunks.replace(/\r\n$/, ""),
};

/** Responses before the final one. */
export const INFORMATIONAL: Readonly<Record<string, string>> = {
  100: "HTTP/1.1 100 Continue\r\n\r\n",
  103: "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
  "102, 103": "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
};
export const ODD_INFORMATIONAL: Readonly<Record<string, string>> = {
  199: "HTTP/1.1 199 Whatever\r\nX-A: b\r\n\r\n",
  "with a length": "HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\n",
  101: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  malformed: "HTTP/1.1 103 Early Hints\r\nno colon\r\n\r\n",
  twelve: "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(12),
};

/** Bytes behind a whole response. */
export const SURPLUS: Readonly<Record<string, string>> = {
  "a letter": "x",
  "an empty line": "\r\n",
  "an answer": "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen",
  "a late error": "HTTP/1.1 408 Late\r\n\r\n",
};
