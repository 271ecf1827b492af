/**
 * The fields that both sides know from the start: name, value, name, value; the first has index 1.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#appendix-A}
 */
export const STATIC_FIELDS: readonly string[] = [
  ...[":authority", "", ":method", "GET", ":method", "POST", ":path", "/", ":path", "/index.html"],
  ...[":scheme", "http", ":scheme", "https", ":status", "200", ":status", "204", ":status", "206", ":status", "304"],
  ...[":status", "400", ":status", "404", ":status", "500", "accept-charset", "", "accept-encoding", "gzip, deflate"],
  ...["accept-language", "", "accept-ranges", "", "accept", "", "access-control-allow-origin", "", "age", ""],
  ...["allow", "", "authorization", "", "cache-control", "", "content-disposition", "", "content-encoding", ""],
  ...["content-language", "", "content-length", "", "content-location", "", "content-range", "", "content-type", ""],
  ...["cookie", "", "date", "", "etag", "", "expect", "", "expires", "", "from", "", "host", "", "if-match", ""],
  ...["if-modified-since", "", "if-none-match", "", "if-range", "", "if-unmodified-since", "", "last-modified", ""],
  ...["link", "", "location", "", "max-forwards", "", "proxy-authenticate", "", "proxy-authorization", "", "range", ""],
  ...["referer", "", "refresh", "", "retry-after", "", "server", "", "set-cookie", "", "strict-transport-security", ""],
  ...["transfer-encoding", "", "user-agent", "", "vary", "", "via", "", "www-authenticate", ""],
];

/** How many static fields there are: dynamic ones have the indexes above. */
export const STATIC_COUNT = 61;

/** Bytes that an entry of a dynamic table, or a field of a header list, counts besides its name and value (RFC 7541 4.1). */
export const FIELD_OVERHEAD = 32;

/** Bytes of a dynamic table until SETTINGS say something else (RFC 9113 6.5.2). */
export const DEFAULT_TABLE_SIZE = 4096;
