import { described } from "../streams/internal.ts";

/**
 * A CSV record that has more or fewer fields than there are columns.
 *
 * @example The records that were left out
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { CsvDecoderStream, type CsvMismatch } from "@millrace/streams/text";
 *
 * const leftOut: CsvMismatch[] = [];
 * const records = new CsvDecoderStream({ onMismatch: (mismatch) => void leftOut.push(mismatch) });
 * for await (const record of ReadableStream.from(["a,b\nc\n"]).pipeThrough(records)) console.log(record.length); // 2
 * for (const { line, fields, columns } of leftOut) console.log(line, fields.length, columns); // 2 1 2
 * ```
 */
export interface CsvMismatch {
  /** Which record, counted from 1, without the header. */
  readonly record: number;
  /** The line in which it begins, counted from 1. */
  readonly line: number;
  /** Its fields. */
  readonly fields: readonly string[];
  /** The number of columns. */
  readonly columns: number;
}

/**
 * Handles a record that has more or fewer fields than there are columns: returns the fields to use, or `undefined` to
 * leave it out.
 *
 * @example Whatever is too much belongs to the last column
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { CsvDecoderStream, type OnCsvMismatch } from "@millrace/streams/text";
 *
 * const joined: OnCsvMismatch = ({ fields, columns }) => {
 *   return [...fields.slice(0, columns - 1), fields.slice(columns - 1).join(",")];
 * };
 * const text = ReadableStream.from(["id,note\n1,one, two\n"]);
 * for await (const record of text.pipeThrough(new CsvDecoderStream({ headers: true, onMismatch: joined }))) {
 *   console.log(JSON.stringify(record)); // {"id":"1","note":"one, two"}
 * }
 * ```
 */
export type OnCsvMismatch = (mismatch: CsvMismatch) => readonly string[] | undefined;

/** The code unit of a separator. */
export function checkedSeparator(separator: string = ","): number {
  if (typeof separator === "string" && separator.length === 1 && !/["\r\n\ufeff\ud800-\udfff]/.test(separator)) {
    return separator.charCodeAt(0);
  }
  throw new TypeError(`separator must be one character other than a quote or a line end, not ${described(separator)}`);
}

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

/** The function that an option `convert` is, if it is given. */
export function checkedConvert<Convert>(convert: Convert | undefined): Convert | undefined {
  if (convert === undefined || typeof convert === "function") return convert;
  throw new TypeError(`convert must be a function, not ${described(convert)}`);
}

/** @throws {TypeError} if `headers` is neither a boolean nor an array of different names. */
export function checkedHeaders(headers: boolean | readonly string[] = false): boolean | readonly string[] {
  if (typeof headers === "boolean") return headers;
  if (Array.isArray(headers) && headers.length > 0) return checkedNames([...headers], "headers");
  throw new TypeError(`headers must be true, false or an array of names, not ${described(headers)}`);
}
