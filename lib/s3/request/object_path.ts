/** Characters that encodeURIComponent leaves as they are and signatures do not. */
const LEFT = /[!'()*]/g;
/** A slash beside a part that URLs would leave out: they resolve `.` and `..`, which are names like others in keys. */
const SLASH_AT_DOTS = /\/(?=\.{1,2}(?:\/|$))|(?<=(?:^|\/)\.{1,2})\//g;
/** Most bytes of a key. */
const LONGEST = 1024;

/**
 * The path of an object's URL. A slash beside `.` or `..` is encoded, so that no URL parser takes the parts for steps in a
 * tree; in what is signed it is a slash.
 *
 * @throws {TypeError} if the key is no text.
 * @throws {RangeError} if no object can be called so.
 */
export function objectPath(bucket: string, key: string): string {
  if (typeof key !== "string") throw new TypeError(`a key must be a string, not ${String(key)}`);
  const fault = faultOf(key);
  if (fault !== undefined) throw new RangeError(`${JSON.stringify(key)} can be no key: ${fault}`);
  const parts = key.replace(SLASH_AT_DOTS, "\0").split("/");
  return `/${encoded(bucket)}/${parts.map((part) => encoded(part).replaceAll("%00", "%2F")).join("/")}`;
}

function faultOf(key: string): string | undefined {
  if (key === "") return "it is empty";
  if (key === "." || key === "..") return "URLs cannot name it";
  if (key.includes("\0")) return "it has a zero byte";
  if (!key.isWellFormed()) return "it is no Unicode text";
  if (new TextEncoder().encode(key).length > LONGEST) return `it has more than ${LONGEST} bytes`;
  return undefined;
}

/** Encodes a text as signatures ask for it (RFC 3986, section 2.3). */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(LEFT, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
