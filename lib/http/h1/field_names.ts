/** Fields that responses usually have, as servers spell them. Title-Case is added, and lower case needs no look-up. */
const USUAL = [
  "accept-ranges",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "age",
  "allow",
  "alt-svc",
  "cache-control",
  "cf-cache-status",
  "cf-ray",
  "connection",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "content-security-policy",
  "content-type",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
  "date",
  "expires",
  "keep-alive",
  "last-modified",
  "link",
  "location",
  "permissions-policy",
  "pragma",
  "proxy-authenticate",
  "referrer-policy",
  "retry-after",
  "server",
  "server-timing",
  "set-cookie",
  "strict-transport-security",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "vary",
  "via",
  "www-authenticate",
  "x-cache",
  "x-content-type-options",
  "x-frame-options",
  "x-powered-by",
  "x-request-id",
  "x-xss-protection",
];

/** Other spellings than Title-Case that are common. */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ["ETag", "etag"],
  ["Etag", "etag"],
  ["WWW-Authenticate", "www-authenticate"],
  ["X-XSS-Protection", "x-xss-protection"],
  ["CF-Cache-Status", "cf-cache-status"],
  ["CF-RAY", "cf-ray"],
];

/** Never grows: what servers make up is not kept. */
const LOWER = new Map<string, string>(SPELLINGS);
for (const name of USUAL) LOWER.set(name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()), name);

/** A field name that has upper-case letters, in lower case. Usual ones come from a table: twice as fast, and no new string. */
export function lowerCaseName(name: string): string {
  return LOWER.get(name) ?? name.toLowerCase();
}
