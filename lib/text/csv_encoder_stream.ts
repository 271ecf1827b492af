import { batchedTransform } from "../batch/internal.ts";
import { asStreamPair, bool, described, oneOf, quoted, schema, type SchemaOf } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { GrowingBytes, UNIT } from "./complete_lines.ts";
import { csvMembers, renamed } from "./csv_records.ts";

const HIGH_WATER_MARK = 512;
const FULL = 64 * 1024;
/** The length in UTF-16 code units from which a field is encoded on its own, since its length in bytes is unknown. */
const LONG_FIELD = FULL / 4;
/** The maximum length of texts that are added unit by unit, such as separators and line endings. */
const SHORT_FIELDS = 2;

const encoder = new TextEncoder();

function add(output: GrowingBytes, text: string): void {
  if (text.length >= LONG_FIELD) return output.append(encoder.encode(text));
  const bytes = output.room(text.length * UNIT);
  const { length } = text;
  let i = 0;
  if (length <= SHORT_FIELDS) {
    for (; i < length && text.charCodeAt(i) <= LAST_ASCII; i++) bytes[output.length + i] = text.charCodeAt(i);
  }
  output.length += i === length ? i : encoder.encodeInto(text, bytes.subarray(output.length)).written;
}

/** Returns a copy of all bytes, and clears the buffer. */
function taken(output: GrowingBytes): Uint8Array<ArrayBuffer> {
  const chunk = output.bytes.slice();
  output.clear();
  return chunk;
}

const LF = 10;
const CR = 13;
const QUOTE = 34;
const MARK = "\ufeff";
/** The last code unit that is one byte in UTF-8. */
const LAST_ASCII = 0x7f;
/** The maximum length of strings that are encoded in a loop here; the runtime's encoder takes longer ones. */
const MAX_LOOP = 1024;

class CsvWriter {
  readonly #options: ReturnType<typeof csvEncoderStreamOptions>;
  readonly #separator: number;
  readonly #lastSpecial: number;
  /** Whether numbers need no quotes, since no number contains the separator. */
  readonly #areNumbersPlain: boolean;
  readonly #output = new GrowingBytes(4 * FULL);
  /** The names of columns; undefined if records are arrays. */
  #names: readonly string[] | undefined;
  /** Whether no column has the name of a property of `Object.prototype`. */
  #areUsual = true;
  /** The number of columns; 0 before the first record. */
  #columns = 0;
  #taken = 0;

  constructor(options: ReturnType<typeof csvEncoderStreamOptions>) {
    const { separator } = options;
    this.#options = options;
    this.#separator = separator.charCodeAt(0);
    this.#lastSpecial = Math.max(this.#separator, QUOTE);
    this.#areNumbersPlain = !/[\w.+-]/.test(separator);
  }

  write(records: readonly unknown[], enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const { lineEnding } = this.#options;
    const output = this.#output;
    output.clear(); // drops lines before a record that could not be written
    for (const record of records) {
      if (this.#columns === 0) add(output, this.#begin(record));
      this.#addFields(record);
      add(output, lineEnding);
      this.#taken++;
      if (output.length >= FULL) enqueue(taken(output));
    }
    if (output.length > 0) enqueue(taken(output));
  }

  /** Enqueues the header if its names are an option and no record was written. */
  end(enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const { headers } = this.#options;
    if (this.#columns === 0 && typeof headers === "object") {
      add(this.#output, this.#header(headers));
      enqueue(taken(this.#output));
    }
  }

  /** Determines the columns from the first record; returns the header with its line ending, or an empty text. */
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

  /** Returns the names of an object's properties; undefined for an array, which has no names. */
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
    if (this.#output.length === before) add(this.#output, '""'); // decoders skip empty lines
  }

  #addField(value: unknown, index: number): void {
    const { convert, headers, separator } = this.#options;
    const output = this.#output;
    if (index > 0) add(output, separator);
    if (index === 0 && this.#taken === 0 && headers === false) {
      add(output, markQuoted(this.#textOf(value, index)));
    } else if (convert !== undefined || typeof value !== "string" || !this.#addString(value)) {
      add(output, this.#textOf(value, index));
    }
  }

  /** Adds a short ASCII field unit by unit, in half the time of encoding joined fields; returns whether it did. */
  #addString(text: string): boolean {
    if (text.length > MAX_LOOP) return false;
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

  /** Adds an ASCII text in quotes; the buffer must have room for it. */
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

  /** Returns the text of a value, which in most cases is already a string. */
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

/** Whether a value is a valid Date, of whatever realm. */
function isValidDate(value: unknown): value is Date {
  try {
    return !Number.isNaN(Date.prototype.getTime.call(value));
  } catch {
    return false;
  }
}

/** Returns the stream's first field, in quotes if it begins with a byte order mark or like a line that names a separator. */
function markQuoted(field: string): string {
  return field.startsWith(MARK) || field.startsWith("sep=") ? `"${field}"` : field;
}

/** Returns a record's properties of these names, except those that it inherits from `Object.prototype`. */
function withoutInherited(record: object, names: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const name of names) {
    if (Object.hasOwn(record, name) || !(name in Object.prototype)) values[name] = record[name as never];
  }
  return values;
}

/**
 * Options of {@linkcode CsvEncoderStream}: columns, conversion and format.
 *
 * @example Some columns, with semicolons
 * ```ts
 * import { CsvEncoderStream, type CsvEncoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: CsvEncoderStreamOptions = {
 *   headers: ["name", "price"],
 *   separator: ";",
 *   convert: (value, column) => column === "price" ? String(value).replace(".", ",") : value,
 * };
 * const lines = new CsvEncoderStream(options); // of { id: 1, name: "sieve", price: 9.5 } it makes sieve;9,5
 * ```
 */
export interface CsvEncoderStreamOptions {
  /**
   * Whether a byte order mark is written before the first byte, by which Excel recognizes UTF-8.
   *
   * @default false
   */
  readonly bom?: boolean;
  /**
   * Converts a field's value to a string or another value that can be written. `column` is the name of the field's
   * column, or its index, counted from 0, if columns have no names. An exception errors the stream. Without it, strings
   * are written as they are, numbers, bigints and booleans as `String()` writes them, dates as `toISOString()` does,
   * and `null` and `undefined` as empty fields. Other values are errors.
   *
   * @default as `String()` writes them
   */
  readonly convert?: (value: unknown, column: string | number) => unknown;
  /**
   * The names of columns, written before the first record. `true`: records are objects, and the properties of the first
   * one give the names. A function: called with those names, and returns as many to write instead, without duplicates.
   * An array: the names, written even if no record follows; objects are written with these properties, and arrays must
   * have a field for each name. `false`: no names are written.
   *
   * @default false
   */
  readonly headers?: boolean | readonly string[] | ((names: readonly string[]) => readonly string[]);
  /**
   * The line ending behind each record.
   *
   * @default "\r\n"
   */
  readonly lineEnding?: "\r\n" | "\n";
  /**
   * The character between two fields: a single UTF-16 code unit, other than a quote or a line ending.
   *
   * @default ","
   */
  readonly separator?: string;
}

export const csvEncoderStreamOptions: SchemaOf<
  CsvEncoderStreamOptions,
  "bom" | "headers" | "lineEnding" | "separator"
> = /* @__PURE__ */ schema("CsvEncoderStream", () => ({
  bom: bool(false),
  ...csvMembers<(value: unknown, column: string | number) => unknown>(),
  lineEnding: oneOf(["\r\n", "\n"], "\r\n"),
}));

/**
 * An encoder of CSV (RFC 4180): takes records, as arrays or objects, and gives the bytes of their lines.
 *
 * Fields that hold the separator, a quote or a line end are quoted. All records have the same columns: for objects, the
 * properties of the first one, or those of `headers`. Missing properties become empty fields, other properties are not
 * written.
 *
 * Records may be written one by one: those that queue up until the end of the event loop's turn, or until there are
 * 512, become one chunk of bytes, or a few if they are large. A record must not be changed before its write has been
 * acknowledged.
 *
 * @example A response of objects
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { CsvEncoderStream } from "@millrace/streams/text";
 *
 * const records = ReadableStream.from([{ id: 1, name: "Lovelace, Ada" }, { id: 2, name: '"Amazing" Grace' }]);
 * const text = await new Response(records.pipeThrough(new CsvEncoderStream({ headers: true }))).text();
 * console.log(text.split("\r\n")[0]); // id,name
 * console.log(text.split("\r\n")[1]); // 1,"Lovelace, Ada"
 * console.log(text.split("\r\n")[2]); // 2,"""Amazing"" Grace"
 * ```
 */
export class CsvEncoderStream<T extends object = object> {
  /** The readable end: the bytes of lines. Cancelling it errors the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The writable end, for records. Aborting it errors the readable end with the same reason. */
  readonly writable: WritableStream<T>;

  /**
   * Creates a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a record that is neither an array nor an object, on an array
   * of another length, and on a value that cannot be written.
   *
   * @throws {TypeError} if an option is unknown or of the wrong type.
   */
  constructor(options: CsvEncoderStreamOptions = {}) {
    const writer = new CsvWriter(csvEncoderStreamOptions(options));
    const { readable, writable } = batchedTransform<T, Uint8Array<ArrayBuffer>>(
      (records, enqueue) => writer.write(records, enqueue),
      { highWaterMark: HIGH_WATER_MARK },
      { atEnd: (enqueue) => writer.end(enqueue) },
    );
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}
