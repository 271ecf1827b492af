import { constants } from "node:fs";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { sleep, TurnSlicer } from "../timers/mod.ts";
import { failing, failingNow, fileFailure } from "./failure.ts";
import { FileName, LeftFiles } from "./flush.ts";
import type { ImmediateTarget } from "./item_writer.ts";
import { linkFlag, OpenFile } from "./open_file.ts";
import type { FileTarget } from "./output_file.ts";
import { whileLocked } from "./rename.ts";
import { behind } from "./write_fully.ts";

/** The maximum time in ms between two checks whether a full pipe has room. */
const MAX_PAUSE = 20;

export type AppendedFileOptions = Pick<AtomicFileOptions, "followLinks" | "mode" | "flush" | "mtimeMs" | "atOnce">;

/**
 * A file for appending, also by several processes at the same time. Writes are synchronous, so that flushSync() knows
 * the file's content; only a full pipe is awaited.
 */
export class AppendedFile implements FileTarget, ImmediateTarget {
  readonly maxFileSize: number = Infinity;
  readonly cutsLines = false;
  readonly room: number = Infinity;
  readonly takesBack = false; // others may have appended since the failure
  readonly path: string;
  readonly #options: AppendedFileOptions;
  #file: OpenFile;
  #name: FileName;
  /** The pieces of the running write that a pipe has not taken yet. */
  #rest: readonly Uint8Array[] = [];
  /** The reason of a failed write, of which the file may have a part. */
  #failure: { readonly reason: unknown } | undefined = undefined;
  /** The turns of the event loop between writes, however fast these come. */
  readonly #turns = new TurnSlicer();
  /** The files that other programs have renamed. */
  readonly #left = new LeftFiles();

  private constructor(path: string, options: AppendedFileOptions, file: OpenFile) {
    this.path = path;
    this.#options = options;
    this.#file = file;
    this.#name = new FileName(path);
  }

  /** @throws {Error} with the file's name, the reason why it cannot be opened, and the system's `code`. */
  static async open(path: string, options: AppendedFileOptions): Promise<AppendedFile> {
    const opening = OpenFile.open(path, flagsOf(options), options).then((file) => file.withoutWaits(path));
    return new AppendedFile(path, options, await opening.catch(failing("open", path)));
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    this.#rest = pieces;
    try {
      for (let ms = 0; this.#rest.length > 0; ms = Math.min(ms + 1, MAX_PAUSE)) {
        let taken: number;
        try {
          taken = this.#takeRest();
        } catch (error) {
          taken = await whileLocked(error, () => this.#takeRest());
        }
        if (taken > 0) ms = 0;
        else await sleep(ms);
      }
      if (this.#turns.isOver) await this.#turns.next();
    } catch (error) {
      this.#failure = { reason: fileFailure("write", this.path, error) };
      throw this.#failure.reason;
    }
  }

  #takeRest(): number {
    const taken = this.#rest.length === 0 ? 0 : this.#file.takeNow(this.#rest); // flushSync() may have written the rest
    this.#rest = behind(this.#rest, taken);
    return taken;
  }

  async rotate(): Promise<void> {} // there is only one file

  rotateNow(): void {} // like rotate()

  async flush(): Promise<void> {
    await this.#left.flush(async () => {
      await this.#file.datasync().catch(failing("flush", this.path));
      await this.#name.flush();
    });
  }

  reopen(): void {
    const old = this.#file;
    const { path } = this;
    const options = this.#options;
    this.#file = failingNow("open", path, () => OpenFile.openWithoutWaits(path, flagsOf(options), options));
    this.#name = new FileName(this.path);
    this.#left.flushAndClose(old, this.path);
  }

  settleNow(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
    const rest = this.#rest;
    this.#rest = []; // a failure errors the stream
    failingNow("flush", this.path, () => this.#file.writeNow(rest));
  }

  writeNow(pieces: readonly Uint8Array[]): void {
    failingNow("write", this.path, () => this.#file.writeNow(pieces));
  }

  flushNow(): void {
    if (this.#file.isClosed) return;
    this.#left.flushNow(() => {
      failingNow("flush", this.path, () => this.#file.datasyncNow());
      this.#name.flushNow();
    });
  }

  async commit(): Promise<void> {
    const { flush, mtimeMs } = this.#options;
    if (mtimeMs !== undefined) this.#file.setModified(mtimeMs);
    if (flush) await this.flush();
    await this.#file.close();
    await this.#left.flush();
  }

  async discard(): Promise<void> {
    await this.#file.drop(); // the reason of the discard is already being thrown
    await this.#left.flush().catch(() => {});
  }
}

function flagsOf({ followLinks }: AppendedFileOptions): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  return O_APPEND | O_CREAT | O_WRONLY | linkFlag(followLinks);
}
