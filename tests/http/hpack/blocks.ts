import { Buffer } from "node:buffer";
import type { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { encodeHuffman, huffmanLength } from "../../../lib/http/h2/hpack/huffman.ts";

/** Decodes hexadecimal digits, ignoring white space. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ""), "hex");
}

/** Decodes a header block of a response. */
export function head(decoder: HpackDecoder, block: Uint8Array): string[] {
  return decoder.decodeHead(block, 0, block.length);
}

/** Returns an integer behind the given first bits (RFC 7541 5.1). */
export function integer(first: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([first | value]);
  const bytes = [first | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Returns a string literal (RFC 7541 5.2). */
export function literal(text: string, huffman = false): Buffer {
  if (!huffman) return Buffer.concat([integer(0, 7, text.length), Buffer.from(text, "latin1")]);
  const code = Buffer.alloc(huffmanLength(text));
  encodeHuffman(text, code, 0);
  return Buffer.concat([integer(0x80, 7, code.length), code]);
}

/** Returns a field that is spelled out. */
export function field(name: string | number, value: string, how: { add?: boolean; huffman?: boolean } = {}): Buffer {
  const bits = how.add === true ? 6 : 4;
  const start = integer(how.add === true ? 0x40 : 0, bits, typeof name === "number" ? name : 0);
  const names = typeof name === "number" ? [] : [literal(name, how.huffman)];
  return Buffer.concat([start, ...names, literal(value, how.huffman)]);
}

/** `:status: 200`. */
export const OK: Buffer = Buffer.from([0x88]);
