import { described, func, type Member, member, wrongType } from "../streams/internal.ts";

/**
 * A CSV record that has more or fewer fields than there are columns.
 *
 * @example The records that were left out
 * ```ts
 * import { CsvDecoderStream, type CsvMismatch } from "@millrace/streams/text";
 *
 * const leftOut: CsvMismatch[] = [];
 * const records = new CsvDecoderStream({ onMismatch: (mismatch) => void leftOut.push(mismatch) });
 * for await (const record of new Response("a,b\nc\n").body!.pipeThrough(records)) console.log(record.length); // 2
 * for (const { line, fields, columns } of leftOut) console.log(line, fields.length, columns); // 2 1 2
 * ```
 */
export interface CsvMismatch {
  /** The record's number, counted from 1, without the header. */
  readonly record: number;
  /** The number of the line in which the record begins, counted from 1. */
  readonly line: number;
  /** The record's fields. */
  readonly fields: readonly string[];
  /** The number of columns. */
  readonly columns: number;
}

export type OnCsvMismatch = (mismatch: CsvMismatch) => readonly string[] | undefined;

/** Returns the options that decoders and encoders of CSV share; `F` is the function that `convert` is. */
// deno-lint-ignore no-explicit-any -- functions of all types
export function csvMembers<F extends (...args: any[]) => unknown>(): {
  readonly convert: Member<F, undefined>;
  readonly headers: Member<CsvHeaders, false>;
  readonly separator: Member<string, ",">;
} {
  return {
    convert: func<F>(),
    headers: { fallback: false, expected: HEADERS, check: checkedHeaders },
    separator: member<string, ",">(
      "one character other than a quote or a line end",
      (value) => typeof value === "string" && SEPARATOR.test(value),
      ",",
    ),
  };
}

const SEPARATOR = /^[^"\r\n\ufeff\ud800-\udfff]$/;
const HEADERS = "true, false, an array of names or a function";

/** Whether there is a header, or its names, or a function from the header's names to those to use. */
export type CsvHeaders = boolean | readonly string[] | ((names: readonly string[]) => readonly string[]);

/** @throws {TypeError} if the names of columns are no texts, or not all different. */
export function checkedNames(names: readonly unknown[], source: string): string[] {
  const places = new Map<unknown, number>();
  names.forEach((name, index) => {
    if (typeof name !== "string") {
      throw new TypeError(`${source}: column ${index + 1} is ${described(name)}, not a name`);
    }
    const place = places.get(name);
    if (place !== undefined) {
      throw new TypeError(`${source}: columns ${place + 1} and ${index + 1} have the same name, ${described(name)}`);
    }
    places.set(name, index);
  });
  return names as string[];
}

/** Returns the names that the caller's function makes of `names`; their number must stay the same. */
export function renamed(
  names: readonly string[],
  change: (names: readonly string[]) => readonly string[],
  source: string,
): string[] {
  const made: unknown = change([...names]);
  if (Array.isArray(made) && made.length === names.length) return checkedNames([...made], source);
  const given = Array.isArray(made) ? `${made.length} names` : described(made);
  throw new TypeError(`headers() must return an array of ${names.length} names, not ${given} (${source})`);
}

/** @throws {TypeError} if `headers` is no boolean, function or array of different names. */
function checkedHeaders(headers: unknown, name: string): CsvHeaders {
  if (typeof headers === "boolean" || typeof headers === "function") return headers as CsvHeaders;
  if (Array.isArray(headers) && headers.length > 0) return checkedNames([...headers], name);
  if (Array.isArray(headers)) throw new TypeError(`${name} has no name: pass one for each column`);
  throw wrongType(name, HEADERS, headers);
}

export type ConvertCsvField = (text: string, column: string | number) => unknown;

export interface CsvRecordsOptions {
  readonly headers: CsvHeaders;
  readonly convert: ConvertCsvField | undefined;
  readonly onMismatch: "throw" | "skip" | "fill" | OnCsvMismatch;
}

export class CsvRecords<T> {
  readonly #convert: ConvertCsvField | undefined;
  readonly #onMismatch: CsvRecordsOptions["onMismatch"];
  #isHeaderNext: boolean;
  readonly #headers: CsvHeaders;
  /** The number of fields that a record must have; undefined before the first record. */
  #columns: number | undefined;
  #names: readonly string[] | undefined;
  /** An object with all columns, which is copied for each record: the copies have their final shape before they get values. */
  #template: Record<string, unknown> = {};
  /** The number of records added, without the header. */
  added = 0;
  /** The number of fields added to records that had too few, since this was last set to 0. */
  filled = 0;
  line = 1;

  constructor({ headers, convert, onMismatch }: CsvRecordsOptions) {
    this.#convert = convert;
    this.#onMismatch = onMismatch;
    this.#headers = headers;
    this.#isHeaderNext = headers === true || typeof headers === "function";
    if (typeof headers === "object") this.#setNames(headers);
  }

  /** The number of columns if a record is the array of its fields, unconverted; 0 otherwise, and before the first record. */
  get plainColumns(): number {
    return this.#names === undefined && this.#convert === undefined ? this.#columns ?? 0 : 0;
  }

  get place(): string {
    return this.#isHeaderNext ? `the header, line ${this.line}` : `record ${this.added + 1}, line ${this.line}`;
  }

  /** Adds the record of the first `count` fields to `values`; returns an array for the next record's fields. */
  add(fields: string[], count: number, values: T[]): string[] {
    if (count !== this.#columns) {
      this.#addOther(fields.slice(0, count), values);
      // Reused if it has room: a series of short records does not allocate an array of all columns for each.
      return fields.length === this.#columns ? fields : new Array(this.#columns);
    }
    values.push(this.#valueOf(fields));
    this.added++;
    return this.plainColumns > 0 ? new Array(count) : fields;
  }

  /** Adds the first record, or one with a different number of fields. */
  #addOther(fields: string[], values: T[]): void {
    if (this.#isHeaderNext) {
      this.#setNames(this.#namesIn(fields));
      this.#isHeaderNext = false;
      return;
    }
    const columns = this.#columns ??= fields.length;
    const used = fields.length === columns ? fields : this.#matching(fields, columns);
    if (used !== undefined) values.push(this.#valueOf(used));
    this.added++;
  }

  /** Returns the fields to use for a record that has too many or too few. */
  #matching(fields: readonly string[], columns: number): readonly string[] | undefined {
    const policy = this.#onMismatch;
    if (policy === "skip") return undefined;
    if (policy === "fill") return this.#filledUp(fields, columns);
    if (policy === "throw") {
      const spaced = fields.findIndex((field) => /^ +"/.test(field)) + 1;
      const cause = spaced > 0 ? `; field ${spaced} has a space before its quote, which is none then` : "";
      throw new SyntaxError(`${this.place}: ${fields.length} fields, but there must be ${columns}${cause}`);
    }
    const mismatch: CsvMismatch = { record: this.added + 1, line: this.line, fields, columns };
    const used: unknown = policy(mismatch);
    if (used !== undefined && !Array.isArray(used)) {
      throw new TypeError(
        `onMismatch must give an array of fields or undefined, not ${described(used)} (${this.place})`,
      );
    }
    return used === undefined || this.#names === undefined ? used : this.#filledUp(used, columns);
  }

  /** Returns one field for each column: adds empty fields, or drops surplus ones. */
  #filledUp(fields: readonly string[], columns: number): string[] {
    this.filled += Math.max(0, columns - fields.length);
    return Array.from({ length: columns }, (_, index) => fields[index] ?? "");
  }

  #namesIn(fields: readonly string[]): string[] {
    if (typeof this.#headers === "function") return renamed(fields, this.#headers, this.place);
    // Lines of some programs end with several separators.
    const unnamed = fields.indexOf("");
    return checkedNames(fields.map((name, i) => name === "" && i > unnamed ? `_${i + 1}` : name), this.place);
  }

  #setNames(names: readonly string[]): void {
    this.#names = names;
    this.#columns = names.length;
    const template: Record<string, unknown> = {};
    // An assignment to "__proto__" would set the prototype.
    for (const name of names) {
      Object.defineProperty(template, name, { value: "", writable: true, enumerable: true, configurable: true });
    }
    this.#template = template;
  }

  /** Returns the record of the fields: an object if columns have names, otherwise an array. */
  #valueOf(fields: readonly string[]): T {
    const names = this.#names;
    const convert = this.#convert;
    if (names === undefined) {
      return (convert === undefined ? fields : fields.map((field, index) => convert(field, index))) as T;
    }
    const record = { ...this.#template };
    for (let i = 0; i < names.length; i++) {
      record[names[i]] = convert === undefined ? fields[i] : convert(fields[i], names[i]);
    }
    return record as T;
  }
}
