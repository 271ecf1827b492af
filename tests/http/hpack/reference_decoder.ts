import { CODE_LENGTHS, CODES, END_OF_STRING } from "../../../lib/http/h2/hpack/huffman.ts";
import { STATIC_FIELDS } from "../../../lib/http/h2/hpack/indexing_tables.ts";

const BY_BITS = new Map<string, number>();
for (let symbol = 0; symbol <= END_OF_STRING; symbol++) {
  BY_BITS.set(CODES[symbol].toString(2).padStart(CODE_LENGTHS[symbol], "0"), symbol);
}

/** The representation of a field: decoded fields alone do not show whether secrets are sent as "never indexed". */
export type Representation = "indexed" | "added" | "plain" | "never indexed";

/** HPACK in the plainest way, bit by bit, for requests and responses: the judge of the fast one. */
export class ReferenceDecoder {
  /** The dynamic table, newest first. */
  table: [name: string, value: string][] = [];
  /** The representations of the fields of the last block. */
  representations: Representation[] = [];
  /** Table size updates of the last block. */
  updates: number[] = [];
  #limit = 4096;
  readonly #maxLimit: number;
  #block: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(maxLimit = 4096) {
    this.#maxLimit = maxLimit;
    this.#limit = Math.min(maxLimit, 4096);
  }

  get tableSize(): number {
    return this.table.reduce((size, [name, value]) => size + name.length + value.length + 32, 0);
  }

  /** Returns all fields, pseudo-headers too: name, value, name, value. @throws for whatever RFC 7541 forbids. */
  decode(block: Uint8Array): string[] {
    this.#block = block;
    this.#at = 0;
    this.representations = [];
    this.updates = [];
    const fields: string[] = [];
    while (this.#at < block.length) fields.push(...this.#field());
    return fields;
  }

  #field(): string[] {
    const first = this.#byte();
    if (first & 0x80) {
      this.representations.push("indexed");
      return this.#indexed(this.#integer(first, 7));
    }
    if (first & 0x40) {
      const field = this.#literal(first, 6, "added");
      this.table.unshift([field[0], field[1]]);
      this.#evict();
      return field;
    }
    if (first & 0x20) {
      if (this.representations.length > 0) throw new Error("an update that is late");
      this.#limit = this.#integer(first, 5);
      if (this.#limit > this.#maxLimit) throw new Error("an update that is too large");
      this.updates.push(this.#limit);
      this.#evict();
      return [];
    }
    return this.#literal(first, 4, first & 0x10 ? "never indexed" : "plain");
  }

  #literal(first: number, bits: number, representation: Representation): string[] {
    this.representations.push(representation);
    const index = this.#integer(first, bits);
    const name = index === 0 ? this.#string() : this.#indexed(index)[0];
    return [name, this.#string()];
  }

  #indexed(index: number): string[] {
    const field = index <= 61 ? STATIC_FIELDS.slice(index * 2 - 2, index * 2) : this.table[index - 62];
    if (index === 0 || field === undefined) throw new Error(`no index ${index}`);
    return [...field];
  }

  #evict(): void {
    while (this.tableSize > this.#limit) this.table.pop();
  }

  #string(): string {
    const first = this.#byte();
    const length = this.#integer(first, 7);
    let bits = "";
    let text = "";
    for (let i = 0; i < length; i++) {
      const byte = this.#byte();
      if (first & 0x80) bits += byte.toString(2).padStart(8, "0");
      else text += String.fromCharCode(byte);
    }
    return first & 0x80 ? fromBits(bits) : text;
  }

  #integer(first: number, bits: number): number {
    let value = first & (2 ** bits - 1);
    if (value < 2 ** bits - 1) return value;
    for (let scale = 1; scale < 2 ** 28; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Error("too large");
  }

  #byte(): number {
    if (this.#at === this.#block.length) throw new Error("cut");
    return this.#block[this.#at++];
  }
}

function fromBits(bits: string): string {
  let text = "";
  let code = "";
  for (const bit of bits) {
    code += bit;
    const symbol = BY_BITS.get(code);
    if (symbol === undefined) continue;
    if (symbol === END_OF_STRING) throw new Error("EOS");
    text += String.fromCharCode(symbol);
    code = "";
  }
  if (code.length > 7 || code.includes("0")) throw new Error("padding");
  return text;
}
