import { CompressionError } from "./compression_error.ts";
import { kindOfField, kindOfName } from "./field_kinds.ts";
import { DEFAULT_TABLE_SIZE, FIELD_OVERHEAD, STATIC_COUNT, STATIC_FIELDS } from "./static_table.ts";

/** An entry of the table. What is to be checked of it was checked when it came. */
export interface Field {
  /** Of the field. */
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

  /**
   * Starts empty.
   *
   * @param maxSize Bytes that the server may make it at most, by our SETTINGS.
   */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
    this.#limit = Math.min(maxSize, DEFAULT_TABLE_SIZE);
    const places = 2 ** Math.ceil(Math.log2(maxSize / FIELD_OVERHEAD + 1));
    this.#ring = new Array<Field>(places).fill(STATIC[0]);
    this.#mask = places - 1;
  }

  /**
   * The entry with an index.
   *
   * @param index 1 to 61: static; from 62 on: dynamic, the newest first.
   * @returns The entry.
   * @throws {CompressionError} if there is none.
   */
  at(index: number): Field {
    const back = index - STATIC_COUNT;
    if (back <= 0 && index > 0) return STATIC[index - 1];
    if (index === 0 || back > this.#count) throw new CompressionError(`no field has the index ${index}`);
    return this.#ring[(this.#added - back) & this.#mask];
  }

  /**
   * Adds an entry, and evicts others to make room; one that is larger than the table empties it.
   *
   * @param field The new entry.
   */
  add(field: Field): void {
    this.#evict(this.#limit - field.size);
    if (field.size > this.#limit) return;
    this.#ring[this.#added & this.#mask] = field;
    this.#added = (this.#added + 1) & 0x3fffffff; // stays a small integer
    this.#count++;
    this.#size += field.size;
  }

  /**
   * Changes the table's size, as the server says.
   *
   * @param limit In bytes.
   * @throws {CompressionError} if it is more than our SETTINGS allow.
   */
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
