import { batchedTransform } from "../batch/internal.ts";
import { asStreamPair, bool, oneOf, schema, type SchemaOf } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { csvMembers } from "./csv_records.ts";
import { type ConvertCsvValue, CsvWriter } from "./csv_writer.ts";

const HIGH_WATER_MARK = 512;

/**
 * Options of {@linkcode CsvEncoderStream}: what records become.
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
   * Whether a byte order mark is written before the first byte, by which Excel tells UTF-8.
   *
   * @default false
   */
  readonly bom?: boolean;
  /**
   * Makes a text, or another value that has one, of a field's value. `column` is the name of its column, or its index,
   * counted from 0, if columns have no names. What it throws errors the stream.
   * Without it, strings are written as they are, numbers, bigints and booleans as `String()` writes them, dates as
   * `toISOString()` does, and `null` and `undefined` as empty fields. Other values are errors.
   *
   * @default as `String()` writes them
   */
  readonly convert?: (value: unknown, column: string | number) => unknown;
  /**
   * The names of columns, which are written before the first record. `true`: records are objects, and the names are those
   * of the first one's properties. A function: called with those, and returns as many different ones to write in their
   * place. An array: these are the names, which are written even if no record follows; of objects these properties are
   * written, and arrays must have a field for each. `false`: none are written.
   *
   * @default false
   */
  readonly headers?: boolean | readonly string[] | ((names: readonly string[]) => readonly string[]);
  /**
   * The end of each record.
   *
   * @default "\r\n"
   */
  readonly lineEnding?: "\r\n" | "\n";
  /**
   * The character between two fields: a single UTF-16 code unit, but no quote or line end.
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
  ...csvMembers<ConvertCsvValue>(),
  lineEnding: oneOf(["\r\n", "\n"], "\r\n"),
}));

/**
 * An encoder of CSV (RFC 4180): takes records, as arrays or objects, and gives the bytes of their lines.
 *
 * Fields that hold the separator, a quote or a line end are quoted. All records have the same columns: of objects the
 * properties that the first one has, or those of `headers`. Properties that are missing are empty fields, others are not
 * written.
 *
 * Records may be written one by one: what queues up until the end of the event loop's turn, or until 512 wait, becomes
 * one chunk of bytes, or a few if they are large. A record must not be changed before its write has been acknowledged.
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
  /** The end that gives the lines. Cancelling it fails the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The end that takes the records. Aborting it fails the readable end with the same reason. */
  readonly writable: WritableStream<T>;

  /**
   * Makes a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a record that is neither an array nor an object, on an array of
   * another length, and on a value that has no text.
   *
   * @throws {TypeError} if there is no such option, or one is of the wrong type.
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
