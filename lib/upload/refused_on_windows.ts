/** Names that are devices on Windows in every folder, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** What has a meaning on Windows: streams, short names and patterns; and control characters. */
// deno-lint-ignore no-control-regex
const RESERVED = /[<>:"|?*\u0000-\u001f]/;

/** Why a part of a path can be no name of a file on Windows, in words; undefined if it can. */
export function refusedOnWindows(part: string): string | undefined {
  if (RESERVED.test(part)) return "the name has a character that Windows reserves";
  if (/[. ]$/.test(part)) return "Windows drops the full stops and spaces that the name ends with";
  if (DEVICE.test(part)) return "Windows has a device of that name";
  return undefined;
}
