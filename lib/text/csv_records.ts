import { checkedNames, type CsvMismatch, type OnCsvMismatch } from "./csv_record.ts";

/** Makes a value of a field's text; `column` is the name of its column, or its index if columns have no names. */
export type ConvertCsvField = (text: string, column: string | number) => unknown;

/** Options of records, checked. */
export interface CsvRecordsOptions {
  /** Names of the columns, or whether the first record has them. */
  readonly headers: boolean | readonly string[];
  readonly convert: ConvertCsvField | undefined;
  readonly onMismatch: "throw" | "skip" | "fill" | OnCsvMismatch;
}

/** Makes arrays or objects of the fields of records. */
export class CsvRecords<T> {
  readonly #convert: ConvertCsvField | undefined;
  readonly #onMismatch: CsvRecordsOptions["onMismatch"];
  /** Whether the next record is the header. */
  #isHeaderNext: boolean;
  /** How many fields a record is to have; undefined until the first one has come. */
  #columns: number | undefined;
  #names: readonly string[] | undefined;
  /** An object with all columns: copies of it have their final shape before they get values. */
  #template: Record<string, unknown> = {};
  /** How many records have been added, without the header. */
  added = 0;
  /** The line in which the next record begins. */
  line = 1;

  constructor({ headers, convert, onMismatch }: CsvRecordsOptions) {
    this.#convert = convert;
    this.#onMismatch = onMismatch;
    this.#isHeaderNext = headers === true;
    if (typeof headers !== "boolean") this.#setNames(headers);
  }

  /** The number of columns if their fields, an array of strings, are a record as they are; 0 otherwise, and at first. */
  get plainColumns(): number {
    return this.#names === undefined && this.#convert === undefined ? this.#columns ?? 0 : 0;
  }

  /** The place of the next record, for messages. */
  get place(): string {
    return this.#isHeaderNext ? `the header, line ${this.line}` : `record ${this.added + 1}, line ${this.line}`;
  }

  /** Adds what becomes of `count` fields to `values`; returns an array for the fields of the next record. */
  add(fields: string[], count: number, values: T[]): string[] {
    if (count !== this.#columns) {
      this.#addOther(fields.slice(0, count), values);
    } else if (this.#names === undefined) {
      this.added++;
      values.push(this.#arrayOf(fields) as T);
    } else {
      values.push(this.#objectOf(fields) as T);
      this.added++;
      return fields;
    }
    return this.#columns === undefined ? [] : new Array(this.#columns);
  }

  /** Adds the first record, or one that has another number of fields. */
  #addOther(fields: string[], values: T[]): void {
    if (this.#isHeaderNext) {
      this.#setNames(checkedNames(fields, this.place));
      this.#isHeaderNext = false;
      return;
    }
    const columns = this.#columns ??= fields.length;
    const used = fields.length === columns ? fields : this.#matching(fields, columns);
    if (used !== undefined) values.push((this.#names === undefined ? this.#arrayOf(used) : this.#objectOf(used)) as T);
    this.added++;
  }

  /** The fields to use of a record that has more or fewer than there are columns. */
  #matching(fields: readonly string[], columns: number): readonly string[] | undefined {
    const policy = this.#onMismatch;
    if (policy === "skip") return undefined;
    if (policy === "fill") return filled(fields, columns);
    if (policy === "throw") {
      throw new SyntaxError(`${this.place}: ${fields.length} fields, but there must be ${columns}`);
    }
    const mismatch: CsvMismatch = { record: this.added + 1, line: this.line, fields, columns };
    const used = policy(mismatch);
    return used === undefined || this.#names === undefined ? used : filled(used, columns);
  }

  #setNames(names: readonly string[]): void {
    this.#names = names;
    this.#columns = names.length;
    const template: Record<string, unknown> = {};
    // An assignment to "__proto__" would be none.
    for (const name of names) {
      Object.defineProperty(template, name, { value: "", writable: true, enumerable: true, configurable: true });
    }
    this.#template = template;
  }

  #arrayOf(fields: readonly string[]): unknown {
    const convert = this.#convert;
    return convert === undefined ? fields : fields.map((field, index) => convert(field, index));
  }

  #objectOf(fields: readonly string[]): unknown {
    const names = this.#names!;
    const convert = this.#convert;
    const record = { ...this.#template };
    for (let i = 0; i < names.length; i++) {
      record[names[i]] = convert === undefined ? fields[i] : convert(fields[i], names[i]);
    }
    return record;
  }
}

/** As many fields as there are columns: empty ones in place of those that are missing, and none of those too many. */
function filled(fields: readonly string[], columns: number): string[] {
  return Array.from({ length: columns }, (_, index) => fields[index] ?? "");
}
