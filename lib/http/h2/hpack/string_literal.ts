import { Buffer } from "node:buffer";
import { UNKNOWN } from "./field_kinds.ts";
import { decodeHuffman } from "./huffman_decoding.ts";

/** A run of spaces is looked at once, where it begins: else long ones would take quadratic time. */
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/** A string literal of a header block. */
export interface StringLiteral {
  /** Its bytes as code units. */
  readonly text: string;
  /** The same without white space at its ends. */
  readonly trimmed: string;
  /** Whether it is without CR, LF and NUL. */
  readonly clean: boolean;
  /** Whether it came in Huffman code. */
  readonly huffman: boolean;
  /** How many bytes it came in. */
  readonly wireLength: number;
  /** {@link kindOfName}, once it was used as a name. */
  nameKind: number;
}

// What servers do not put into the dynamic table (content-length, etag) comes again and again all the same. To find the string
// of the last time takes 25 ns, to make it anew 150. The slots belong to all connections: a string is the same for each.
// `wire` has what the strings came as, in one array: a small one for each string costs Deno 0.5 µs.
const SLOTS = 512;
const LONGEST_REMEMBERED = 48;
const EMPTY: StringLiteral = { text: "", trimmed: "", clean: true, huffman: false, wireLength: 0, nameKind: UNKNOWN };
const slots: StringLiteral[] = new Array<StringLiteral>(SLOTS).fill(EMPTY);
const wire = new Uint8Array(SLOTS * LONGEST_REMEMBERED);

/** The buffer in which strings are put together; a larger string gets its own, for a while. */
const scratch = Buffer.alloc(8192);

/**
 * Reads a string literal.
 *
 * @param block The header block.
 * @param start The offset of its bytes, behind the length.
 * @param end The offset of their end.
 * @param huffman Whether they are Huffman code.
 * @returns The string.
 * @throws {CompressionError} if it is no valid Huffman code.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2}
 */
export function readStringLiteral(block: Uint8Array, start: number, end: number, huffman: boolean): StringLiteral {
  if (end - start > LONGEST_REMEMBERED) return make(block, start, end, huffman);
  let hash = huffman ? 1 : 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + block[at]) | 0;
  const slot = (hash ^ (hash >>> 9)) & (SLOTS - 1);
  const known = slots[slot];
  if (known.huffman === huffman && known.wireLength === end - start && isWire(slot, block, start, end)) return known;
  const literal = make(block, start, end, huffman);
  slots[slot] = literal;
  for (let at = start, to = slot * LONGEST_REMEMBERED; at < end;) wire[to++] = block[at++];
  return literal;
}

function isWire(slot: number, block: Uint8Array, start: number, end: number): boolean {
  for (let at = start, of = slot * LONGEST_REMEMBERED; at < end;) if (wire[of++] !== block[at++]) return false;
  return true;
}

function make(block: Uint8Array, start: number, end: number, huffman: boolean): StringLiteral {
  const wireLength = end - start;
  const bytes = wireLength * 2 <= scratch.length ? scratch : Buffer.alloc(wireLength * 2);
  let length = wireLength;
  if (huffman) length = decodeHuffman(block, start, end, bytes);
  else for (let i = 0; i < length; i++) bytes[i] = block[start + i];
  const text = bytes.toString("latin1", 0, length);
  const trimmed = isBlank(text, 0) || isBlank(text, length - 1) ? text.replace(OUTER_SPACE, "") : text;
  return { text, trimmed, clean: !/[\0\r\n]/.test(text), huffman, wireLength, nameKind: UNKNOWN };
}

function isBlank(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x20 || unit === 0x09;
}
