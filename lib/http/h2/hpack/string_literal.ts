import { Buffer } from "node:buffer";
import { UNKNOWN } from "./field_kinds.ts";
import { decodeHuffman } from "./huffman_decoding.ts";

/** A string literal of a header block. */
export interface StringLiteral {
  /** Its bytes as code units. */
  readonly text: string;
  /** The same without white space at its ends. */
  readonly trimmed: string;
  /** Whether it is without CR, LF and NUL. */
  readonly clean: boolean;
  /** As it came: to know it again. */
  readonly wire: Uint8Array;
  readonly huffman: boolean;
  /** {@link kindOfName}, once it was used as a name. */
  nameKind: number;
}

// What servers do not put into the dynamic table (content-length, etag) comes again and again all the same. To find the string
// of the last time takes 25 ns, to make it anew 150. The slots belong to all connections: a string is the same for each.
const SLOTS = 512;
const LONGEST_REMEMBERED = 48;
const NO_WIRE = new Uint8Array(0);
const slots: StringLiteral[] = new Array<StringLiteral>(SLOTS).fill({
  text: "",
  trimmed: "",
  clean: true,
  wire: NO_WIRE,
  huffman: false,
  nameKind: UNKNOWN,
});

let scratch = Buffer.alloc(1024);

/**
 * Reads a string literal.
 *
 * @param block The header block.
 * @param start Where its bytes start, behind the length.
 * @param end Where they end.
 * @param huffman Whether they are Huffman code.
 * @returns The string.
 * @throws {CompressionError} if it is no valid Huffman code.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2}
 */
export function readStringLiteral(block: Uint8Array, start: number, end: number, huffman: boolean): StringLiteral {
  if (end - start > LONGEST_REMEMBERED) return make(block, start, end, huffman, NO_WIRE);
  let hash = huffman ? 1 : 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + block[at]!) | 0;
  const slot = (hash ^ (hash >>> 9)) & (SLOTS - 1);
  const known = slots[slot]!;
  if (known.huffman === huffman && isWire(known.wire, block, start, end)) return known;
  return slots[slot] = make(block, start, end, huffman, new Uint8Array(block.subarray(start, end)));
}

function isWire(wire: Uint8Array, block: Uint8Array, start: number, end: number): boolean {
  if (wire.length !== end - start) return false;
  for (let i = 0; i < wire.length; i++) if (wire[i] !== block[start + i]) return false;
  return true;
}

function make(block: Uint8Array, start: number, end: number, huffman: boolean, wire: Uint8Array): StringLiteral {
  if (scratch.length < (end - start) * 2) scratch = Buffer.alloc((end - start) * 2);
  let length = end - start;
  if (huffman) length = decodeHuffman(block, start, end, scratch);
  else for (let i = 0; i < length; i++) scratch[i] = block[start + i]!;
  const text = scratch.toString("latin1", 0, length);
  const trimmed = isBlank(text, 0) || isBlank(text, length - 1) ? text.replace(/^[ \t]+|[ \t]+$/g, "") : text;
  return { text, trimmed, clean: !/[\0\r\n]/.test(text), wire, huffman, nameKind: UNKNOWN };
}

function isBlank(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x20 || unit === 0x09;
}
