/**
 * Where {@linkcode RotatingFileWritable} and {@linkcode NumberFileWriter} write, and how.
 *
 * @example Names by a function
 * ```ts
 * import { RotatingFileWritable, type RotationOptions } from "@millrace/streams/files";
 * import { basename } from "node:path";
 *
 * const options: RotationOptions = {
 *   directory: "volumes",
 *   maxFileSize: 4,
 *   name: (number) => `volume-${String.fromCharCode(96 + number)}.bin`,
 *   overwrite: true,
 * };
 * const volumes = new RotatingFileWritable(options);
 * const writer = volumes.getWriter();
 * for (const chunk of ["one", "two"]) void writer.write(chunk);
 * await writer.close();
 * for (const file of volumes.files) console.log(basename(file)); // volume-a.bin, volume-b.bin
 * ```
 */
export interface RotationOptions {
  /** The directory of the files, a path or a `file:` URL; it is made, with those above it, if it is missing. */
  directory: string | URL;
  /** Most bytes of a file, above 0. An item that would pass it begins the next file. */
  maxFileSize: number;
  /**
   * What the files are called: a plain name, which gets the number of the file before its extension (`"primes.txt"`:
   * `primes-00001.txt`, `primes-00002.txt`, …), or a function that is given the number, from 1 on, and returns the name,
   * always the same for a number: it is asked beforehand which files exist.
   *
   * @default "part.txt", or "numbers.txt" of numbers
   */
  name?: string | ((number: number) => string);
  /**
   * Whether files of the series that exist are replaced. Those that are not needed any more are removed when the stream
   * closes. If false, their existence is an error before anything is written.
   *
   * @default false
   */
  overwrite?: boolean;
  /**
   * Whether a file appears under its name only when it is complete, and flushed to the disk. Abort and failure leave
   * nothing of the one that was being written.
   *
   * @default false
   */
  atomic?: boolean;
}
