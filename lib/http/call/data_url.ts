import { Buffer } from "node:buffer";

/** HTTP white space. */
const SPACE = "\t\n\r ";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const QUOTED = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Writes a MIME type as it is sent, in lower case and with quotes where they are needed; undefined if it is none.
 *
 * @see {@link https://mimesniff.spec.whatwg.org/#parsing-a-mime-type}
 * @see {@link https://mimesniff.spec.whatwg.org/#serializing-a-mime-type}
 */
function serializedMimeType(text: string): string | undefined {
  const input = trimmed(text);
  const end = indexOrEnd(input, ";", 0);
  const essence = trimmed(input.slice(0, end)).toLowerCase();
  const [type, subtype, ...more] = essence.split("/");
  if (!TOKEN.test(type) || subtype === undefined || !TOKEN.test(subtype) || more.length > 0) return undefined;
  let serialized = essence;
  for (const [name, value] of parametersOf(input, end)) {
    const isPlain = TOKEN.test(value);
    serialized += `;${name}=${isPlain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;
  }
  return serialized;
}

/** The parameters behind the essence; of those of one name the first counts. */
function parametersOf(input: string, from: number): Map<string, string> {
  const parameters = new Map<string, string>();
  let at = from;
  while (at < input.length) {
    at++; // the semicolon
    while (at < input.length && SPACE.includes(input[at])) at++;
    const [name] = input.slice(at, indexOrEnd(input, ";", at)).toLowerCase().split("=", 1);
    at += name.length;
    if (input[at] !== "=") continue;
    at++;
    let value: string;
    if (input[at] === '"') {
      ({ value, at } = quoted(input, at));
      at = indexOrEnd(input, ";", at);
    } else {
      const end = indexOrEnd(input, ";", at);
      value = input.slice(at, end);
      value = value.slice(0, value.length - spaceAtEnd(value));
      at = end;
      if (value === "") continue;
    }
    if (TOKEN.test(name) && QUOTED.test(value) && !parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

/** https://fetch.spec.whatwg.org/#collect-an-http-quoted-string */
function quoted(input: string, start: number): { value: string; at: number } {
  let value = "";
  let from = start + 1;
  let at = from;
  for (; at < input.length && input[at] !== '"'; at++) {
    if (input[at] !== "\\" || at + 1 === input.length) continue;
    // In runs: a string that is made of single characters takes 32 times the memory.
    value += input.slice(from, at);
    from = ++at;
  }
  return { value: value + input.slice(from, at), at: at + 1 };
}

/** Without the white space around it. Not by a regular expression: that would take quadratic time with much of it inside. */
export function trimmed(text: string, space: string = SPACE): string {
  let start = 0;
  while (start < text.length && space.includes(text[start])) start++;
  return text.slice(start, Math.max(start, text.length - spaceAtEnd(text, space)));
}

function spaceAtEnd(text: string, space: string = SPACE): number {
  let end = text.length;
  while (end > 0 && space.includes(text[end - 1])) end--;
  return text.length - end;
}

function indexOrEnd(text: string, search: string, from: number): number {
  const index = text.indexOf(search, from);
  return index < 0 ? text.length : index;
}

/** The content of a data: URL. */
interface DataUrl {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Reads a serialized data: URL; undefined if it is malformed. @see {@link https://fetch.spec.whatwg.org/#data-url-processor} */
export function readDataUrl(href: string): DataUrl | undefined {
  const comma = href.indexOf(",");
  if (comma < 0) return undefined;
  let type = trimmed(href.slice("data:".length, comma), "\t\n\f\r ");
  let bytes: Uint8Array = percentDecoded(href.slice(comma + 1));
  const base64 = /; *base64$/i.exec(type);
  if (base64 !== null) {
    const decoded = base64Decoded(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));
    if (decoded === undefined) return undefined;
    bytes = decoded;
    type = type.slice(0, base64.index);
  }
  if (type.startsWith(";")) type = `text/plain${type}`;
  return { mimeType: serializedMimeType(type) ?? "text/plain;charset=US-ASCII", bytes };
}

/** https://url.spec.whatwg.org/#percent-decode */
function percentDecoded(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++, length++) {
    bytes[length] = bytes[at];
    if (bytes[at] !== 0x25) continue;
    const hex = bytes.toString("latin1", at + 1, at + 3);
    if (!/^[0-9a-f]{2}$/i.test(hex)) continue;
    bytes[length] = parseInt(hex, 16);
    at += 2;
  }
  return bytes.subarray(0, length);
}

/** https://infra.spec.whatwg.org/#forgiving-base64-decode */
function base64Decoded(text: string): Uint8Array | undefined {
  let data = text.replace(/[\t\n\f\r ]+/g, "");
  if (data.length % 4 === 0) data = data.replace(/={1,2}$/, "");
  if (data.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(data)) return undefined;
  return Buffer.from(data, "base64");
}
