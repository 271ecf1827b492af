import type { HeaderList, RequestHead } from "../../connection.ts";
import { encodeHuffman, huffmanLength } from "./huffman.ts";
import { DEFAULT_TABLE_SIZE, EncoderTable, type KnownName, SECRET } from "./indexing_tables.ts";

/**
 * A request's head as it was sent, to send it again: most requests on a connection differ in `:path` and Content-Length only.
 * Comparing with it costs a third of looking up each field.
 */
class RepeatedHead {
  /** The bytes sent before and after `:path`, from 0 on. Kept: a new array a head costs Deno 0.5 µs. */
  bytes: Uint8Array = new Uint8Array(256);
  /** How much of it is before. */
  before = 0;
  length = 0;
  #added = -1;
  #method = "";
  #authority = "";
  #scheme = "";
  #headers: HeaderList = [];

  /** Forgets it: indexes have changed. */
  forget(): void {
    this.#added = -1;
  }

  /** Whether a head can be sent as the one that is remembered, but for `:path`; indexes change with each entry that is added. */
  is(head: RequestHead, added: number): boolean {
    if (added !== this.#added || head.method !== this.#method) return false;
    if (head.authority !== this.#authority || head.scheme !== this.#scheme) return false;
    const headers = head.headers;
    const known = this.#headers;
    if (headers.length !== known.length) return false;
    for (let i = 0; i < known.length; i++) if (headers[i] !== known[i]) return false;
    return true;
  }

  /** Remembers a head that has added nothing to the dynamic table: its block, behind changes of the table's size. */
  remember(
    head: RequestHead,
    added: number,
    block: Uint8Array,
    start: number,
    pathStart: number,
    pathEnd: number,
    end: number,
  ): void {
    this.#added = added;
    this.#method = head.method;
    this.#authority = head.authority;
    this.#scheme = head.scheme;
    this.#headers = head.headers.slice();
    if (this.bytes.length < end) this.bytes = new Uint8Array(block.length);
    this.before = pathStart - start;
    copyBytes(block, start, pathStart, this.bytes, 0);
    this.length = copyBytes(block, pathEnd, end, this.bytes, this.before);
  }
}

// The first bits of a field's representation (RFC 7541 6), and how many bits of the byte are left for the index.
const INDEXED = 0x80;
const ADDED = 0x40;
const SIZE_UPDATE = 0x20;
const NEVER_INDEXED = 0x10;
const NOT_INDEXED = 0x00;

/** The index of content-length in the static table. */
const CONTENT_LENGTH = 28;

/** Cookies as short as that could be guessed by what compresses (RFC 7541 7.1): they are not indexed. */
const SHORT_COOKIE = 20;

/**
 * Encodes the header blocks of a connection's requests: in order, and each is sent.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541}
 */
export class HpackEncoder {
  /**
   * The buffer of the last block, from 0 on; read it after the call that made the block, which may put a larger array here. Valid
   * until the next one.
   */
  block: Uint8Array = new Uint8Array(1024);

  readonly #table = new EncoderTable();
  // Heads that may come again, the last one first: a client's requests are often of two kinds, GET and POST.
  #repeated = new RepeatedHead();
  #older = new RepeatedHead();
  #length = 0;
  // Whether the fields behind :path would be sent in the same way the next time: none would be added then.
  #settled = false;
  // What the server allowed since the last block: the least, and in the end. -1: nothing new.
  #leastLimit = -1;
  readonly #method: KnownName = this.#table.name(":method");
  readonly #authority: KnownName = this.#table.name(":authority");
  readonly #scheme: KnownName = this.#table.name(":scheme");
  readonly #path: KnownName = this.#table.name(":path");

  /**
   * Takes over the server's SETTINGS_HEADER_TABLE_SIZE. We use 4 KiB of it at most: a request's fields fit, and the server
   * keeps the table too.
   */
  setMaxTableSize(bytes: number): void {
    const limit = Math.min(bytes, DEFAULT_TABLE_SIZE);
    if (limit === this.#table.limit) return;
    this.#leastLimit = this.#leastLimit < 0 ? limit : Math.min(limit, this.#leastLimit);
    this.#table.resize(limit);
    this.#repeated.forget();
    this.#older.forget();
  }

  /** Encodes the head of a request, with Content-Length if it is given. @returns How many bytes {@link block} has now. */
  encodeRequest(head: RequestHead, contentLength: number | undefined): number {
    if (this.#isRepeated(head)) {
      const pathIndex = this.#table.indexOf(this.#path, head.path);
      if (pathIndex !== 0 || head.path !== this.#path.passedOver) {
        this.#repeat(head.path, pathIndex);
        return this.#end(contentLength);
      }
    }
    const added = this.#table.added;
    const start = this.#start();
    this.#field(this.#method, head.method);
    this.#field(this.#authority, head.authority);
    this.#field(this.#scheme, head.scheme);
    const pathStart = this.#length;
    this.#field(this.#path, head.path);
    const pathEnd = this.#length;
    this.#settled = true;
    const { headers } = head;
    for (let i = 0; i < headers.length; i += 2) this.#field(this.#table.name(headers[i]), headers[i + 1]);
    if (this.#settled && added === this.#table.added) {
      this.#swapRepeated();
      this.#repeated.remember(head, added, this.block, start, pathStart, pathEnd, this.#length);
    }
    return this.#end(contentLength);
  }

  /** Encodes any fields, pseudo-headers too; nothing is checked. @returns How many bytes {@link block} has now. */
  encodeFields(fields: HeaderList): number {
    this.#start();
    for (let i = 0; i < fields.length; i += 2) this.#field(this.#table.name(fields[i]), fields[i + 1]);
    return this.#length;
  }

  /** Whether one of the last two heads can be sent again, which is `#repeated` then. */
  #isRepeated(head: RequestHead): boolean {
    const { added } = this.#table;
    if (this.#repeated.is(head, added)) return true;
    if (!this.#older.is(head, added)) return false;
    this.#swapRepeated();
    return true;
  }

  #swapRepeated(): void {
    const older = this.#repeated;
    this.#repeated = this.#older;
    this.#older = older;
  }

  /** Sends `#repeated` again, with another `:path`: an index, or 0 if it is to be spelled out. */
  #repeat(path: string, index: number): void {
    const { bytes, before, length } = this.#repeated;
    this.#length = 0;
    this.#reserve(length + path.length);
    this.#length = copyBytes(bytes, 0, before, this.block, 0);
    if (index !== 0) {
      this.#integer(INDEXED, 0x7f, index);
    } else {
      this.#path.passedOver = path;
      this.#integer(NOT_INDEXED, 0x0f, this.#path.staticIndex);
      this.#string(path);
    }
    this.#length = copyBytes(bytes, before, length, this.block, this.#length);
  }

  /** Ends a request's block with its Content-Length: plainly, as the next one is another and an entry would push out a better one. */
  #end(contentLength: number | undefined): number {
    if (contentLength === undefined) return this.#length;
    this.#reserve(20);
    this.#integer(NOT_INDEXED, 0x0f, CONTENT_LENGTH);
    this.#string(String(contentLength));
    return this.#length;
  }

  /** Starts a block, with the changes of the table's size that are due; says how long they are. */
  #start(): number {
    this.#length = 0;
    if (this.#leastLimit >= 0) {
      // The least one too, so that the server evicts what we evicted (RFC 7541 4.2).
      this.#integer(SIZE_UPDATE, 0x1f, this.#leastLimit);
      if (this.#leastLimit < this.#table.limit) this.#integer(SIZE_UPDATE, 0x1f, this.#table.limit);
      this.#leastLimit = -1;
    }
    return this.#length;
  }

  #field(name: KnownName, value: string): void {
    const table = this.#table;
    this.#reserve(name.name.length + value.length);
    const secret = name.manner === SECRET || (value.length < SHORT_COOKIE && name.name === "cookie");
    const index = secret ? 0 : table.indexOf(name, value);
    if (index !== 0) return this.#integer(INDEXED, 0x7f, index);
    const nameIndex = table.indexOfName(name);
    if (secret) {
      this.#integer(NEVER_INDEXED, 0x0f, nameIndex);
    } else if (table.isWorthwhile(name, value)) {
      this.#integer(ADDED, 0x3f, nameIndex);
      table.add(name, value);
    } else {
      this.#integer(NOT_INDEXED, 0x0f, nameIndex);
      if (name.passedOver === value) this.#settled = false;
    }
    if (nameIndex === 0) this.#string(name.name);
    this.#string(value);
  }

  #string(text: string): void {
    const length = huffmanLength(text);
    if (length < text.length) {
      this.#integer(0x80, 0x7f, length);
      this.#length = encodeHuffman(text, this.block, this.#length);
      return;
    }
    this.#integer(0, 0x7f, text.length);
    for (let i = 0; i < text.length; i++) this.block[this.#length++] = text.charCodeAt(i);
  }

  /** An integer with a prefix of so many bits, and what is before them (RFC 7541 5.1). */
  #integer(first: number, mask: number, value: number): void {
    if (value < mask) {
      this.block[this.#length++] = first | value;
      return;
    }
    this.block[this.#length++] = first | mask;
    let rest = value - mask;
    for (; rest >= 0x80; rest >>>= 7) this.block[this.#length++] = (rest & 0x7f) | 0x80;
    this.block[this.#length++] = rest;
  }

  /** Makes room for so many bytes of strings, and the integers that go with them. */
  #reserve(bytes: number): void {
    const needed = this.#length + bytes + 32;
    if (needed <= this.block.length) return;
    const larger = new Uint8Array(Math.max(needed, this.block.length * 2));
    larger.set(this.block.subarray(0, this.#length));
    this.block = larger;
  }
}

/** Copies bytes from `start` to `end`. @returns The offset behind the copy in the target. */
function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  // Up to some 60 bytes, a loop is faster than set() and the view that it needs.
  if (end - start > 64) to.set(from.subarray(start, end), at);
  else for (let i = start, j = at; i < end;) to[j++] = from[i++];
  return at + end - start;
}
