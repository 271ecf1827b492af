import { Buffer } from "node:buffer";
import { decodeHuffman } from "../../../lib/http/h2/hpack/huffman.ts";
import { STATIC_COUNT, STATIC_FIELDS } from "../../../lib/http/h2/hpack/indexing_tables.ts";

type Field = readonly [name: string, value: string];

const DEFAULT_TABLE_SIZE = 4096;

/** HPACK as a server reads it: requests, in the plainest way (RFC 7541). */
export class FieldDecoder {
  #table: Field[] = [];
  #limit = DEFAULT_TABLE_SIZE;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  /**
   * Returns the fields of a block; where a name comes twice, values are joined by a comma. @throws if it is malformed.
   */
  decode(block: Buffer): Map<string, string> {
    this.#block = block;
    this.#at = 0;
    const fields = new Map<string, string>();
    while (this.#at < block.length) {
      const field = this.#field();
      if (!field) continue;
      const before = fields.get(field[0]);
      fields.set(field[0], before === undefined ? field[1] : `${before}, ${field[1]}`);
    }
    return fields;
  }

  #field(): Field | undefined {
    const first = this.#block[this.#at];
    if (first >= 128) return this.#indexed(this.#integer(7));
    if (first >= 64) {
      const field = this.#literal(this.#integer(6));
      this.#table.unshift(field);
      this.#shrink();
      return field;
    }
    if (first < 32) return this.#literal(this.#integer(4));
    this.#limit = this.#integer(5);
    if (this.#limit > DEFAULT_TABLE_SIZE) throw new Error(`a table of ${this.#limit} bytes`);
    this.#shrink();
    return undefined;
  }

  #literal(index: number): Field {
    const name = index === 0 ? this.#string() : this.#indexed(index)[0];
    return [name, this.#string()];
  }

  #indexed(index: number): Field {
    if (index >= 1 && index <= STATIC_COUNT) return [STATIC_FIELDS[index * 2 - 2], STATIC_FIELDS[index * 2 - 1]];
    const field = this.#table[index - STATIC_COUNT - 1];
    if (!field) throw new Error(`no field has index ${index}`);
    return field;
  }

  #shrink(): void {
    let size = 0;
    const end = this.#table.findIndex(([name, value]) => (size += name.length + value.length + 32) > this.#limit);
    if (end >= 0) this.#table.length = end;
  }

  #integer(bits: number): number {
    const most = (1 << bits) - 1;
    let value = this.#block[this.#at++] & most;
    if (value < most) return value;
    for (let shift = 0;; shift += 7) {
      if (this.#at >= this.#block.length) throw new Error("a number is cut");
      const byte = this.#block[this.#at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  #string(): string {
    const isHuffman = this.#block[this.#at] >= 128;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.#block.length) throw new Error("a string is cut");
    const start = this.#at;
    this.#at = end;
    if (!isHuffman) return this.#block.toString("latin1", start, end);
    const bytes = Buffer.alloc(length * 2 + 8);
    return bytes.toString("latin1", 0, decodeHuffman(this.#block, start, end, bytes));
  }
}
