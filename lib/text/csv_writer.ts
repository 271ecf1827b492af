import { described, quoted } from "../streams/internal.ts";
import { type CsvHeaders, renamed } from "./csv_records.ts";

const FULL = 64 * 1024;
/** The length in UTF-16 code units from which a text is encoded by itself, as its bytes are not known beforehand. */
const LONG = FULL / 4;
/** The most bytes that a code unit takes in UTF-8. */
const UNIT = 3;
/** The longest text that is added unit by unit: separators and line ends. */
const SHORT = 2;
const SMALLEST = 4096;
/** The most bytes of the buffer that is kept: one long text does not hold its memory for ever. */
const KEPT = 4 * FULL;

const encoder = new TextEncoder();

/** A buffer of bytes of text, which is copied when it is full: only then is it known how long a chunk has to be. */
class OutputBuffer {
  length = 0;
  #bytes = new Uint8Array(0);

  get isFull(): boolean {
    return this.length >= FULL;
  }

  /** The buffer, with room for so many bytes from `length` on. */
  room(size: number): Uint8Array {
    const needed = this.length + size;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, SMALLEST));
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }

  add(text: string): void {
    if (text.length <= SHORT && this.#addAscii(text)) return;
    if (text.length < LONG) {
      const bytes = this.room(text.length * UNIT);
      this.length += encoder.encodeInto(text, bytes.subarray(this.length)).written;
    } else {
      const encoded = encoder.encode(text);
      this.room(encoded.length).set(encoded, this.length);
      this.length += encoded.length;
    }
  }

  #addAscii(text: string): boolean {
    const bytes = this.room(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[this.length + i] = unit;
    }
    this.length += text.length;
    return true;
  }

  /** Returns a copy of all bytes, and forgets them. */
  take(): Uint8Array<ArrayBuffer> {
    const chunk = this.#bytes.slice(0, this.length);
    this.clear();
    return chunk;
  }

  clear(): void {
    this.length = 0;
    if (this.#bytes.length > KEPT) this.#bytes = new Uint8Array(0);
  }
}

const LF = 10;
const CR = 13;
const QUOTE = 34;
const MARK = "\ufeff";
/** The last code unit that is one byte in UTF-8. */
const LAST_ASCII = 0x7f;
/** Longer strings are left to the runtime's encoder. */
const LONGEST_LOOP = 1024;

export type ConvertCsvValue = (value: unknown, column: string | number) => unknown;

export interface CsvWriterOptions {
  readonly bom: boolean;
  /** Whether a header is written, and of which names. */
  readonly headers: CsvHeaders;
  readonly convert: ConvertCsvValue | undefined;
  readonly separator: string;
  readonly lineEnding: string;
}

export class CsvWriter {
  readonly #options: CsvWriterOptions;
  readonly #separator: number;
  readonly #lastSpecial: number;
  /** Whether a number may have the separator in it. */
  readonly #areNumbersPlain: boolean;
  readonly #output = new OutputBuffer();
  /** The names of columns; undefined if records are arrays. */
  #names: readonly string[] | undefined;
  /** Whether no column has the name of something that every object has. */
  #areUsual = true;
  /** The number of columns; 0 before the first record. */
  #columns = 0;
  #taken = 0;

  constructor(options: CsvWriterOptions) {
    const { separator } = options;
    this.#options = options;
    this.#separator = separator.charCodeAt(0);
    this.#lastSpecial = Math.max(this.#separator, QUOTE);
    this.#areNumbersPlain = !/[\w.+-]/.test(separator);
  }

  write(records: readonly unknown[], enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const { lineEnding } = this.#options;
    const output = this.#output;
    output.clear(); // of lines before a record that could not be written
    for (const record of records) {
      if (this.#columns === 0) output.add(this.#begin(record));
      this.#addFields(record);
      output.add(lineEnding);
      this.#taken++;
      if (output.isFull) enqueue(output.take());
    }
    if (output.length > 0) enqueue(output.take());
  }

  /** Enqueues the header, if its names were given and no record was. */
  end(enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const { headers } = this.#options;
    if (this.#columns === 0 && typeof headers === "object") {
      this.#output.add(this.#header(headers));
      enqueue(this.#output.take());
    }
  }

  /** Finds the columns by the first record; returns the header, with its line end, or nothing. */
  #begin(record: unknown): string {
    const { bom, headers } = this.#options;
    const names = typeof headers === "object" ? headers : this.#namesOf(record, headers !== false);
    this.#names = names;
    this.#areUsual = !names?.some((name) => name in Object.prototype);
    this.#columns = names === undefined ? (record as readonly unknown[]).length : names.length;
    if (this.#columns === 0) throw new TypeError(`${this.#place} has no fields`);
    if (headers === false) return bom ? MARK : "";
    return this.#header(typeof headers === "function" ? renamed(names!, headers, "the header") : names!);
  }

  #header(names: readonly string[]): string {
    const { bom, separator, lineEnding } = this.#options;
    const [first, ...others] = names.map((name) => this.#quotedIfNeeded(name));
    return (bom ? MARK : "") + ([markQuoted(first), ...others].join(separator) || '""') + lineEnding;
  }

  /** The names of an object's properties; undefined if it is an array, which has none. */
  #namesOf(record: unknown, areNeeded: boolean): readonly string[] | undefined {
    if (typeof record !== "object" || record === null) throw this.#notARecord(record);
    if (!Array.isArray(record)) return Object.keys(record);
    if (!areNeeded) return undefined;
    throw new TypeError(`${this.#place} is an Array, in which columns have no names: pass them as headers`);
  }

  #addFields(record: unknown): void {
    if (typeof record !== "object" || record === null) throw this.#notARecord(record);
    const names = this.#names;
    const before = this.#output.length;
    if (Array.isArray(record)) {
      if (record.length !== this.#columns) {
        throw new TypeError(`${this.#place} has ${record.length} fields, but there must be ${this.#columns}`);
      }
      for (let i = 0; i < record.length; i++) this.#addField(record[i], i);
    } else {
      if (names === undefined) throw new TypeError(`${this.#place} is ${described(record)} where others are arrays`);
      const values = this.#areUsual ? record as Record<string, unknown> : withoutInherited(record, names);
      for (let i = 0; i < names.length; i++) this.#addField(values[names[i]], i);
    }
    if (this.#output.length === before) this.#output.add('""'); // an empty line would be no record
  }

  #addField(value: unknown, index: number): void {
    const { convert, headers, separator } = this.#options;
    const output = this.#output;
    if (index > 0) output.add(separator);
    if (index === 0 && this.#taken === 0 && headers === false) {
      output.add(markQuoted(this.#textOf(value, index)));
    } else if (convert !== undefined || typeof value !== "string" || !this.#addString(value)) {
      output.add(this.#textOf(value, index));
    }
  }

  /**
   * Adds the field of a string if that is short and all ASCII, unit by unit; returns whether it did. Joined with others to one string
   * that is then encoded it takes twice the time.
   */
  #addString(text: string): boolean {
    if (text.length > LONGEST_LOOP) return false;
    const separator = this.#separator;
    const lastSpecial = this.#lastSpecial;
    const bytes = this.#output.room(2 * text.length + 2);
    let end = this.#output.length;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > LAST_ASCII) return false;
      if (unit <= lastSpecial && (unit === QUOTE || unit === separator || unit === LF || unit === CR)) {
        return this.#addQuoted(text);
      }
      bytes[end++] = unit;
    }
    this.#output.length = end;
    return true;
  }

  /** Adds an ASCII text in quotes; there is room for it. */
  #addQuoted(text: string): boolean {
    const bytes = this.#output.room(0);
    let end = this.#output.length;
    bytes[end++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > LAST_ASCII) return false;
      if (unit === QUOTE) bytes[end++] = QUOTE;
      bytes[end++] = unit;
    }
    bytes[end++] = QUOTE;
    this.#output.length = end;
    return true;
  }

  /** The field of a value, which is a string as it is in most cases. */
  #textOf(value: unknown, index: number): string {
    const { convert } = this.#options;
    if (convert === undefined && typeof value === "string") return this.#quotedIfNeeded(value);
    const column = this.#names === undefined ? index : this.#names[index];
    return this.#fieldOf(convert === undefined ? value : convert(value, column), column);
  }

  #fieldOf(value: unknown, column: string | number): string {
    switch (typeof value) {
      case "string":
        return this.#quotedIfNeeded(value);
      case "number":
      case "boolean":
      case "bigint":
        return this.#areNumbersPlain ? String(value) : this.#quotedIfNeeded(String(value));
      case "undefined":
        return "";
    }
    if (value === null) return "";
    if (isValidDate(value)) return this.#quotedIfNeeded(value.toISOString());
    const name = typeof column === "string" ? quoted(column) : String(column + 1);
    throw new TypeError(`${this.#place}, column ${name}: ${described(value)} has no text: pass convert`);
  }

  #quotedIfNeeded(text: string): string {
    const separator = this.#separator;
    const lastSpecial = this.#lastSpecial;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit <= lastSpecial && (unit === QUOTE || unit === separator || unit === LF || unit === CR)) {
        return `"${text.replaceAll('"', '""')}"`;
      }
    }
    return text;
  }

  get #place(): string {
    return `the record at index ${this.#taken}`;
  }

  #notARecord(value: unknown): TypeError {
    return new TypeError(`${this.#place} is ${described(value)}: only arrays and objects can be written`);
  }
}

/** Whether a value is a Date, of whatever realm, that stands for a time. */
function isValidDate(value: unknown): value is Date {
  try {
    return !Number.isNaN(Date.prototype.getTime.call(value));
  } catch {
    return false;
  }
}

/** The first field of all, without a byte order mark at its start that a reader would drop. */
function markQuoted(field: string): string {
  return field.startsWith(MARK) ? `"${field}"` : field;
}

/** The properties of a record that have these names, without what it has as every object has it. */
function withoutInherited(record: object, names: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const name of names) {
    if (Object.hasOwn(record, name) || !(name in Object.prototype)) values[name] = record[name as never];
  }
  return values;
}
