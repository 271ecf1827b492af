import { CompressionError } from "./huffman.ts";

export const UNKNOWN: number = -1;
/** A name with any value without CR, LF and NUL. */
export const ORDINARY = 0;
const STATUS = 1;
/** `te`, whose only value is "trailers". */
export const TE = 2;
export const FORBIDDEN = 3;

const SPECIAL = new Map([
  [":status", STATUS],
  ["te", TE],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].map((name) => [name, FORBIDDEN]),
] as [string, number][]);

/** A valid name: RFC 9110's tchar without upper-case letters. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Returns the kind of a field by its name: the checks it needs. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.2} */
export function kindOfName(name: string): number {
  return SPECIAL.get(name) ?? (TOKEN.test(name) ? ORDINARY : FORBIDDEN);
}

/** Returns the kind of a field by its name's kind and its value: {@link FORBIDDEN} if no response may have it. `clean`: no CR, LF and NUL. */
export function kindOfField(kind: number, value: string, clean: boolean): number {
  if (kind === ORDINARY) return clean ? ORDINARY : FORBIDDEN;
  // 101 does not exist in HTTP/2 (RFC 9113 8.6).
  if (kind === STATUS) return /^[1-9][0-9][0-9]$/.test(value) && value !== "101" ? STATUS : FORBIDDEN;
  return kind === TE && value === "trailers" ? ORDINARY : FORBIDDEN;
}

/** Returns the fault of a {@link FORBIDDEN} field, as the end of a sentence about the response. */
export function whyForbidden(name: string, value: string): string {
  const quoted = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  if (name === ":status") return `the status ${JSON.stringify(value.slice(0, 20))}, which HTTP/2 does not have`;
  if (name.startsWith(":")) return `the pseudo-header ${quoted}, which no response has`;
  if (SPECIAL.has(name)) return `the header ${quoted}, which belongs to HTTP/1.1 connections`;
  if (!TOKEN.test(name)) return `a header with the name ${quoted}, which is not a token in lower case`;
  return `CR, LF or NUL in the value of the header ${quoted}`;
}

/** The name and value of each static field, from index 1 on. @see {@link https://www.rfc-editor.org/rfc/rfc7541#appendix-A} */
export const STATIC_FIELDS: readonly string[] = [
  ...[":authority", "", ":method", "GET", ":method", "POST", ":path", "/", ":path", "/index.html"],
  ...[":scheme", "http", ":scheme", "https", ":status", "200", ":status", "204", ":status", "206", ":status", "304"],
  ...[":status", "400", ":status", "404", ":status", "500", "accept-charset", "", "accept-encoding", "gzip, deflate"],
  ...["accept-language", "", "accept-ranges", "", "accept", "", "access-control-allow-origin", "", "age", ""],
  ...["allow", "", "authorization", "", "cache-control", "", "content-disposition", "", "content-encoding", ""],
  ...["content-language", "", "content-length", "", "content-location", "", "content-range", "", "content-type", ""],
  ...["cookie", "", "date", "", "etag", "", "expect", "", "expires", "", "from", "", "host", "", "if-match", ""],
  ...["if-modified-since", "", "if-none-match", "", "if-range", "", "if-unmodified-since", "", "last-modified", ""],
  ...["link", "", "location", "", "max-forwards", "", "proxy-authenticate", "", "proxy-authorization", "", "range", ""],
  ...["referer", "", "refresh", "", "retry-after", "", "server", "", "set-cookie", "", "strict-transport-security", ""],
  ...["transfer-encoding", "", "user-agent", "", "vary", "", "via", "", "www-authenticate", ""],
];

/** The number of static fields; dynamic fields have higher indexes. */
export const STATIC_COUNT = 61;

/** The bytes that an entry of a dynamic table, or a field of a list, counts in addition to name and value (RFC 7541 4.1). */
export const FIELD_OVERHEAD = 32;

/** The bytes of a dynamic table before SETTINGS (RFC 9113 6.5.2). */
export const DEFAULT_TABLE_SIZE = 4096;

/** An entry of a table, checked when it was added. */
export interface Field {
  readonly name: string;
  /** The value without outer white space. */
  readonly value: string;
  /** {@link kindOfName}, for fields that refer to this entry's name. */
  readonly nameKind: number;
  /** {@link kindOfField}. */
  readonly kind: number;
  readonly size: number;
}

const STATIC: Field[] = [];
for (let i = 0; i < STATIC_FIELDS.length; i += 2) {
  const name = STATIC_FIELDS[i];
  const value = STATIC_FIELDS[i + 1];
  const nameKind = kindOfName(name);
  const size = name.length + value.length + FIELD_OVERHEAD;
  STATIC.push({ name, value, nameKind, kind: kindOfField(nameKind, value, true), size });
}

/** The static and the dynamic table for a connection's responses. @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-2.3} */
export class DecoderTable {
  readonly #maxSize: number;
  #limit: number;
  #size = 0;
  #count = 0;
  #added = 0;
  // Entry number i of all that were ever added is at i & mask, so that adding and evicting move no entry.
  readonly #ring: Field[];
  readonly #mask: number;

  /** @param maxSize The maximum bytes that the client's SETTINGS allow. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
    this.#limit = Math.min(maxSize, DEFAULT_TABLE_SIZE);
    const places = 2 ** Math.ceil(Math.log2(maxSize / FIELD_OVERHEAD + 1));
    this.#ring = new Array<Field>(places).fill(STATIC[0]);
    this.#mask = places - 1;
  }

  /** Returns the entry with an index: 1 to 61 are static, from 62 on dynamic, newest first. @throws {CompressionError} if there is none. */
  at(index: number): Field {
    const back = index - STATIC_COUNT;
    if (back <= 0 && index > 0) return STATIC[index - 1];
    if (index === 0 || back > this.#count) throw new CompressionError(`no field has the index ${index}`);
    return this.#ring[(this.#added - back) & this.#mask];
  }

  /** Adds an entry, and evicts others to make room; one that is larger than the table empties it. */
  add(field: Field): void {
    this.#evict(this.#limit - field.size);
    if (field.size > this.#limit) return;
    this.#ring[this.#added & this.#mask] = field;
    this.#added = (this.#added + 1) & 0x3fffffff; // stays a small integer
    this.#count++;
    this.#size += field.size;
  }

  /** Changes the table's size in bytes on the server's demand. @throws {CompressionError} if it exceeds the client's SETTINGS. */
  resize(limit: number): void {
    if (limit > this.#maxSize) {
      throw new CompressionError(`a dynamic table of ${limit} bytes, where ${this.#maxSize} are allowed`);
    }
    this.#limit = limit;
    this.#evict(limit);
  }

  #evict(room: number): void {
    while (this.#size > room && this.#count > 0) {
      const oldest = (this.#added - this.#count) & this.#mask;
      this.#size -= this.#ring[oldest].size;
      this.#ring[oldest] = STATIC[0]; // releases the strings
      this.#count--;
    }
  }
}

/** The maximum number of remembered names, for users who invent names. */
const MAX_NAMES = 512;

export class KnownName {
  readonly name: string;
  /** The name's index in the static table; 0 if it is not there. */
  readonly staticIndex: number;
  /** Indexes of the static table by value, and the numbers of dynamic entries, which are negative and count from the first ever added. */
  readonly values: Map<string, number> = new Map();
  /** The number of the last added dynamic entry; 0 if that was evicted. */
  newest = 0;
  passedOver: string | undefined = undefined;

  constructor(name: string, staticIndex: number) {
    this.name = name;
    this.staticIndex = staticIndex;
  }
}

interface Entry {
  readonly known: KnownName;
  readonly value: string;
  readonly size: number;
}

/**
 * The static table and the dynamic one of a connection's requests, by name and value. A field is added when it is sent twice in a row: most new values occur only once.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-2.3}
 */
export class EncoderTable {
  limit: number = DEFAULT_TABLE_SIZE;
  /** The number of entries ever added. */
  added = 0;
  #size = 0;
  readonly #entries: Entry[] = []; // oldest first
  readonly #names = new Map<string, KnownName>();

  constructor() {
    for (let i = 0; i < STATIC_FIELDS.length; i += 2) {
      const known = this.#names.get(STATIC_FIELDS[i]) ?? this.#newName(STATIC_FIELDS[i], i / 2 + 1);
      if (STATIC_FIELDS[i + 1] !== "") known.values.set(STATIC_FIELDS[i + 1], i / 2 + 1);
    }
  }

  /** Returns the record of a lower-case name: always the same object while there are entries with the name. */
  name(name: string): KnownName {
    return this.#names.get(name) ?? this.#newName(name, 0);
  }

  /** Returns the index of a field; 0 if no table has it. */
  indexOf(known: KnownName, value: string): number {
    return this.#indexOf(known.values.get(value) ?? 0);
  }

  /** Returns the index of a field with this name; 0 if no table has one. */
  indexOfName(known: KnownName): number {
    return known.staticIndex === 0 ? this.#indexOf(known.newest) : known.staticIndex;
  }

  /** Adds a field that no table has, if that is worthwhile; remembers that it was sent. @returns Whether it was added. */
  add(known: KnownName, value: string): boolean {
    const size = known.name.length + value.length + FIELD_OVERHEAD;
    if (size * 2 > this.limit) return false; // the entry would evict all others
    if (known.passedOver !== value) {
      known.passedOver = value;
      return false;
    }
    this.#evict(this.limit - size);
    this.#entries.push({ known, value, size });
    this.#size += size;
    known.newest = -(++this.added);
    known.passedOver = undefined;
    known.values.set(value, known.newest);
    return true;
  }

  resize(limit: number): void {
    this.limit = limit;
    this.#evict(limit);
  }

  #indexOf(number: number): number {
    return number >= 0 ? number : STATIC_COUNT + 1 + this.added + number;
  }

  #evict(room: number): void {
    while (this.#size > room) {
      const number = this.#entries.length - 1 - this.added;
      const { known, value, size } = this.#entries.shift()!; // at most 128 entries fit
      this.#size -= size;
      known.values.delete(value);
      if (known.newest === number) known.newest = 0;
    }
  }

  #newName(name: string, staticIndex: number): KnownName {
    if (this.#names.size >= MAX_NAMES) {
      for (const known of this.#names.values()) {
        if (known.staticIndex === 0 && known.newest === 0) this.#names.delete(known.name);
      }
    }
    const known = new KnownName(name, staticIndex);
    this.#names.set(name, known);
    return known;
  }
}
