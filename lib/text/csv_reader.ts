import { quoted } from "../streams/internal.ts";
import { CompleteLines, LF_OR_CR_ENDS } from "./complete_lines.ts";
import { CsvRecords, type CsvRecordsOptions } from "./csv_records.ts";
import { RecordReader, utf8Length } from "./chunks.ts";

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const UNIT = 3;

export interface CsvReaderOptions extends CsvRecordsOptions {
  /** The character between two fields. Default: the one that the first line names, or a comma. */
  readonly separator: string | undefined;
  /** The most bytes of a record, its line end not counted. */
  readonly maxRecordLength: number;
}

/** Makes records of CSV, in one pass over the text of each chunk. */
export class CsvReader<T> extends RecordReader<T> {
  #separator: number;
  /** Whether a first line may name the separator, as Excel has it. */
  #mayNameSeparator: boolean;
  #hasBegun = false;
  /** For bytes of UTF-16, which their byte order mark tells. */
  #utf16: TextDecoder | undefined = undefined;
  readonly #maxRecordLength: number;
  readonly #text: CompleteLines;
  readonly #records: CsvRecords<T>;

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

  constructor({ separator, maxRecordLength, ...options }: CsvReaderOptions) {
    super();
    this.#mayNameSeparator = separator === undefined;
    this.#separator = (separator ?? ",").charCodeAt(0);
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

  add(piece: string | Uint8Array): void {
    if (!this.#hasBegun && piece.length > 0) {
      this.#hasBegun = true;
      if (piece[0] === 0xff) this.#utf16 = new TextDecoder("utf-16le");
      else if (piece[0] === 0xfe) this.#utf16 = new TextDecoder("utf-16be");
    }
    const isDecoded = this.#utf16 === undefined || typeof piece === "string";
    this.#text.add(isDecoded ? piece : this.#utf16!.decode(piece, { stream: true }));
  }

  flush(): void {
    if (this.#utf16 !== undefined) this.#text.add(this.#utf16.decode());
    const text = this.#text.end();
    if (text !== "" || this.#parts !== undefined) this.#read(`${text}\n`);
    if (this.#parts !== undefined) throw new SyntaxError(`${this.#records.place}: a quoted field has no end`);
  }

  /** Reads a text that ends where a line does, and enqueues its records. */
  #read(given: string): void {
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
      this.enqueue(values); // those before an error, too
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
    let columns = records.plainColumns; // those records are not worth a call: 1.06x
    let start = 0;
    let at = 0;
    while (at < text.length) {
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
      // A line with nothing in it is none.
      if (end > start) {
        if (count === columns) {
          values.push(fields as T);
          fields = new Array(columns);
          records.added++;
        } else {
          fields = records.add(fields, count, values);
          columns = records.plainColumns;
        }
      }
      records.line += 1 + this.#innerEnds;
      this.#innerEnds = this.#bytesBefore = count = 0;
      start = at;
    }
    this.#fields = fields;
    this.#count = 0;
  }

  /**
   * Reads a quoted field, or goes on with one; returns the offset behind it, or -1 if it ends in another text.
   *
   * Quotes and line ends are looked for in the same loop: two calls of indexOf() take Node four times as long where fields are short.
   */
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
