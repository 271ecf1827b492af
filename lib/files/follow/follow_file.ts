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
   * The place of the first byte: the end of what is there now, its beginning, a number of bytes, which counts from the
   * beginning and is 0 if the file has fewer, or the `position` of a former stream. A file that is made later is read from
   * its beginning.
   *
   * @default "end"
   */
  start?: "beginning" | "end" | number | FollowPosition;
  /**
   * Whether `path` is the directory and the `name` of a series that {@linkcode RotatingFileWritable} writes. Its files are
   * read one after the other, compressed ones among them.
   *
   * @default false
   */
  series?: boolean;
  /**
   * The ms between two looks at the file, while a read waits.
   *
   * @default 100
   */
  interval?: number;
  /**
   * Called when something has the file's name that cannot be read: a folder, a pipe, a file that this user may not read.
   * It is waited for as if there were no file, and told of once.
   *
   * @default `process.emitWarning()`
   */
  onWarning?: (error: Error) => void;
  /** Ends the stream with its reason, and closes the file. */
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
 * Follows a file that other programs append to, as `tail -F` does: a stream of its bytes that waits for more at the end.
 *
 * A file that is renamed or removed is read on until another one has bytes under its name, and then to its end; the other
 * one is read from its beginning, and so is a file that was truncated or written anew. A file that is missing is waited
 * for, and so is one in whose place something else is for a while. The stream has no end: cancel it, leave the loop, or
 * abort the signal. Either closes the file.
 *
 * The file is looked at every `interval` ms while a read waits; nothing is read ahead.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} that names the file and says why it cannot be read, with the system's `code`; so do reads that fail.
 * @throws {TypeError} if the path or an option is none, or a series is to begin at a number.
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
 * await (await followFile("app.log", { start: position })).cancel(); // goes on there
 * ```
 */
export class FollowedReadable extends ReadableStream<Uint8Array<ArrayBuffer>> {
  readonly #source: FollowSource;

  /** Takes over a source that is open: for {@linkcode followFile}. */
  constructor(source: FollowSource) {
    super(source, { highWaterMark: 0 });
    this.#source = source;
  }

  /**
   * The place behind the last whole line that was read from the stream, for `start`: what was read behind it is read
   * again. It is the place of this stream's reads: a pipe reads ahead of its end.
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
