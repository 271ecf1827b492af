/** Values that header fields can have. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The media type that an object can have: senders may give files any text, of which a store takes what fields can be. */
export function storableType(type: string): string {
  return [type, type.replace(/;.*$/s, "").trim()].find((each) => VALUE.test(each)) ?? "application/octet-stream";
}
