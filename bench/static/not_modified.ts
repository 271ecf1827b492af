/** The fields of a 304 that caches want (RFC 9110 section 15.4.5), and that our handler sends. */
export const NOT_MODIFIED: Readonly<Record<string, string>> = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "ETag": '"47DEQpj8HBSa-_TImW-5JC"',
  "Last-Modified": "Thu, 01 Oct 2026 10:11:12 GMT",
  "Vary": "Accept-Encoding",
};
