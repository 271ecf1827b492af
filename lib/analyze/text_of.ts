/** Encodings by the marks that files begin with. */
const marks: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/** How far from the start of a file browsers look for its encoding, in bytes. */
const DECLARED_WITHIN = 1024;

/**
 * The text of a page or a style sheet, in the encoding that a browser takes: that of its mark, of its field, or that it
 * declares itself; else UTF-8.
 *
 * @param type The value of `Content-Type`.
 */
export function textOf(bytes: Uint8Array<ArrayBuffer>, type: string): string {
  const marked = marks.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))?.[1];
  const [, named] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? [];
  return decoderFor(marked ?? named ?? declaredIn(bytes)).decode(bytes);
}

function declaredIn(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARED_WITHIN));
  const [, inStyle] = /^@charset "([^"]+)";/.exec(start) ?? [];
  const [, inPage] = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s;"'/>]+)/i.exec(start) ?? [];
  const encoding = inStyle ?? inPage;
  return encoding !== undefined && /^utf-?16/i.test(encoding) ? "utf-8" : encoding; // or it could not be read
}

/** The decoder of an encoding, or of UTF-8 if the runtime does not know it. */
function decoderFor(encoding = "utf-8"): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
}
