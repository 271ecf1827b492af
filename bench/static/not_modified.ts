/** The fields that a 304 must have if a 200 for the same request has them (RFC 9110 section 15.4.5). */
export const NOT_MODIFIED: Readonly<Record<string, string>> = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "ETag": '"47DEQpj8HBSa-_TImW-5JC"',
  "Vary": "Accept-Encoding",
};
