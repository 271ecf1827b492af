import { bytes, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import { MAX_STRING_LENGTH } from "./complete_lines.ts";
import { CsvReader } from "./csv_reader.ts";
import { type ConvertCsvField, csvMembers, type OnCsvMismatch } from "./csv_records.ts";

/**
 * Options of {@linkcode CsvDecoderStream}: what records look like, and what they become.
 *
 * @example Objects of a file with semicolons
 * ```ts
 * import { CsvDecoderStream, type CsvDecoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: CsvDecoderStreamOptions = {
 *   headers: true,
 *   separator: ";",
 *   convert: (text, column) => column === "price" ? Number(text.replace(",", ".")) : text,
 * };
 * const body = new Response("name;price\nsieve;9,50\n").body!;
 * for await (const record of body.pipeThrough(new CsvDecoderStream(options))) {
 *   console.log(JSON.stringify(record)); // {"name":"sieve","price":9.5}
 * }
 * ```
 */
export interface CsvDecoderStreamOptions {
  /**
   * Makes a value of a field's text. `column` is the name of its column, or its index, counted from 0, if columns have no
   * names. What it throws errors the stream.
   *
   * @default fields are strings
   */
  readonly convert?: (text: string, column: string | number) => unknown;
  /**
   * The names of columns, or whether the first record has them. `true`: the first record has them, and each other record becomes an object. An array: these are
   * the names, and each record becomes an object. `false`: each record becomes an array.
   *
   * @default false
   */
  readonly headers?: boolean | readonly string[];
  /**
   * The most bytes that a record may have in UTF-8, its line end not counted. A longer one errors the stream with a
   * `RangeError`: the guard against quotes that nobody closes.
   *
   * @default 536870888 (2^29 - 24): Node and Deno have no longer strings
   */
  readonly maxRecordLength?: number;
  /**
   * The handling of records that have more or fewer fields than there are columns: as many as there are names, else as
   * the first record has. `"throw"` errors the stream with a `SyntaxError`. `"skip"` leaves such records out. `"fill"` puts
   * empty fields in the place of those that are missing, and drops those that are too many. A function is called with
   * each, and returns the fields to use, or `undefined` to leave the record out; where columns have names, they are
   * filled up alike.
   *
   * @default "throw"
   */
  readonly onMismatch?: "throw" | "skip" | "fill" | OnCsvMismatch;
  /**
   * The character between two fields: a single UTF-16 code unit, but no quote or line end.
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
 * Text may be cut into chunks anywhere. Records end with LF, CRLF or CR; the last one needs no end. Fields in quotes may
 * hold separators, line ends and, doubled, quotes. A quote within a field that does not begin with one is a character
 * as any. Spaces belong to fields. Empty lines and a byte order mark at the start are skipped; one of UTF-16 has bytes
 * decoded as such. A first line `sep=;`, as Excel has it, names the separator unless the option does. The type `T` of records is
 * not checked: name it where `headers` makes them objects.
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
 */
export class CsvDecoderStream<T = string[]> extends TransformStream<string | ArrayBuffer | ArrayBufferView, T> {
  /**
   * Makes a stream of records.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes and on names of columns
   * that are not all different, with a SyntaxError on quotes that are wrong and records with another number of fields,
   * and with a RangeError on a record that is too long. Messages have the record's number and line.
   *
   * @throws {TypeError} if there is no such option, or one is of the wrong type.
   * @throws {RangeError} if `maxRecordLength` is not a number of bytes.
   */
  constructor(options: CsvDecoderStreamOptions = {}) {
    const settings = csvDecoderStreamOptions(options);
    super(
      new CsvReader<T>({ ...settings, separator: options.separator === undefined ? undefined : settings.separator }),
    );
  }
}
