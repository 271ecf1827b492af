/**
 * The responses of the servers of Go, Node, Deno and Bun: one table of tests is valid for all of them, and for the proxies
 * before them. Each implements it with its own means:
 *
 * | path | answer |
 * |---|---|
 * | `/hello` | `hello` and an entity tag; 304 to that tag in If-None-Match |
 * | `/echo` | the request's body as it comes; `x-method`, and `x-length`: its Content-Length, or `none` |
 * | `/mirror` | the same, once all of it is there |
 * | `/digest` | `{ method, bytes, sha256 }` of the request's body, in JSON |
 * | `/bytes?n=` | `n` bytes of the pattern, with Content-Length |
 * | `/stream?n=` | the same, without Content-Length |
 * | `/drip` | bytes without end |
 * | `/dripping` | the number of `/drip` responses that have not ended |
 * | `/half` | a Content-Length of 1,000, 500 bytes, then the connection or stream is reset |
 * | `/wait?ms=` | `waited`, after `ms` milliseconds |
 * | `/status?code=` | that status, and nothing else |
 * | `/redirect?code=&to=` | that status and that Location |
 * | `/encoded?as=` | 2,000 lines in that coding |
 * | `/trailers` | a body, and `x-trailer: last` after it |
 * | `/hints` | two 103 responses, then `hinted` |
 * | `/refuse` | 413 without reading the body |
 * | `/fields` | the request's header fields in JSON; the response has as many `x-field-…` of 100 bytes as `n=` says |
 */
export type ApplicationPath =
  | "/hello"
  | "/echo"
  | "/mirror"
  | "/digest"
  | "/bytes"
  | "/stream"
  | "/drip"
  | "/dripping"
  | "/half"
  | "/wait"
  | "/status"
  | "/redirect"
  | "/encoded"
  | "/trailers"
  | "/hints"
  | "/refuse"
  | "/fields";

/** The entity tag of `/hello`. */
export const HELLO_TAG = '"hello-1"';

/** The decoded content of `/encoded`. */
export const encodedText: string = Array.from({ length: 2000 }, (_, i) => `line ${i} of what is sent in a coding\n`)
  .join("");

/** A server's first line on standard output, in JSON: its origins by protocol. */
export type Origins = Readonly<Partial<Record<"h2" | "h2c" | "h1" | "h1s" | "verified", string>>>;
