import { Buffer } from "node:buffer";
import type { HeaderList } from "../../connection.ts";
import { CompressionError, decodeHuffman } from "./huffman.ts";
import { FORBIDDEN, kindOfField, kindOfName, ORDINARY, UNKNOWN, whyForbidden } from "./indexing_tables.ts";
import { DecoderTable, DEFAULT_TABLE_SIZE, type Field, FIELD_OVERHEAD } from "./indexing_tables.ts";

/** Each run of spaces is matched once, at its start: long runs would otherwise take quadratic time. */
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

interface StringLiteral {
  readonly text: string;
  /** The value without outer white space. */
  readonly trimmed: string;
  /** Whether the value contains no CR, LF and NUL. */
  readonly clean: boolean;
  readonly huffman: boolean;
  readonly wireLength: number;
  /** {@link kindOfName}, set at the first use as a name. */
  nameKind: number;
}

// Strings that servers do not put into the dynamic table (content-length, etag) are often repeated. Finding the last string takes 25 ns, making it 150. All connections
// share the slots, as a string is the same for each. `wire` has all encoded strings in one array: small arrays cost Deno 0.5 µs each.
const SLOTS = 512;
const MAX_CACHED_LENGTH = 48;
const EMPTY: StringLiteral = { text: "", trimmed: "", clean: true, huffman: false, wireLength: 0, nameKind: UNKNOWN };
const slots: StringLiteral[] = new Array<StringLiteral>(SLOTS).fill(EMPTY);
const wire = new Uint8Array(SLOTS * MAX_CACHED_LENGTH);

/** The size of the buffer for assembling strings; a larger string gets a temporary one. */
const SCRATCH = 8192;
let scratch: Buffer | undefined;

/** Reads a string literal, without its length. @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2} */
function readStringLiteral(block: Uint8Array, start: number, end: number, huffman: boolean): StringLiteral {
  if (end - start > MAX_CACHED_LENGTH) return make(block, start, end, huffman);
  let hash = huffman ? 1 : 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + block[at]) | 0;
  const slot = (hash ^ (hash >>> 9)) & (SLOTS - 1);
  const known = slots[slot];
  if (known.huffman === huffman && known.wireLength === end - start && isWire(slot, block, start, end)) return known;
  const literal = make(block, start, end, huffman);
  slots[slot] = literal;
  for (let at = start, to = slot * MAX_CACHED_LENGTH; at < end;) wire[to++] = block[at++];
  return literal;
}

function isWire(slot: number, block: Uint8Array, start: number, end: number): boolean {
  for (let at = start, of = slot * MAX_CACHED_LENGTH; at < end;) if (wire[of++] !== block[at++]) return false;
  return true;
}

function make(block: Uint8Array, start: number, end: number, huffman: boolean): StringLiteral {
  const wireLength = end - start;
  const bytes = wireLength * 2 <= SCRATCH ? scratch ??= Buffer.alloc(SCRATCH) : Buffer.alloc(wireLength * 2);
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

const NO_FIELDS: HeaderList = [];
const NO_BYTES = new Uint8Array(0);

/**
 * Decodes the header blocks of a connection's responses, and checks that a response may have such fields.
 *
 * Every block of the connection must be decoded in order, even for ended streams, since all blocks share the table.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541}
 */
export class HpackDecoder {
  /** `:status` of the last block, 100 to 999; 0 if it had none. */
  status = 0;
  /** The reason why the last block is not a response's (RFC 9113 8.1.1), as the end of a sentence; empty if it is valid. */
  malformed = "";
  /** Whether the last block's fields exceed `maxHeaderListSize`; the surplus is not in the list. */
  tooLarge = false;

  readonly #table: DecoderTable;
  readonly #maxListSize: number;
  #list: HeaderList = NO_FIELDS;
  #listSize = 0;
  #at = 0;
  #end = 0;
  #block: Uint8Array = NO_BYTES;

  /** @param maxHeaderListSize The maximum size of a list in bytes; a field counts its name, its value and 32. */
  constructor(maxTableSize: number = DEFAULT_TABLE_SIZE, maxHeaderListSize: number = Infinity) {
    this.#table = new DecoderTable(maxTableSize);
    this.#maxListSize = maxHeaderListSize;
  }

  /** Decodes a response's head to its fields without `:status`. @throws {CompressionError} if the connection cannot continue. */
  decodeHead(block: Uint8Array, start: number, end: number): HeaderList {
    const list = this.#decode(block, start, end);
    if (this.status === 0 && this.malformed === "") this.malformed = "no :status";
    return list;
  }

  /** Decodes trailers: as {@link decodeHead}, but `:status` is malformed here. */
  decodeTrailers(block: Uint8Array, start: number, end: number): HeaderList {
    const list = this.#decode(block, start, end);
    if (this.status !== 0 && this.malformed === "") this.malformed = "a :status in the trailers";
    return list;
  }

  #decode(block: Uint8Array, start: number, end: number): HeaderList {
    const list: HeaderList = this.#list = [];
    this.status = 0;
    this.malformed = "";
    this.tooLarge = false;
    this.#listSize = 0;
    this.#block = block;
    this.#at = start;
    this.#end = end;
    while (this.#at < end && (block[this.#at] & 0xe0) === 0x20) {
      const byte = block[this.#at++];
      this.#table.resize(this.#integer(byte, 0x1f));
    }
    while (this.#at < end) {
      const byte = block[this.#at++];
      if (byte > 0x80 && byte < 0xff) this.#takeEntry(this.#table.at(byte & 0x7f));
      else if (byte >= 0x80) this.#takeEntry(this.#table.at(this.#integer(byte, 0x7f)));
      else this.#takeLiteral(byte);
    }
    this.#list = NO_FIELDS;
    this.#block = NO_BYTES;
    return list;
  }

  #takeLiteral(byte: number): void {
    const added = byte >= 0x40;
    if (!added && byte >= 0x20) throw new CompressionError("a table size update behind a field");
    const index = this.#integer(byte, added ? 0x3f : 0x0f);
    let name: string;
    let nameKind: number;
    if (index === 0) {
      const literal = this.#string();
      name = literal.text;
      nameKind = literal.nameKind === UNKNOWN ? (literal.nameKind = kindOfName(name)) : literal.nameKind;
    } else {
      const entry = this.#table.at(index);
      name = entry.name;
      nameKind = entry.nameKind;
    }
    const value = this.#string();
    const kind = kindOfField(nameKind, value.text, value.clean);
    const size = name.length + value.text.length + FIELD_OVERHEAD;
    if (added) this.#table.add({ name, value: value.trimmed, nameKind, kind, size });
    this.#take(name, value.trimmed, kind, size);
  }

  #takeEntry(entry: Field): void {
    this.#take(entry.name, entry.value, entry.kind, entry.size);
  }

  #take(name: string, value: string, kind: number, size: number): void {
    this.#listSize += size;
    if (kind === ORDINARY) {
      // Once a field was too large for the list, later smaller ones are dropped, too.
      if (this.#listSize <= this.#maxListSize) this.#list.push(name, value);
      else this.tooLarge = true;
    } else if (this.malformed !== "") {
      // The first reason suffices.
    } else if (kind === FORBIDDEN) {
      this.malformed = whyForbidden(name, value);
    } else if (this.status !== 0 || this.#list.length > 0) {
      this.malformed = this.status === 0 ? "a :status behind other fields" : "two :status";
    } else {
      this.status = Number(value);
    }
  }

  #string(): StringLiteral {
    if (this.#at >= this.#end) throw new CompressionError("a header block that is cut");
    const byte = this.#block[this.#at++];
    const length = this.#integer(byte, 0x7f);
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#end) throw new CompressionError("a header block that is cut");
    return readStringLiteral(this.#block, start, this.#at, byte >= 0x80);
  }

  /** Reads the rest of an integer whose first byte was read; `mask` covers its bits there (RFC 7541 5.1). */
  #integer(byte: number, mask: number): number {
    let value = byte & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= this.#end) throw new CompressionError("a header block that is cut");
      const next = this.#block[this.#at++];
      value += (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw new CompressionError("an integer of more than 28 bits in a header block");
  }
}
