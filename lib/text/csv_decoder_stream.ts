import { bytes, quoted, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import { CHUNK_SIZE, CompleteLines, MAX_STRING_LENGTH, RecordReader, UNIT } from "./complete_lines.ts";
import { type ConvertCsvField, csvMembers, type CsvMismatch, CsvRecords, type OnCsvMismatch } from "./csv_records.ts";
import { LF_OR_CR_ENDS } from "./line_ends.ts";

const LF = 10;
const CR = 13;
const QUOTE = 34;

/** A reader of CSV records that passes once over the text of each chunk. */
class CsvReader<T> extends RecordReader<T> {
  #separator: number;
  /** Whether the first line may name the separator, as Excel understands it. */
  #mayNameSeparator: boolean;
  /** The first byte, kept until the second one shows whether both are a byte order mark; undefined from then on. */
  #start: number[] | undefined = [];
  /** The decoder of bytes that begin with a byte order mark of UTF-16. */
  #utf16: TextDecoder | undefined = undefined;
  readonly #maxRecordLength: number;
  readonly #text: CompleteLines;
  readonly #records: CsvRecords<T>;

  /** The parts of an unfinished quoted field. */
  #parts: string[] | undefined = undefined;
  #hasQuotes = false;
  /** The value of the quoted field that was read last. */
  #value = "";
  /** The fields of a record before its quoted field, and their number. */
  #fields: string[] = [];
  #count = 0;
  /** The bytes of a record in the texts before this one. */
  #bytesBefore = 0;
  #innerEnds = 0;

  /** @param separator Default: the one that the first line names, otherwise a comma. */
  constructor(options: ReturnType<typeof csvDecoderStreamOptions>, separator: string | undefined) {
    super();
    const { maxRecordLength } = options;
    this.#mayNameSeparator = separator === undefined;
    this.#separator = (separator ?? ",").charCodeAt(0);
    this.#maxRecordLength = maxRecordLength;
    this.#records = new CsvRecords(options);
    this.#text = new CompleteLines({
      ends: LF_OR_CR_ENDS,
      maxLength: maxRecordLength,
      option: "maxRecordLength",
      place: () => this.#records.place,
      take: (text) => this.#read(text),
    });
  }

  add(piece: string | Uint8Array): void {
    const start = this.#start;
    if (start !== undefined) {
      const isText = typeof piece === "string";
      const [first, second] = isText ? start : [...start, ...piece.subarray(0, 2)];
      this.#start = second === undefined && !isText ? [first] : undefined;
      if (this.#start !== undefined) return;
      if (first === 0xff && second === 0xfe) this.#utf16 = new TextDecoder("utf-16le");
      if (first === 0xfe && second === 0xff) this.#utf16 = new TextDecoder("utf-16be");
      this.#addDecoded(Uint8Array.from(start));
    }
    this.#addDecoded(piece);
  }

  #addDecoded(piece: string | Uint8Array): void {
    const isDecoded = this.#utf16 === undefined || typeof piece === "string";
    this.#text.add(isDecoded ? piece : this.#utf16!.decode(piece, { stream: true }));
  }

  flush(): void {
    this.#addDecoded(Uint8Array.from(this.#start ?? []));
    if (this.#utf16 !== undefined) this.#text.add(this.#utf16.decode());
    const text = this.#text.end();
    if (text !== "" || this.#parts !== undefined) this.#read(`${text}\n`);
    if (this.#parts !== undefined) throw new SyntaxError(`${this.#records.place}: a quoted field has no end`);
  }

  /** Reads a text that ends with a line, and enqueues its records. */
  #read(given: string): void {
    if (this.goOn !== undefined) return this.#readLater(given);
    const values: T[] = [];
    let text = given;
    if (this.#mayNameSeparator) {
      this.#mayNameSeparator = false;
      const [line, separator] = /^sep=([,;\t|])(?:\r\n?|\n)/.exec(text) ?? [""];
      if (separator !== undefined) {
        this.#separator = separator.charCodeAt(0);
        this.#records.line++;
        text = text.slice(line.length);
      }
    }
    try {
      this.#readInto(values, text);
    } finally {
      this.enqueue(values); // also the records before an error
    }
  }

  #readInto(values: T[], text: string): void {
    const separator = this.#separator;
    const records = this.#records;
    const lastSpecial = Math.max(separator, CR);
    const mayBeTooLong = this.#bytesBefore + text.length * UNIT > this.#maxRecordLength;
    let isGoingOn = this.#parts !== undefined;
    let fields = this.#fields;
    let count = this.#count;
    let columns = records.plainColumns; // plain records are made without a call of `records`: 1.06x
    let start = 0;
    let at = 0;
    let { length } = text;
    while (at < length) {
      let unit = text.charCodeAt(at);
      if (isGoingOn || unit === QUOTE) {
        isGoingOn = false;
        at = this.#readQuoted(text, at);
        if (at === -1) {
          this.#fields = fields;
          this.#count = count;
          this.#keep(text.slice(start));
          return;
        }
        fields[count++] = this.#value;
        unit = text.charCodeAt(at);
      } else {
        const from = at;
        while (unit > lastSpecial || (unit !== separator && unit !== LF && unit !== CR)) unit = text.charCodeAt(++at);
        fields[count++] = text.slice(from, at);
      }
      const end = at++;
      if (unit === separator) continue;
      if (unit === CR && text.charCodeAt(at) === LF) at++;
      if (mayBeTooLong) this.#checkLength(text, start, end);
      // An empty line is no record.
      if (end > start) {
        if (count === columns) {
          values.push(fields as T);
          fields = new Array(columns);
          records.added++;
        } else {
          fields = records.add(fields, count, values);
          columns = records.plainColumns;
          if (records.filled > CHUNK_SIZE) length = at;
        }
      }
      records.line += 1 + this.#innerEnds;
      this.#innerEnds = this.#bytesBefore = count = 0;
      start = at;
    }
    this.#fields = fields;
    this.#count = records.filled = 0;
    if (length < text.length) this.#readLater(text.slice(length));
  }

  #readLater(text: string): void {
    const { goOn } = this;
    this.goOn = () => {
      goOn?.();
      this.#read(text);
    };
  }

  /** Reads a quoted field or its rest; returns the offset behind it, or -1. Two indexOf() take Node four times as long. */
  #readQuoted(text: string, at: number): number {
    const from = this.#parts === undefined ? at + 1 : at;
    let end = from;
    for (; end < text.length; end++) {
      const unit = text.charCodeAt(end);
      if (unit > QUOTE) continue;
      if (unit === QUOTE) {
        if (text.charCodeAt(end + 1) !== QUOTE) break;
        this.#hasQuotes = true;
        end++;
      } else if (unit === LF || (unit === CR && text.charCodeAt(end + 1) !== LF)) {
        this.#innerEnds++;
      }
    }
    const part = text.slice(from, end);
    if (end === text.length) {
      (this.#parts ??= []).push(part);
      return -1;
    }
    const value = this.#parts === undefined ? part : this.#parts.join("") + part;
    this.#value = this.#hasQuotes ? value.replaceAll('""', '"') : value;
    this.#parts = undefined;
    this.#hasQuotes = false;
    const next = text.charCodeAt(end + 1);
    if (next === this.#separator || next === LF || next === CR) return end + 1;
    const rest = quoted(text.slice(end + 1, end + 2));
    throw new SyntaxError(`${this.#records.place}: a quoted field must be followed by a separator, not ${rest}`);
  }

  /** Keeps the part of a record that continues in the next text. */
  #keep(part: string): void {
    this.#bytesBefore += utf8Length(part);
    if (this.#bytesBefore > this.#maxRecordLength) throw this.#text.tooLong();
  }

  #checkLength(text: string, start: number, end: number): void {
    if (this.#bytesBefore + (end - start) * UNIT <= this.#maxRecordLength) return;
    if (this.#bytesBefore + utf8Length(text.slice(start, end)) > this.#maxRecordLength) throw this.#text.tooLong();
  }
}

/**
 * Options of {@linkcode CsvDecoderStream}: the format of records, and their conversion.
 *
 * @example Objects of a file with semicolons
 * ```ts
 * import { CsvDecoderStream, type CsvDecoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: CsvDecoderStreamOptions = {
 *   headers: ["name", "price"],
 *   separator: ";",
 *   convert: (text, column) => column === "price" ? Number(text.replace(",", ".")) : text,
 * };
 * const records = new CsvDecoderStream(options); // of sieve;9,50 it makes { name: "sieve", price: 9.5 }
 * ```
 */
export interface CsvDecoderStreamOptions {
  /**
   * Converts the text of a field. `column` is the name of the field's column, or its index, counted from 0, if columns
   * have no names. An exception errors the stream.
   *
   * @default fields are strings
   */
  readonly convert?: (text: string, column: string | number) => unknown;
  /**
   * The names of columns, or whether the first record holds them. `true`: it does, and each further record becomes an
   * object. A function: called with the names in the first record, duplicates included, and returns as many names
   * without duplicates. An array: the names, if no record holds them. `false`: each record becomes an array.
   *
   * @default false
   */
  readonly headers?: boolean | readonly string[] | ((names: readonly string[]) => readonly string[]);
  /**
   * The maximum bytes of a record in UTF-8, without its line ending. A longer record, such as one whose quotes are
   * never closed, errors the stream with a `RangeError`.
   *
   * @default 536870888 (2^29 - 24), the longest string of Node and Deno
   */
  readonly maxRecordLength?: number;
  /**
   * The handling of records that have more or fewer fields than there are columns. There are as many columns as names,
   * or without names as fields in the first record. `"throw"` errors the stream with a `SyntaxError`. `"skip"` leaves
   * such records out. `"fill"` adds empty fields for missing ones, and drops surplus ones. A function is called with
   * each such record, and returns the fields to use, or `undefined` to skip the record. If columns have names, the
   * returned fields are filled up, too.
   *
   * @default "throw"
   */
  readonly onMismatch?: "throw" | "skip" | "fill" | ((mismatch: CsvMismatch) => readonly string[] | undefined);
  /**
   * The character between two fields: a single UTF-16 code unit, other than a quote or a line ending.
   *
   * @default ","
   */
  readonly separator?: string;
}

export const csvDecoderStreamOptions: SchemaOf<
  CsvDecoderStreamOptions,
  "headers" | "maxRecordLength" | "onMismatch" | "separator"
> = /* @__PURE__ */ schema("CsvDecoderStream", () => ({
  ...csvMembers<ConvertCsvField>(),
  maxRecordLength: bytes(MAX_STRING_LENGTH),
  onMismatch: wordOrFunction<OnCsvMismatch, "throw" | "skip" | "fill", "throw">(["throw", "skip", "fill"], "throw"),
}));

/**
 * A decoder of CSV (RFC 4180): takes text, as strings or bytes of UTF-8, and gives its records, one a chunk, as arrays of
 * strings or as objects.
 *
 * Text may be cut into chunks anywhere. Records end with LF, CRLF or CR; the last one needs no end. Fields in quotes
 * may hold separators, line ends and, doubled, quotes. A quote within a field that does not begin with a quote is an
 * ordinary character. Spaces belong to fields. Empty lines and a byte order mark at the start are skipped; after a mark
 * of UTF-16, bytes are decoded as UTF-16. A first line `sep=;`, as Excel writes it, names the separator unless the
 * option does. The type `T` of records is not checked: give it if `headers` makes them objects.
 *
 * @example Records as arrays
 * ```ts
 * import { CsvDecoderStream } from "@millrace/streams/text";
 *
 * const body = new Response('1,"Lovelace, Ada"\r\n2,"""Amazing"" Grace"\r\n').body!;
 * for await (const [id, name] of body.pipeThrough(new CsvDecoderStream())) console.log(id, name);
 * // 1 Lovelace, Ada
 * // 2 "Amazing" Grace
 * ```
 * @example Headers in lower case, of which two are alike
 * ```ts
 * import { CsvDecoderStream } from "@millrace/streams/text";
 *
 * const headers = (names: readonly string[]) =>
 *   names.map((name, i) => names.indexOf(name) < i ? `${name.toLowerCase()}_${i + 1}` : name.toLowerCase());
 * const people = new Response("Name,Phone,Phone\nAda,1,2\n").body!
 *   .pipeThrough(new CsvDecoderStream<Record<string, string>>({ headers }));
 * for await (const { name, phone_3 } of people) console.log(name, phone_3); // Ada 2
 * ```
 */
export class CsvDecoderStream<T = string[]> extends TransformStream<string | ArrayBuffer | ArrayBufferView, T> {
  /**
   * Creates a stream of records.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes and on duplicate names
   * of columns, with a SyntaxError on misplaced quotes and on records with a wrong number of fields, and with a
   * RangeError on a record that is too long. Messages contain the record's number and line.
   *
   * @throws {TypeError} if an option is unknown or of the wrong type.
   * @throws {RangeError} if `maxRecordLength` is not a number of bytes.
   */
  constructor(options: CsvDecoderStreamOptions = {}) {
    const given = csvDecoderStreamOptions.check(options);
    super(new CsvReader<T>(csvDecoderStreamOptions(given), given.separator));
  }
}

/** Returns the length in UTF-8 of a well-formed text. */
function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair takes two of its four bytes.
    length += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return length;
}
