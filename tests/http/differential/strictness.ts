/** A known difference, with the reason why this package differs. */
export interface Difference {
  readonly reason: string;
  /** The section of the standard that demands it. */
  readonly section: string;
  /** The peers that differ; default: all. */
  readonly peers?: readonly string[];
  /** The aspect that differs, as in `Finding`; differences of the second response follow from the first one's. */
  readonly aspect: RegExp;
  /** Features of a case, at least one of which must be present. */
  readonly features: readonly string[];
}

/** The aspect of a difference in which only this package fails. */
export const BY_OURS: RegExp = /^refused by ours$/;

// Names of features.
export const lengths = (...names: string[]): string[] => names.map((name) => `odd length ${name}`);
export const transfers = (...names: string[]): string[] => names.map((name) => `odd transfer ${name}`);
export const chunks = (...names: string[]): string[] => names.map((name) => `odd chunks ${name}`);
export const fields = (...names: string[]): string[] => names.map((name) => `odd field ${name}`);
export const lines = (...texts: string[]): string[] => texts.map((text) => `odd line ${text}`);

/** Input that this package refuses and peers accept: ambiguous messages, and fragments of incomplete ones. */
export const stricter: readonly Difference[] = [
  {
    aspect: BY_OURS,
    features: transfers(
      "identity, chunked",
      "gzip, chunked",
      "chunked, gzip",
      "xchunked",
      "chunkedx",
      "empty",
      "vertical tab",
    ),
    reason:
      "a transfer coding that is not understood is refused; others hand out the coded bytes as the body, or read to the connection's end",
    section: "RFC 9112, 6.1 and 7",
  },
  {
    aspect: BY_OURS,
    features: transfers("chunked twice", "two lines of chunked", "parameter", "quoted", "ending comma"),
    reason: "`chunked` stands once, by itself and without parameters; senders must not write it otherwise",
    section: "RFC 9112, 6.1 and 7.1; RFC 9110, 5.6.1.1",
  },
  {
    aspect: BY_OURS,
    features: transfers("and a length", "a length before"),
    reason:
      "a message with both Transfer-Encoding and Content-Length might be an attempt at smuggling, and ought to be handled as an error",
    section: "RFC 9112, 6.3",
  },
  {
    aspect: BY_OURS,
    features: lengths(
      "twice, other",
      "list, other",
      "plus",
      "minus",
      "hexadecimal",
      "decimals",
      "unit",
      "empty",
      "word",
      "inner space",
      "ending comma",
      "huge",
      "2^64",
    ),
    reason: "a Content-Length that is no number, or that says two, is an unrecoverable error",
    section: "RFC 9112, 6.3",
  },
  {
    aspect: BY_OURS,
    features: chunks(
      "lf lines",
      "lf after data",
      "no crlf after data",
      "data too long",
      "space after",
      "tab after",
      "lf in extension",
      "nul in extension",
      "cr without lf",
      "two last chunks",
      "trailer without colon",
      "trailer with lf",
      "space before",
      "no size",
    ),
    reason:
      "chunks are read as the grammar has them: CRLF behind sizes, data and trailers, and no controls in extensions",
    section: "RFC 9112, 7.1",
  },
  {
    aspect: BY_OURS,
    features: chunks("no end", "no last line"),
    reason: "a chunked body ends with its last chunk and an empty line; without them it is incomplete",
    section: "RFC 9112, 8",
  },
  {
    aspect: BY_OURS,
    features: [...chunks("large extension", "large trailer"), ...fields("large value")],
    reason: "limits: 16 KiB of extensions, `maxHeaderSize` (64 KiB) of fields",
    section: "RFC 9112, 7.1.1; RFC 9110, 5.4",
  },
  {
    aspect: BY_OURS,
    features: [
      ...fields(
        "lf in value",
        "lf only",
        "cr only",
        "cr in value",
        "cr cr lf",
        "nul in value",
        "control in value",
        "del in value",
      ),
      ...fields(
        "fold first",
        "space in name",
        "space before colon",
        "no colon",
        "no name",
        "obs-text in name",
        "bracket in name",
      ),
      ...fields("control in name"),
      ...transfers("space before colon"),
      ...lengths("space before colon"),
    ],
    reason:
      "a field line is refused that others could end or name otherwise: bare CR and LF, controls, white space around names",
    section: "RFC 9110, 5.5; RFC 9112, 2.2 and 5.1",
  },
  {
    aspect: BY_OURS,
    features: [
      ...lines(
        "\r\nHTTP/1.1 200 OK",
        "\nHTTP/1.1 200 OK",
        "HTTP/0.9 200 OK",
        "HTTP/2.0 200 OK",
        "RTSP/1.0 200 OK",
        "ICY 200 OK",
      ),
      ...lines(
        "HTTP/1.1 200 a\x01b",
        "HTTP/1.1 200 a\rb",
        "HTTP/1.1 200 a\0b",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 200\tOK",
        "HTTP/1.1  200 OK",
      ),
      ...lines(
        "http/1.1 200 OK",
        "HTTP/1 200 OK",
        "HTTP/1.10 200 OK",
        "HTTPS/1.1 200 OK",
        "xHTTP/1.1 200 OK",
        " HTTP/1.1 200 OK",
        "HTTP/1.1 200OK",
      ),
    ],
    reason: "a status line is read as the grammar has it, and empty lines before it are for servers to pass over",
    section: "RFC 9112, 2.2 and 4",
  },
  {
    aspect: BY_OURS,
    features: ["099", "000", "20", "2000", "2x0", "-20"].map((status) => `odd status ${status}`),
    reason: "a status has three digits, the first of which is not 0",
    section: "RFC 9110, 15",
  },
  {
    aspect: BY_OURS,
    features: ["odd status 101", "odd informational 101", "odd informational malformed"],
    reason: "a server switches protocols only if it was asked to, and interim responses are read as all others",
    section: "RFC 9110, 7.8 and 15.2",
  },
];
