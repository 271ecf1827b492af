/**
 * HTTP semantics (RFC 9110) that several parts share.
 *
 * @module
 */
export { formatHTTPDate, parseHTTPDate } from "./http_date.ts";
