import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
   * The time of last change to give the file, in ms since 1970; one before is rounded down to a whole second.
   *
   * @default now
   */
  mtimeMs?: number;
  /**
   * The permission bits to give the file.
   *
   * @default those of the file that it replaces, or what the process gives new files
   */
  mode?: number;
  /**
   * Whether a symbolic link at the path is followed, so that it stays and what it leads to is replaced; if not, the link
   * itself is replaced. Nothing is followed that is not to be replaced.
   *
   * @default true
   */
  followLinks?: boolean;
  /**
   * A file to write to until the file is complete, in place of what is in it. It is not created, so that one that was
   * removed meanwhile stays so.
   *
   * @default a new one in the same folder
   */
  temporary?: string;
  /**
   * Whether what has the file's name already is replaced; if not, `commit()` fails with the code `EEXIST`.
   *
   * @default true
   */
  replace?: boolean;
  /**
   * Whether the file's bytes are flushed to the disk before it gets its name, and then the name, so that both outlive a
   * loss of power. Without it a loss of power may leave an empty file under the name.
   *
   * @default true
   */
  flush?: boolean;
  /**
   * Whether calls of the system are made synchronously, but for those that wait for the disk: for what comes faster
   * than it can be held back.
   *
   * @default false
   */
  atOnce?: boolean;
}

type AtomicFileSchema = SchemaOf<AtomicFileOptions, "followLinks" | "replace" | "flush" | "atOnce">;

export function atomicFileMembers(): AtomicFileSchema["members"] {
  return {
    mtimeMs: number(-8.64e15, 8.64e15), // as of a Date
    mode: changed(integer(0, 2 ** 32 - 1), (mode) => mode & 0o7777), // a status has more bits
    followLinks: bool(true),
    temporary: lasting(text(undefined, "a path", (path) => path !== "")),
    replace: bool(true),
    flush: bool(true),
    atOnce: bool(false),
  };
}

export const atomicFileOptions: AtomicFileSchema = /* @__PURE__ */ schema("AtomicFile", atomicFileMembers);

type Settings = ReturnType<typeof atomicFileOptions>;

/** Opens an {@linkcode AtomicFile} at a place that was looked at just before: another look costs up to 10 µs. */
export let openAtomicFileAt: (place: Place, options: AtomicFileOptions) => Promise<AtomicFile>;

/** `made` takes note of what undoes it: also if it fails, since the file may have its name all the same. */
type CommitOptions = Pick<NameOptions, "before" | "path"> & { readonly made?: Undoable[] | undefined };

export let commitFile: (file: AtomicFile, options: CommitOptions) => Promise<void>;

/** Whether the file system of a file that is still temporary finds it by its name in another case. */
export let ignoresCase: (file: AtomicFile) => boolean;

/**
 * A file that appears under its name only when it is complete: written under a temporary name in the same folder,
 * flushed to the disk, renamed.
 *
 * A file that is dropped without an end is closed, and the temporary one removed, when the garbage collector finds it.
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
  /** The error of a write that failed: half of what was to be written may be there. */
  #failure: unknown = undefined;
  /** Its bytes at its end. */
  #size = 0;
  #isStreaming = false;

  private constructor(place: Place, temporary: string, settings: Settings, file: OpenFile) {
    this.#place = place;
    this.#temporary = temporary;
    this.#settings = settings;
    this.#file = file;
    // The caller's own temporary file is the caller's to remove.
    if (settings.temporary === undefined) dropped.register(this, temporary, this);
  }

  /**
   * Opens the temporary file for `path`, a path or a `file:` URL.
   *
   * @throws {Error} that names the file and says why it cannot be made, with the system's `code`: `EINVAL` if a device or
   * a pipe has the name, which no file can replace.
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
    // Never open to more users than what it replaces (but for its ACL, which is not kept), not even meanwhile.
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
    ignoresCase = (file) => existsSync(join(dirname(file.#temporary), basename(file.#temporary).toUpperCase()));
  }

  /** Bytes written so far; once the file is complete or discarded, those that were written. */
  get size(): number {
    return this.#file.isClosed ? this.#size : this.#file.size();
  }

  /** Reads bytes written, from the one at `position` on; returns how many were read. */
  readBack(buffer: Uint8Array, position: number): number {
    return this.#file.readBack(buffer, position);
  }

  /** Appends `bytes`. @throws as of {@linkcode writev}. */
  write(bytes: Uint8Array): Promise<void> {
    return this.writev([bytes]);
  }

  /**
   * Appends all bytes of `pieces`, with one call of the system where it takes them at once, behind those of earlier calls.
   * A file that a write failed of is worth nothing: it takes no more, and cannot be committed.
   *
   * @throws {Error} that names the file and says why it cannot be written, with the system's `code`.
   */
  writev(pieces: readonly Uint8Array[]): Promise<void> {
    return this.#write(() => this.#append(pieces));
  }

  /**
   * Appends all bytes of a stream; resolves to how many there were. Where the runtime can do that, which is Bun with
   * the body of a request to its server, they do not pass through JavaScript.
   */
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
   * Everything but the name: flushes the file and closes it, so that several files can get their names together. The
   * temporary file is gone if that fails.
   *
   * @throws {Error} as of {@linkcode commit}.
   */
  async end(): Promise<void> {
    if (this.#state !== "open") throw this.#misuse();
    this.#state = "complete";
    await (this.#ending = this.#end());
  }

  async #end(): Promise<void> {
    const { mtimeMs, mode, flush, replace } = this.#settings;
    try {
      await this.#writing?.catch(() => {}); // kept as the failure
      if (this.#failure !== undefined) throw this.#failure;
      const replaced = replace ? replacedAt(this.#place) : undefined;
      if (replaced !== undefined) await keepAttributes(this.#file, replaced);
      if (mode !== undefined) await this.#file.chmod(mode); // open() applied the umask
      if (mtimeMs !== undefined) await this.#file.setModified(mtimeMs);
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
   * Puts the file under its name, in place of what was there unless `replace` is false; {@linkcode end}s it before if
   * that was not done. The temporary file is gone if that fails, and so is the file if `replace` is false.
   *
   * @throws {Error} that names the file and says why it cannot be completed, with the system's `code`; `EINVAL` also of a
   * link, a device or a pipe that has taken the name meanwhile. If a write failed, what that failed with.
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
      if (this.#state === "gone") await undoAll(own); // a lock that its maker does not know of would stay
      await this.#remove();
      throw fileFailure(action, path, error);
    }
  }

  /** Removes the temporary file, unless it was committed; waits for a `commit()` that is under way. */
  async discard(): Promise<void> {
    await (this.#state === "named" ? this.#naming?.catch(() => {}) : this.#remove());
  }

  async #remove(): Promise<void> {
    if (this.#state === "gone") return;
    this.#leave();
    if (!this.#file.isClosed) this.#size = this.#file.size();
    const closing = this.#file.close().catch(() => {}); // the file goes away: what closing could not flush does not matter
    // A stream cannot be stopped by us; it goes on to a file that has no name any more, which is closed when it ends.
    if (!this.#isStreaming) await closing;
    await removeTemporary(this.#temporary);
  }

  /** {@linkcode discard}s what was not committed. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  /** The file is over: committed, or removed. */
  #leave(): void {
    this.#state = "gone";
    dropped.unregister(this);
  }

  #misuse(): TypeError {
    const state = this.#state === "complete" ? "complete" : "committed or discarded";
    return new TypeError(`cannot write ${this.#place.path}: it is ${state}`);
  }
}

/** Writes a text so that its file never holds half of it. @throws as of {@linkcode AtomicFile.commit}. */
export async function writeAtomically(path: string, text: string, options: AtomicFileOptions = {}): Promise<void> {
  const file = await AtomicFile.open(path, options);
  try {
    await file.write(new TextEncoder().encode(text));
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Removes temporary files whose {@linkcode AtomicFile} was dropped; no other file has ever had such a name. */
const dropped = new FinalizationRegistry<string>((temporary) => void removeTemporary(temporary));
