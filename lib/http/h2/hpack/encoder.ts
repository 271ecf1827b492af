import type { HeaderList, RequestHead } from "../../connection.ts";
import { encodeHuffman, huffmanLength } from "./huffman.ts";
import { DEFAULT_TABLE_SIZE, EncoderTable, type KnownName } from "./indexing_tables.ts";

// The first bits of a field's representation (RFC 7541 6), and the number of bits left in that byte for the index.
const INDEXED = 0x80;
const ADDED = 0x40;
const SIZE_UPDATE = 0x20;
const NEVER_INDEXED = 0x10;
const NOT_INDEXED = 0x00;

/** The index of content-length in the static table. */
const CONTENT_LENGTH = 28;

/** Names whose values are never indexed, not even by intermediaries; the same holds for cookies short enough to be guessed (RFC 7541 7.1). */
const SECRETS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization"]);
const SHORT_COOKIE = 20;

/** Encodes the header blocks of a connection's requests; each must be sent, in order. @see {@link https://www.rfc-editor.org/rfc/rfc7541} */
export class HpackEncoder {
  /** The buffer of the last block, from 0 on: valid until the next call, which may replace it. */
  block: Uint8Array = new Uint8Array(1024);

  readonly #table = new EncoderTable();
  #length = 0;
  /** The last head, its encoding before and after `:path`, and the number of the table's entries then: -1 if the encoding is no longer the same. */
  #known: Omit<RequestHead, "path"> | undefined = undefined;
  #before: Uint8Array = this.block;
  #behind: Uint8Array = this.block;
  #knownAt = -1;
  // The smallest and the last table limit that the server set since the last block; -1: none.
  #leastLimit = -1;
  readonly #path: KnownName = this.#table.name(":path");

  /** Applies the server's SETTINGS_HEADER_TABLE_SIZE, up to 4 KiB, which suffices for a request's fields. */
  setMaxTableSize(bytes: number): void {
    const limit = Math.min(bytes, DEFAULT_TABLE_SIZE);
    if (limit === this.#table.limit) return;
    this.#leastLimit = this.#leastLimit < 0 ? limit : Math.min(limit, this.#leastLimit);
    this.#table.resize(limit);
    this.#knownAt = -1;
  }

  /** Encodes the head of a request, with Content-Length if given. @returns The number of bytes in {@link block}. */
  encodeRequest(head: RequestHead, contentLength: number | undefined): number {
    this.#start();
    const { added } = this.#table;
    const start = this.#length;
    const isKnown = added === this.#knownAt && isSame(head, this.#known!);
    let isStable = isKnown;
    if (isKnown) this.#copy(this.#before);
    else isStable = this.#fields([":method", head.method, ":authority", head.authority, ":scheme", head.scheme]);
    const pathStart = this.#length;
    this.#field(this.#path, head.path);
    const pathEnd = this.#length;
    if (isKnown && this.#table.added === added) this.#copy(this.#behind);
    else if (this.#fields(head.headers) && isStable && this.#table.added === added) {
      const { method, authority, scheme, headers } = head;
      this.#known = { method, authority, scheme, headers: Object.isFrozen(headers) ? headers : headers.slice() };
      this.#before = this.block.slice(start, pathStart);
      this.#behind = this.block.slice(pathEnd, this.#length);
      this.#knownAt = added;
    }
    if (contentLength !== undefined) { // as a literal: the next length differs, and an entry would evict a better one
      this.#reserve(20);
      this.#integer(NOT_INDEXED, 0x0f, CONTENT_LENGTH);
      this.#string(String(contentLength));
    }
    return this.#length;
  }

  /** Encodes any fields, pseudo-headers too, without checks. @returns The number of bytes in {@link block}. */
  encodeFields(fields: HeaderList): number {
    this.#start();
    this.#fields(fields);
    return this.#length;
  }

  /** Copies a part of the last head: a request takes 0.2 µs less than by encoding each field. */
  #copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    const { block } = this;
    let at = this.#length;
    for (let i = 0; i < bytes.length; i++) block[at++] = bytes[i];
    this.#length = at;
  }

  #fields(fields: HeaderList): boolean {
    let isStable = true;
    for (let i = 0; i < fields.length; i += 2) {
      isStable = this.#field(this.#table.name(fields[i]), fields[i + 1]) && isStable;
    }
    return isStable;
  }

  #start(): void {
    this.#length = 0;
    if (this.#leastLimit >= 0) {
      // The smallest limit is sent, too, so that the server evicts the same entries (RFC 7541 4.2).
      this.#integer(SIZE_UPDATE, 0x1f, this.#leastLimit);
      if (this.#leastLimit < this.#table.limit) this.#integer(SIZE_UPDATE, 0x1f, this.#table.limit);
      this.#leastLimit = -1;
    }
  }

  /** @returns Whether the encoding stays the same while the table does. */
  #field(name: KnownName, value: string): boolean {
    const table = this.#table;
    this.#reserve(name.name.length + value.length);
    const isSecret = SECRETS.has(name.name) || (value.length < SHORT_COOKIE && name.name === "cookie");
    const index = isSecret ? 0 : table.indexOf(name, value);
    if (index !== 0) {
      this.#integer(INDEXED, 0x7f, index);
      return true;
    }
    const nameIndex = table.indexOfName(name);
    if (isSecret) this.#integer(NEVER_INDEXED, 0x0f, nameIndex);
    else if (table.add(name, value)) this.#integer(ADDED, 0x3f, nameIndex);
    else this.#integer(NOT_INDEXED, 0x0f, nameIndex);
    if (nameIndex === 0) this.#string(name.name);
    this.#string(value);
    return isSecret;
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

  /** Adds an integer whose prefix is `mask`, with the bits of `first` before it (RFC 7541 5.1). */
  #integer(first: number, mask: number, value: number): void {
    if (value < mask) return void (this.block[this.#length++] = first | value);
    this.block[this.#length++] = first | mask;
    let rest = value - mask;
    for (; rest >= 0x80; rest >>>= 7) this.block[this.#length++] = (rest & 0x7f) | 0x80;
    this.block[this.#length++] = rest;
  }

  /** Makes room for `bytes` bytes of strings, and for their integers. */
  #reserve(bytes: number): void {
    const needed = this.#length + bytes + 32;
    if (needed <= this.block.length) return;
    const larger = new Uint8Array(Math.max(needed, this.block.length * 2));
    larger.set(this.block.subarray(0, this.#length));
    this.block = larger;
  }
}

function isSame(head: RequestHead, { method, authority, scheme, headers }: Omit<RequestHead, "path">): boolean {
  return head.method === method && head.authority === authority && head.scheme === scheme &&
    (head.headers === headers ||
      head.headers.length === headers.length && headers.every((text, at) => text === head.headers[at]));
}
