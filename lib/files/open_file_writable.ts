import { requireKnown } from "../streams/internal.ts";
import { AppendedFile } from "./appended_file.ts";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { fileFailure } from "./failure.ts";
import { filePath } from "./file_path.ts";
import { FileWritable } from "./file_writable.ts";
import { openOutputFile } from "./output_file.ts";
import { WholeFile } from "./whole_file.ts";

/**
 * Options of {@linkcode openFileWritable}.
 *
 * @example A file that replaces nothing, and is on the disk when the pipe ends
 * ```ts
 * import { openFileWritable, type OpenFileWritableOptions } from "@millrace/streams/files";
 *
 * const options: OpenFileWritableOptions = { replace: false, flush: true };
 * await new Blob(["signed"]).stream().pipeTo(await openFileWritable("contract.txt", options));
 * const again = await openFileWritable("contract.txt", options).catch((error) => error.code);
 * console.log(again); // EEXIST
 * ```
 */
export interface OpenFileWritableOptions extends AtomicFileOptions {
  /**
   * Whether the file appears under its name only when it is complete; an aborted stream leaves nothing then.
   *
   * @default false
   */
  atomic?: boolean;
  /**
   * Whether the file's bytes are flushed to the disk when the stream closes.
   *
   * @default the value of `atomic`
   */
  flush?: boolean;
  /**
   * The permission bits to give the file; unless it is `atomic`, only to one that is made, and less the process's umask.
   * Default: what the process gives new files.
   */
  mode?: number;
  /**
   * Whether the file goes on behind what is in it, as the system's own way of appending has it: other processes may write
   * to its end, too. A file that is missing is made. Not with `atomic` or `replace`.
   *
   * @default false
   */
  append?: boolean;
}

const known: Readonly<Record<keyof OpenFileWritableOptions, true>> = {
  atomic: true,
  replace: true,
  flush: true,
  mode: true,
  mtimeMs: true,
  followLinks: true,
  temporary: true,
  atOnce: true,
  append: true,
};

/**
 * Opens a file as a WritableStream of bytes and text, in place of what was there; text is written as UTF-8. Chunks that
 * queue up are written together, and the promise of a `write()` is fulfilled when the system has the chunk's bytes; half
 * of a surrogate pair at the end of a string waits for the next one.
 *
 * @param path The file's path, or its `file:` URL.
 * @param options.atomic Whether the file appears under its name only when the stream closes. Default: false.
 * @param options.append Whether the file goes on behind what is in it. Default: false.
 * @throws {Error} that names the file and says why it cannot be made, with the system's `code`; so do writes and closing
 * if they fail.
 * @throws {TypeError} if the path or an option is none, or options exclude each other.
 * @example Text, line by line
 * ```ts
 * import { openFileWritable } from "@millrace/streams/files";
 *
 * const writer = (await openFileWritable("notes.txt", { atomic: true })).getWriter();
 * for (const line of ["first", "second"]) void writer.write(`${line}\n`);
 * await writer.close(); // notes.txt is there now, and complete
 * ```
 */
export async function openFileWritable(
  path: string | URL,
  options: OpenFileWritableOptions = {},
): Promise<FileWritable> {
  requireKnown(options, known, "openFileWritable()");
  const named = filePath(path);
  const { append, ...others } = options;
  if (append) return new FileWritable(await openAppended(named, others));
  const file = await openOutputFile(named, others).catch((error) => {
    throw fileFailure("create", named, error);
  });
  return new FileWritable(new WholeFile(named, file));
}

async function openAppended(path: string, options: OpenFileWritableOptions): Promise<AppendedFile> {
  const excluded = (["atomic", "replace", "temporary"] as const).find((name) => options[name] !== undefined);
  if (excluded !== undefined) throw new TypeError(`append and ${excluded} exclude each other: choose one`);
  return await AppendedFile.open(path, options);
}
