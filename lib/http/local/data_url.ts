import { Buffer } from "node:buffer";
import { serializedMimeType, trimmed } from "./mime_type.ts";

/** The content of a data: URL. */
export interface DataUrl {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads a data: URL; undefined if it is malformed.
 *
 * @param href The URL, serialized, without its fragment.
 * @see {@link https://fetch.spec.whatwg.org/#data-url-processor}
 */
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
