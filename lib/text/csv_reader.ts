import { described, enqueueAll, quoted, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { CompleteLines, type TextChunk } from "./complete_lines.ts";
import { CsvRecords, type CsvRecordsOptions } from "./csv_records.ts";
import { addInPieces } from "./in_pieces.ts";
import { LF_OR_CR_ENDS } from "./line_ends.ts";
import { utf8Length } from "./utf8_length.ts";

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const UNIT = 3;

/** Options of a CSV reader, checked. */
export interface CsvReaderOptions extends CsvRecordsOptions {
  /** The code unit between two fields. */
  readonly separator: number;
  /** The most bytes of a record, its line end not counted. */
  readonly maxRecordLength: number;
}

/**
 * Makes records of CSV, in one pass over the text of each chunk. A quoted field that goes on in the next chunk is kept in
 * parts: nothing is read twice.
 */
export class CsvReader<T> extends ReleasingTransformer implements Transformer<TextChunk, T> {
  readonly #separator: number;
  readonly #maxRecordLength: number;
  readonly #text: CompleteLines;
  readonly #records: CsvRecords<T>;
  #controller: TransformStreamDefaultController<T> = undefined as never; // set by start()

  /** The parts of a quoted field whose end has not come. */
  #parts: string[] | undefined = undefined;
  /** Whether it has quotes in it. */
  #hasQuotes = false;
  /** The value of the quoted field that was read last. */
  #value = "";
  /** The fields of a record before such a field, and their number. */
  #fields: string[] = [];
  #count = 0;
  /** The bytes of a record in the texts before this one. */
  #bytesBefore = 0;
  /** The number of line ends in quoted fields of a record. */
  #innerEnds = 0;
  /** The next line feed and CR in the text, from where they were looked for last; Infinity if there are none. */
  #nextLF = -1;
  #nextCR = -1;

  constructor({ separator, maxRecordLength, ...options }: CsvReaderOptions) {
    super();
    this.#separator = separator;
    this.#maxRecordLength = maxRecordLength;
    this.#records = new CsvRecords(options);
    this.#text = new CompleteLines({
      ends: LF_OR_CR_ENDS,
      maxLength: maxRecordLength,
      take: (text) => this.#read(text),
      tooLong: () => this.#tooLong(),
      tooLarge: (length, kind, cause) => {
        const what = `${this.#records.place} has at least ${length} bytes, more than ${kind} can hold here`;
        return new RangeError(`${what}: lower maxRecordLength to refuse it earlier`, { cause });
      },
    });
  }

  start(controller: TransformStreamDefaultController<T>): void {
    this.#controller = controller;
  }

  transform(chunk: TextChunk): Promise<never> | undefined {
    return addInPieces(this.#text, chunk, this.#controller as TransformStreamDefaultController<never>);
  }

  flush(): void {
    const text = this.#text.end();
    if (text !== "" || this.#parts !== undefined) this.#read(`${text}\n`);
    if (this.#parts !== undefined) throw new SyntaxError(`${this.#records.place}: a quoted field has no end`);
  }

  /** Reads a text that ends where a line does, and enqueues its records. */
  #read(text: string): void {
    this.#nextLF = this.#nextCR = -1;
    const values: T[] = [];
    try {
      this.#readInto(values, text);
    } finally {
      if (values.length > 0) enqueueAll(this.#controller, values); // those before an error, too
    }
  }

  #readInto(values: T[], text: string): void {
    const separator = this.#separator;
    const records = this.#records;
    const lastSpecial = Math.max(separator, CR);
    const mayBeTooLong = this.#bytesBefore + text.length * UNIT > this.#maxRecordLength;
    let fields = this.#fields;
    let count = this.#count;
    let start = 0;
    let at = 0;
    while (at < text.length) {
      if (this.#parts !== undefined || text.charCodeAt(at) === QUOTE) {
        at = this.#readQuoted(text, at);
        if (at === -1) {
          this.#fields = fields;
          this.#count = count;
          this.#keep(text.slice(start));
          return;
        }
        fields[count++] = this.#value;
      } else {
        const from = at;
        for (;; at++) {
          const unit = text.charCodeAt(at);
          if (unit <= lastSpecial && (unit === separator || unit === LF || unit === CR)) break;
        }
        fields[count++] = text.slice(from, at);
      }
      const end = at++;
      const unit = text.charCodeAt(end);
      if (unit === separator) continue;
      if (unit === CR && text.charCodeAt(at) === LF) at++;
      if (mayBeTooLong) this.#checkLength(text, start, end);
      // A line with nothing in it is none.
      if (end > start) fields = records.add(fields, count, values);
      records.line += 1 + this.#innerEnds;
      this.#innerEnds = this.#bytesBefore = count = 0;
      start = at;
    }
    this.#fields = fields;
    this.#count = 0;
  }

  /** Reads a quoted field, or goes on with one; returns the offset behind it, or -1 if it ends in another text. */
  #readQuoted(text: string, at: number): number {
    const from = this.#parts === undefined ? at + 1 : at;
    let end = text.indexOf('"', from);
    while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) {
      this.#hasQuotes = true;
      end = text.indexOf('"', end + 2);
    }
    const part = text.slice(from, end === -1 ? text.length : end);
    this.#innerEnds += this.#endsBetween(text, from, from + part.length);
    if (end === -1) {
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

  /** Counts the line ends within a quoted field. */
  #endsBetween(text: string, from: number, to: number): number {
    if (this.#nextLF < from) this.#nextLF = indexOrInfinity(text.indexOf("\n", from));
    if (this.#nextCR < from) this.#nextCR = indexOrInfinity(text.indexOf("\r", from));
    if (this.#nextLF >= to && this.#nextCR >= to) return 0;
    let ends = 0;
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at);
      if (unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)) ends++;
    }
    return ends;
  }

  /** Notes that a record goes on in the next text. */
  #keep(part: string): void {
    this.#bytesBefore += utf8Length(part);
    if (this.#bytesBefore > this.#maxRecordLength) throw this.#tooLong();
  }

  #checkLength(text: string, start: number, end: number): void {
    if (this.#bytesBefore + (end - start) * UNIT <= this.#maxRecordLength) return;
    if (this.#bytesBefore + utf8Length(text.slice(start, end)) > this.#maxRecordLength) throw this.#tooLong();
  }

  #tooLong(): RangeError {
    const what = `${this.#records.place} is longer than ${this.#maxRecordLength} bytes`;
    return new RangeError(`${what}: raise maxRecordLength if it may be`);
  }
}

function indexOrInfinity(index: number): number {
  return index === -1 ? Infinity : index;
}

/** As many bytes as the longest string of V8 has characters. */
const LONGEST = 2 ** 29 - 24;

/** @throws {RangeError} if `maxRecordLength` is not a number of bytes. */
export function checkedMaxRecordLength(length: number = LONGEST): number {
  if (typeof length === "number" && length >= 0) return Math.floor(length);
  throw new RangeError(`maxRecordLength ${described(length)} is not a number of bytes: use 0 or more`);
}
