import { anyOf, bool, func, integer, number, oneOf, schema, type SchemaOf, signal } from "../../streams/internal.ts";
import { ReadableStream } from "../../streams/mod.ts";
import { MAX_TIMER_DELAY } from "../../timers/mod.ts";
import { filePath } from "../names.ts";
import { type FileSequence, FollowSource } from "./follow_source.ts";
import { FollowedSeries } from "./followed_series.ts";
import { type FollowPosition, positionMember } from "./line_place.ts";
import { NamedFile } from "./named_file.ts";

/**
 * Options of {@linkcode followFile}.
 *
 * @example All lines of a series, and those to come
 * ```ts
 * import { followFile, type FollowFileOptions } from "@millrace/streams/files";
 *
 * const options: FollowFileOptions = { series: true, start: "beginning", interval: 1000 };
 * const bytes = await followFile("logs/app.log", options); // of logs/app-00001.log, logs/app-00002.log, ...
 * await bytes.cancel();
 * ```
 */
export interface FollowFileOptions {
  /**
   * The position of the first byte: the current end, the beginning, an offset in bytes, which is 0 if the file is
   * shorter, or the `position` of an earlier stream. A file that is created later is read from its beginning.
   *
   * @default "end"
   */
  start?: "beginning" | "end" | number | FollowPosition;
  /**
   * Whether `path` is the directory and the `name` of a series that {@linkcode RotatingFileWritable} writes. Its files
   * are read in order, including compressed ones.
   *
   * @default false
   */
  series?: boolean;
  /**
   * The time in ms between two checks of the file while a read waits.
   *
   * @default 100
   */
  interval?: number;
  /**
   * Called once for an object of the name that cannot be read: a folder, a pipe, or a file without read permission. The
   * stream then waits as if there were no file.
   *
   * @default `process.emitWarning()`
   */
  onWarning?: (error: Error) => void;
  /** Ends the stream with the signal's reason, and closes the file. */
  signal?: AbortSignal;
}

export const followFileOptions: SchemaOf<FollowFileOptions, "start" | "series" | "interval"> = /* @__PURE__ */ schema(
  "followFile()",
  () => ({
    start: anyOf([oneOf(["beginning", "end"]), integer(0, Number.MAX_SAFE_INTEGER), positionMember()], "end"),
    series: bool(false),
    interval: number(1, MAX_TIMER_DELAY, 100),
    onWarning: func<(error: Error) => void>(),
    signal: signal(),
  }),
);

/**
 * Follows a file that other programs append to, like `tail -F`: returns a stream of its bytes that waits for more at
 * the end.
 *
 * After a file is renamed or removed, reading continues until another file has bytes under the name, and then to the
 * old file's end. The other file is read from its beginning, and so is a file that was truncated or rewritten. The
 * stream waits for a missing file, and while an object that is not a file has the name. The stream has no end: cancel
 * it, leave the loop, or abort the signal; each closes the file.
 *
 * The file is checked every `interval` ms while a read waits; the stream does not read ahead.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} with the file's name, the reason why it cannot be read, and the system's `code`; reads reject in the
 * same way.
 * @throws {TypeError} if the path or an option is invalid, or `start` is a number for a series.
 * @throws {RangeError} if `start` or `interval` is out of range.
 * @example Lines as they are written
 * ```ts
 * import { followFile, openFileWritable } from "@millrace/streams/files";
 * import { LineStream } from "@millrace/streams/text";
 *
 * const lines = (await followFile("app.log")).pipeThrough(new LineStream()); // app.log is not there yet
 * const writer = (await openFileWritable("app.log", { append: true })).getWriter();
 * await writer.write("started\n");
 * for await (const line of lines) {
 *   console.log(line); // started
 *   break;
 * }
 * await writer.close();
 * ```
 */
export async function followFile(
  path: string | URL,
  options: FollowFileOptions = {},
): Promise<FollowedReadable> {
  const { start, series, interval, onWarning, signal } = followFileOptions(options);
  const trail = fileSequence(filePath(path), start, series);
  signal?.throwIfAborted();
  const source = new FollowSource(trail, { interval, onWarning, signal });
  await source.open();
  return new FollowedReadable(source);
}

/**
 * The stream that {@linkcode followFile} opens.
 *
 * @example The position, for a later stream
 * ```ts
 * import { followFile, type FollowedReadable } from "@millrace/streams/files";
 *
 * const bytes: FollowedReadable = await followFile("app.log");
 * const { position } = bytes;
 * await bytes.cancel();
 * await (await followFile("app.log", { start: position })).cancel(); // continues there
 * ```
 */
export class FollowedReadable extends ReadableStream<Uint8Array<ArrayBuffer>> {
  readonly #source: FollowSource;

  /** Takes over an open source: for {@linkcode followFile}. */
  constructor(source: FollowSource) {
    super(source, { highWaterMark: 0 });
    this.#source = source;
  }

  /**
   * The position after the last whole line that was read from the stream, for `start`: later bytes are read again. It
   * counts this stream's reads: a pipe reads ahead of its destination.
   */
  get position(): FollowPosition {
    return this.#source.position;
  }
}

function fileSequence(
  path: string,
  start: "beginning" | "end" | number | FollowPosition,
  series: boolean,
): FileSequence {
  if (typeof start === "object" && start.file !== "" && (start.number !== undefined) !== series) {
    throw new TypeError(`the position is ${series ? "not " : ""}of a series: pass series: ${!series}`);
  }
  if (!series) return new NamedFile(path, start === "beginning" ? 0 : start);
  if (typeof start !== "number") return new FollowedSeries(path, start);
  throw new TypeError('a series begins at its "beginning" or its "end", not at a number of bytes');
}
