/** Named references that stand in URLs; all others are left as they are. */
const named: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["sol", "/"],
  ["colon", ":"],
  ["period", "."],
  ["quest", "?"],
  ["equals", "="],
  ["num", "#"],
  ["percnt", "%"],
  ["comma", ","],
  ["nbsp", "\u00a0"],
]);

/** `text` of an attribute with its character references replaced. */
export function unescapeText(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,32}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? whole;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
