import { CompressionError } from "./huffman.ts";

/** Nobody looked at the name yet. */
export const UNKNOWN: number = -1;
/** A name that any value without CR, LF and NUL may follow. */
export const ORDINARY = 0;
/** `:status`. */
const STATUS = 1;
/** `te`: only "trailers" may follow. */
export const TE = 2;
/** A name that no response may have. */
export const FORBIDDEN = 3;

const SPECIAL = new Map([
  [":status", STATUS],
  ["te", TE],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].map((name) => [name, FORBIDDEN]),
] as [string, number][]);

/** The characters of a valid name: RFC 9110's tchar without capitals. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The kind of a field with this name, by the checks it needs. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.2} */
export function kindOfName(name: string): number {
  return SPECIAL.get(name) ?? (TOKEN.test(name) ? ORDINARY : FORBIDDEN);
}

/** The same when the value is known too: {@link FORBIDDEN} if a response must not have it, `clean` if it has no CR, LF and NUL. */
export function kindOfField(kind: number, value: string, clean: boolean): number {
  if (kind === ORDINARY) return clean ? ORDINARY : FORBIDDEN;
  // 101 does not exist in HTTP/2 (RFC 9113 8.6).
  if (kind === STATUS) return /^[1-9][0-9][0-9]$/.test(value) && value !== "101" ? STATUS : FORBIDDEN;
  return kind === TE && value === "trailers" ? ORDINARY : FORBIDDEN;
}

/** The fault of a {@link FORBIDDEN} field, as the end of a sentence about the response. */
export function whyForbidden(name: string, value: string): string {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  if (name === ":status") return `the status ${JSON.stringify(value.slice(0, 20))}, which HTTP/2 does not have`;
  if (name.startsWith(":")) return `the pseudo-header ${shown}, which no response has`;
  if (SPECIAL.has(name)) return `the header ${shown}, which belongs to HTTP/1.1 connections`;
  if (!TOKEN.test(name)) return `a header with the name ${shown}, which is not a token in lower case`;
  return `CR, LF or NUL in the value of the header ${shown}`;
}

/**
 * The fields that both sides know from the start: name, value, name, value; the first has index 1.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#appendix-A}
 */
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

/** Dynamic fields have the indexes above. */
export const STATIC_COUNT = 61;

/** Bytes that an entry of a dynamic table, or a field of a header list, counts besides its name and value (RFC 7541 4.1). */
export const FIELD_OVERHEAD = 32;

/** Bytes of a dynamic table until SETTINGS say something else (RFC 9113 6.5.2). */
export const DEFAULT_TABLE_SIZE = 4096;

/** An entry of the table. What is to be checked of it was checked when it came. */
export interface Field {
  readonly name: string;
  /** Without white space at its ends. */
  readonly value: string;
  /** {@link kindOfName}, for fields that take their name from here. */
  readonly nameKind: number;
  /** {@link kindOfField}. */
  readonly kind: number;
  /** Bytes, with the overhead. */
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

/**
 * The static table and the dynamic one of a connection's responses, with one address space.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-2.3}
 */
export class DecoderTable {
  readonly #maxSize: number;
  #limit: number;
  #size = 0;
  #count = 0;
  #added = 0;
  // Entry number i (of all that were ever added) is at i & mask: to add and to evict moves nothing.
  readonly #ring: Field[];
  readonly #mask: number;

  /** @param maxSize Bytes that the server may make it at most, by our SETTINGS. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
    this.#limit = Math.min(maxSize, DEFAULT_TABLE_SIZE);
    const places = 2 ** Math.ceil(Math.log2(maxSize / FIELD_OVERHEAD + 1));
    this.#ring = new Array<Field>(places).fill(STATIC[0]);
    this.#mask = places - 1;
  }

  /** The entry with an index: 1 to 61 are static; from 62 on dynamic, the newest first. @throws {CompressionError} if there is none. */
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

  /** Changes the table's size in bytes, as the server says. @throws {CompressionError} if it is more than our SETTINGS allow. */
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
      this.#ring[oldest] = STATIC[0]; // lets go of the strings
      this.#count--;
    }
  }
}

/** Fields with the name go into the dynamic table when they are sent, until that proves useless. */
const EAGER = 0;
/** They do when one is sent twice in a row: their values are mostly new ones. */
const RELUCTANT = 1;
/** They never do, and whoever passes them on must not do it either (RFC 7541 7.1.3). */
export const SECRET = 2;

/** How often in a row entries of one name may be of no use before it is {@link RELUCTANT} too. */
const PATIENCE = 3;
/** How many names are remembered, for users who make names up. */
const MOST_NAMES = 512;

const MANNERS = new Map(
  [":path", "range", "referer", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    .map((name): [string, number] => [name, RELUCTANT]),
);
for (const name of ["authorization", "proxy-authorization"]) MANNERS.set(name, SECRET);

/** A field name, as the encoder knows it. */
export class KnownName {
  /** In lower case. */
  readonly name: string;
  /** The name's index in the static table; 0 if it is not there. */
  readonly staticIndex: number;
  /** {@link EAGER}, {@link RELUCTANT} or {@link SECRET}. */
  readonly manner: number;
  /** All entries with the name; undefined before the first, as most names of the static table never get one. */
  values: Map<string, TableEntry> | undefined = undefined;
  /** The dynamic one among them that was added last, unless it was evicted. */
  newest: TableEntry | undefined = undefined;
  /** How many entries in a row were added for nothing. */
  wasted = 0;
  /** The last value that was not added. */
  passedOver: string | undefined = undefined;

  constructor(name: string, staticIndex: number) {
    this.name = name;
    this.staticIndex = staticIndex;
    this.manner = MANNERS.get(name) ?? EAGER;
  }
}

/** A field that one of the tables has. */
class TableEntry {
  readonly name: KnownName;
  readonly value: string;
  /** The static index; 0 for a dynamic entry. */
  readonly staticIndex: number;
  /** Of the dynamic entry, counted from the first ever added. */
  readonly number: number;
  /** Whether it was sent again after it was added. */
  used = false;

  constructor(name: KnownName, value: string, staticIndex: number, number: number) {
    this.name = name;
    this.value = value;
    this.staticIndex = staticIndex;
    this.number = number;
  }
}

/**
 * The static table and the dynamic one of a connection's requests, by name and value.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-2.3}
 */
export class EncoderTable {
  /** Entries that were ever added: as long as it stays, so do all indexes (unless the table was resized). */
  added = 0;
  /** Bytes that the dynamic table may have. */
  limit: number = DEFAULT_TABLE_SIZE;
  #size = 0;
  readonly #entries: TableEntry[] = []; // oldest first; those before #first are gone
  #first = 0;
  #names = new Map<string, KnownName>();

  constructor() {
    for (let i = 0; i < STATIC_FIELDS.length; i += 2) {
      const index = i / 2 + 1;
      let known = this.#names.get(STATIC_FIELDS[i]);
      if (known === undefined) this.#names.set(STATIC_FIELDS[i], known = new KnownName(STATIC_FIELDS[i], index));
      const value = STATIC_FIELDS[i + 1];
      if (value !== "") (known.values ??= new Map()).set(value, new TableEntry(known, value, index, 0));
    }
  }

  /** The record of a lower-case name: the same object as long as there are entries of it. */
  name(name: string): KnownName {
    const known = this.#names.get(name);
    return known ?? this.#newName(name);
  }

  /** 0 if no table has the field. */
  indexOf(known: KnownName, value: string): number {
    let entry = known.newest;
    if (entry === undefined || entry.value !== value) {
      entry = known.values?.get(value);
      if (entry === undefined) return 0;
    }
    if (entry.staticIndex !== 0) return entry.staticIndex;
    if (!entry.used) {
      entry.used = true;
      known.wasted = 0;
    }
    return STATIC_COUNT + this.added - entry.number;
  }

  /** The index of some field with a name; 0 if no table has it. */
  indexOfName(known: KnownName): number {
    if (known.staticIndex !== 0) return known.staticIndex;
    return known.newest === undefined ? 0 : STATIC_COUNT + this.added - known.newest.number;
  }

  /** Whether a field that no table has should be added; its name is no secret one. Remembers that it was asked. */
  isWorthwhile(known: KnownName, value: string): boolean {
    // A large one would push out all the others.
    if ((known.name.length + value.length + FIELD_OVERHEAD) * 2 > this.limit) return false;
    if (known.manner === EAGER && known.wasted < PATIENCE) return true;
    if (known.passedOver === value) return true;
    known.passedOver = value;
    return false;
  }

  /** Adds a field, and evicts others to make room. */
  add(known: KnownName, value: string): void {
    const size = known.name.length + value.length + FIELD_OVERHEAD;
    this.#evict(this.limit - size);
    if (size > this.limit) return;
    if (known.newest !== undefined && !known.newest.used) known.wasted++;
    const entry = new TableEntry(known, value, 0, this.added++);
    this.#entries.push(entry);
    this.#size += size;
    known.newest = entry;
    known.passedOver = undefined;
    (known.values ??= new Map()).set(value, entry);
  }

  resize(limit: number): void {
    this.limit = limit;
    this.#evict(limit);
  }

  #evict(room: number): void {
    while (this.#size > room && this.#first < this.#entries.length) {
      const entry = this.#entries[this.#first++];
      const known = entry.name;
      this.#size -= known.name.length + entry.value.length + FIELD_OVERHEAD;
      known.values?.delete(entry.value);
      if (known.newest === entry) {
        known.newest = undefined;
        if (!entry.used) known.wasted++;
      }
    }
    // At most 128 entries fit: a large start means that there is little to move.
    if (this.#first > 256) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
  }

  #newName(name: string): KnownName {
    if (this.#names.size >= MOST_NAMES) {
      for (const known of this.#names.values()) {
        if (known.staticIndex === 0 && known.newest === undefined) this.#names.delete(known.name);
      }
    }
    const known = new KnownName(name, 0);
    this.#names.set(name, known);
    return known;
  }
}
