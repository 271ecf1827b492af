import { dirname } from "node:path";
import { bool, changed, integer, number, schema, type SchemaOf, text } from "../streams/internal.ts";
import { writeStream } from "../runtime/mod.ts";
import { CreatedFile, type Undoable, undoAll } from "./created_file.ts";
import { codeOf, fileFailure } from "./failure.ts";
import { flushFolder } from "./flush.ts";
import { filePath, lasting } from "./names.ts";
import {
  followedPlace,
  keepAttributes,
  type NameOptions,
  type Place,
  placeItself,
  replacedAt,
  requireReplaceable,
  stillReplaceable,
  takeName,
  temporaryBeside,
  withoutGroup,
} from "./place.ts";
import { OpenFile } from "./open_file.ts";
import { writeFully } from "./write_fully.ts";
import { openWrittenOver, removeTemporary, requireOther, temporaryPath } from "./temporary.ts";

/**
 * Options of {@linkcode AtomicFile.open}.
 *
 * @example A lock file that only one process gets
 * ```ts
 * import { AtomicFile, type AtomicFileOptions } from "@millrace/streams/files";
 *
 * const options: AtomicFileOptions = { replace: false, mode: 0o600 };
 * const lock = await AtomicFile.open("service.lock", options);
 * await lock.commit(); // fails with the code EEXIST if another process has it
 * ```
 */
export interface AtomicFileOptions {
  /**
   * The modification time of the file, in ms since 1970; a time before 1970 is rounded down to a whole second.
   *
   * @default now
   */
  mtimeMs?: number;
  /**
   * The permission bits of the file.
   *
   * @default those of the file that it replaces, otherwise those of new files of the process
   */
  mode?: number;
  /**
   * Whether a symbolic link at the path is followed, so that the link stays and its target is replaced; otherwise the
   * link itself is replaced. With `replace: false`, links are not followed.
   *
   * @default true
   */
  followLinks?: boolean;
  /**
   * An existing file to use as the temporary one, whose content is overwritten. It is not created if it was removed.
   *
   * @default a new one in the same folder
   */
  temporary?: string;
  /**
   * Whether an existing file of the name is replaced; otherwise `commit()` fails with the code `EEXIST`.
   *
   * @default true
   */
  replace?: boolean;
  /**
   * Whether the file's bytes, and then its name, are flushed to the disk, so that both survive a power failure. If
   * false, a power failure may leave an empty file with the name.
   *
   * @default true
   */
  flush?: boolean;
  /**
   * Whether system calls are synchronous, except those that wait for the disk: for sources without backpressure.
   *
   * @default false
   */
  atOnce?: boolean;
}

type AtomicFileSchema = SchemaOf<AtomicFileOptions, "followLinks" | "replace" | "flush" | "atOnce">;

export function atomicFileMembers(): AtomicFileSchema["members"] {
  return {
    mtimeMs: number(-8.64e15, 8.64e15), // the range of a Date
    mode: changed(integer(0, 2 ** 32 - 1), (mode) => mode & 0o7777), // the mode of a status has more bits
    followLinks: bool(true),
    temporary: lasting(text(undefined, "a path", (path) => path !== "")),
    replace: bool(true),
    flush: bool(true),
    atOnce: bool(false),
  };
}

export const atomicFileOptions: AtomicFileSchema = /* @__PURE__ */ schema("AtomicFile", atomicFileMembers);

type Settings = ReturnType<typeof atomicFileOptions>;

/** Opens an {@linkcode AtomicFile} at a place that was checked just before: another check takes up to 10 µs. */
export let openAtomicFileAt: (place: Place, options: AtomicFileOptions) => Promise<AtomicFile>;

/** The options of a commit. `made` gets its undo, even if the commit fails, since the file may have its name. */
type CommitOptions = Pick<NameOptions, "before" | "path"> & { readonly made?: Undoable[] | undefined };

export let commitFile: (file: AtomicFile, options: CommitOptions) => Promise<void>;

/** Returns the path of a file that does not have its name yet. */
export let temporaryOf: (file: AtomicFile) => string;

/**
 * A file that appears under its name only when it is complete: written under a temporary name in the same folder,
 * flushed to the disk, renamed.
 *
 * An unreachable file without an end is closed, and its temporary file removed, when it is garbage-collected.
 *
 * @example All of it, or nothing
 * ```ts
 * import { AtomicFile } from "@millrace/streams/files";
 *
 * const file = await AtomicFile.open("settings.json");
 * try {
 *   await file.write(new TextEncoder().encode('{"theme":"dark"}'));
 *   console.log(file.size); // 16
 *   await file.commit();
 * } finally {
 *   await file.discard(); // does nothing after commit()
 * }
 * ```
 */
export class AtomicFile {
  readonly #place: Place;
  readonly #temporary: string;
  readonly #settings: Settings;
  readonly #file: OpenFile;
  #state: "open" | "complete" | "named" | "gone" = "open";
  #writing: Promise<unknown> | undefined = undefined;
  #ending: Promise<void> | undefined = undefined;
  #naming: Promise<void> | undefined = undefined;
  /** The error of a failed write, which may have written a part of its bytes. */
  #failure: unknown = undefined;
  /** The number of bytes at its end. */
  #size = 0;
  #isStreaming = false;

  private constructor(place: Place, temporary: string, settings: Settings, file: OpenFile) {
    this.#place = place;
    this.#temporary = temporary;
    this.#settings = settings;
    this.#file = file;
    // The caller removes its own temporary file.
    if (settings.temporary === undefined) dropped.register(this, temporary, this);
  }

  /**
   * Opens the temporary file for `path`, a path or a `file:` URL.
   *
   * @throws {Error} with the file's name, the reason why it cannot be created, and the system's `code`: `EINVAL` if a
   * device or a pipe has the name.
   * @throws {TypeError} if the path or an option is of another type.
   */
  static async open(path: string | URL, options: AtomicFileOptions = {}): Promise<AtomicFile> {
    const settings = atomicFileOptions(options);
    const named = filePath(path);
    const { followLinks, replace, temporary } = settings;
    if (temporary !== undefined) await requireOther(temporary, { target: named });
    try {
      const place = replace && followLinks ? followedPlace(named) : placeItself(named);
      if (replace || place.status === undefined) requireReplaceable(place);
      return await AtomicFile.#openAt(place, settings, temporary ?? temporaryBeside(place.path));
    } catch (error) {
      if (temporary !== undefined && codeOf(error) === "ENOENT") throw fileFailure("write over", temporary, error);
      throw fileFailure("create", named, error);
    }
  }

  static async #openAt(place: Place, settings: Settings, temporary: string): Promise<AtomicFile> {
    // Until its end, the file is accessible to no more users than the file it replaces, whose ACL is not kept. The
    // folder's default ACL then applies, up to the group's bits.
    const bits = settings.mode ?? (place.status?.isFile() ? place.status.mode : undefined);
    const mode = bits === undefined ? undefined : withoutGroup(bits);
    const options = { mode, atOnce: settings.atOnce };
    const isOwn = settings.temporary === undefined;
    const file = await (isOwn ? OpenFile.open(temporary, "wx+", options) : openWrittenOver(temporary, 0, options));
    return new AtomicFile(place, temporary, settings, file);
  }

  static {
    openAtomicFileAt = (place, options) =>
      AtomicFile.#openAt(place, atomicFileOptions(options), options.temporary ?? temporaryPath(place.path));
    commitFile = (file, options) => file.#commit(options);
    temporaryOf = (file) => file.#temporary;
  }

  /** The number of bytes written so far, or until the file was completed or discarded. */
  get size(): number {
    return this.#file.isClosed ? this.#size : this.#file.size();
  }

  /** Appends `bytes`. @throws like {@linkcode writev}. */
  write(bytes: Uint8Array): Promise<void> {
    return this.writev([bytes]);
  }

  /**
   * Appends all bytes of `pieces`, in order with earlier calls, and in one system call if that takes them all. After a
   * failed write, the file takes no more bytes and cannot be committed.
   *
   * @throws {Error} with the file's name, the reason why it cannot be written, and the system's `code`.
   */
  writev(pieces: readonly Uint8Array[]): Promise<void> {
    return this.#write(() => this.#append(pieces));
  }

  /** Appends all bytes of a stream; resolves to their number. On Bun, the body of a request to its server bypasses JavaScript. */
  writeStream(stream: ReadableStream<Uint8Array>): Promise<number> {
    return this.#write(async () => {
      if (writeStream !== undefined) {
        this.#isStreaming = true;
        return await this.#file.writeStream(stream).finally(() => this.#isStreaming = false);
      }
      let bytes = 0;
      for await (const chunk of stream) {
        await this.#append([chunk]);
        bytes += chunk.byteLength;
      }
      return bytes;
    });
  }

  #append(pieces: readonly Uint8Array[]): Promise<void> {
    return writeFully(this.#file, pieces).catch((error) => {
      throw codeOf(error) === undefined ? error : fileFailure("write", this.#place.path, error);
    });
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (this.#state !== "open") throw this.#misuse();
    if (this.#failure !== undefined) throw this.#failure;
    const writing = this.#writing === undefined ? write() : this.#writing.then(write);
    this.#writing = writing;
    try {
      return await writing;
    } catch (error) {
      this.#failure ??= error ?? new Error("the stream failed");
      throw error;
    } finally {
      if (this.#writing === writing) this.#writing = undefined;
    }
  }

  /**
   * Flushes and closes the file, without giving it its name yet, so that several files can get their names together. If
   * that fails, the temporary file is removed.
   *
   * @throws {Error} like {@linkcode commit}.
   */
  async end(): Promise<void> {
    if (this.#state !== "open") throw this.#misuse();
    this.#state = "complete";
    await (this.#ending = this.#end());
  }

  async #end(): Promise<void> {
    const { mtimeMs, mode, flush, replace } = this.#settings;
    try {
      await this.#writing?.catch(() => {}); // stored as the failure
      if (this.#failure !== undefined) throw this.#failure;
      const replaced = replace ? replacedAt(this.#place) : undefined;
      if (replaced !== undefined) keepAttributes(this.#file, replaced);
      if (mode !== undefined) this.#file.chmod(mode); // open() has applied the umask
      if (mtimeMs !== undefined) this.#file.setModified(mtimeMs);
      if (flush) await this.#file.datasync();
      this.#size = this.#file.size();
      await this.#file.close();
    } catch (error) {
      if (this.#state === "gone") throw this.#misuse();
      await this.discard();
      throw fileFailure("complete", this.#place.path, error);
    }
  }

  /**
   * Gives the file its name, and replaces an existing file unless `replace` is false; calls {@linkcode end} first if
   * necessary. On failure, the temporary file is removed, and with `replace: false` the file, too.
   *
   * @throws {Error} with the file's name, the reason why it cannot be completed, and the system's `code`; `EINVAL` also
   * if a link, a device or a pipe has taken the name meanwhile. After a failed write, its error.
   */
  async commit(): Promise<void> {
    await this.#commit();
  }

  async #commit(options: CommitOptions = {}): Promise<void> {
    await (this.#state === "open" ? this.end() : this.#state === "complete" ? this.#ending : undefined);
    if (this.#state !== "complete") throw this.#misuse();
    this.#state = "named";
    await (this.#naming = this.#name(options));
  }

  async #name({ made, ...naming }: CommitOptions): Promise<void> {
    const { followLinks, replace, flush, atOnce } = this.#settings;
    const { path } = this.#place;
    let action = "complete";
    const own: Undoable[] = [];
    const take = async (): Promise<void> => {
      const options = { replace, atOnce, check: stillReplaceable(this.#place, followLinks), ...naming };
      if (made === undefined && (replace || !flush)) await takeName(this.#temporary, path, options);
      else await CreatedFile.take(this.#temporary, path, options, made ?? own);
      this.#leave();
      action = "flush the name of the complete";
    };
    try {
      await (flush ? flushFolder(dirname(path), take) : take());
    } catch (error) {
      if (this.#state === "gone") await undoAll(own); // otherwise an unknown lock file would stay
      await this.#remove();
      throw fileFailure(action, path, error);
    }
  }

  /** Removes the temporary file, unless it was committed; waits for a running `commit()`. */
  async discard(): Promise<void> {
    await (this.#state === "named" ? this.#naming?.catch(() => {}) : this.#remove());
  }

  async #remove(): Promise<void> {
    if (this.#state === "gone") return;
    this.#leave();
    if (!this.#file.isClosed) this.#size = this.#file.size();
    // The file is removed: a failed flush on closing does not matter.
    const closing = this.#file.drop();
    // A running stream cannot be stopped; it continues into a file without a name, which is closed at its end.
    if (!this.#isStreaming) await closing;
    await removeTemporary(this.#temporary);
  }

  /** Removes the file if it was not committed, like {@linkcode discard}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  /** Marks the file as committed or removed. */
  #leave(): void {
    this.#state = "gone";
    dropped.unregister(this);
  }

  #misuse(): TypeError {
    const state = this.#state === "complete" ? "complete" : "committed or discarded";
    return new TypeError(`cannot write ${this.#place.path}: it is ${state}`);
  }
}

/** Writes a text file that is always complete: its name has the former content until then. @throws like {@linkcode AtomicFile.commit}. */
export async function writeAtomically(path: string, text: string, options: AtomicFileOptions = {}): Promise<void> {
  const file = await AtomicFile.open(path, options);
  try {
    await file.write(new TextEncoder().encode(text));
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Removes the temporary files of unreachable {@linkcode AtomicFile}s; no other file ever has such a name. */
const dropped = new FinalizationRegistry<string>((temporary) => void removeTemporary(temporary));
