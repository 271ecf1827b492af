/**
 * HTTP semantics (RFC 9110) that several parts share.
 *
 * @module
 */
export { type AcceptedCodings, acceptedCodings } from "./accept_encoding.ts";
export type { ContentCoding } from "./content_coding.ts";
export { formatHTTPDate, parseHTTPDate } from "./http_date.ts";
