import { fileFailure } from "./failure.ts";
import type { FileTarget } from "./file_target.ts";
import type { ImmediateTarget } from "./item_writer.ts";
import { OpenFile } from "./open_file.ts";
import { UnderWay } from "./under_way.ts";
import { writeFully } from "./write_fully.ts";

/** How {@linkcode AppendedFile.open} opens a file, and ends it. */
export interface AppendedFileOptions {
  readonly mode?: number;
  readonly flush?: boolean;
  readonly mtimeMs?: number;
  readonly atOnce?: boolean;
}

/** A file that goes on behind what is in it, which others may do at the same time. */
export class AppendedFile implements FileTarget, ImmediateTarget {
  readonly maxFileSize: number = Infinity;
  readonly room: number = Infinity;
  readonly path: string;
  readonly #options: AppendedFileOptions;
  #file: OpenFile;
  #underWay: UnderWay | undefined = undefined;
  /** The end of files that were reopened. */
  #closing: Promise<unknown> = Promise.resolve();

  private constructor(path: string, options: AppendedFileOptions, file: OpenFile) {
    this.path = path;
    this.#options = options;
    this.#file = file;
  }

  /** @throws {Error} that names the file and says why it cannot be opened, with the system's `code`. */
  static async open(path: string, options: AppendedFileOptions): Promise<AppendedFile> {
    const file = await OpenFile.open(path, "a", options).catch((error) => {
      throw fileFailure("open", path, error);
    });
    return new AppendedFile(path, options, file);
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (length === 0) return;
    this.#underWay = new UnderWay(this.#file, pieces);
    try {
      await writeFully(this.#underWay, pieces);
    } catch (error) {
      throw fileFailure("write", this.path, error);
    } finally {
      this.#underWay = undefined;
    }
  }

  async rotate(): Promise<void> {
    // There is no other file: room and sizes have no limit.
  }

  rotateNow(): void {
    // As rotate().
  }

  async flush(): Promise<void> {
    await this.#file.datasync().catch((error) => {
      throw fileFailure("flush", this.path, error);
    });
  }

  reopen(): void {
    const old = this.#file;
    try {
      this.#file = OpenFile.openNow(this.path, "a", this.#options.mode);
    } catch (error) {
      throw fileFailure("open", this.path, error);
    }
    this.#closing = Promise.all([this.#closing, old.close().catch(() => {})]); // its bytes are in the system's hands
  }

  settleNow(): void {
    try {
      this.#underWay?.finishNow();
    } catch (error) {
      throw fileFailure("flush", this.path, error);
    }
    this.#underWay = undefined;
  }

  writeNow(pieces: readonly Uint8Array[]): void {
    try {
      for (const piece of pieces) this.#file.writeNow(piece);
    } catch (error) {
      throw fileFailure("write", this.path, error);
    }
  }

  flushNow(): void {
    this.#file.datasyncNow();
  }

  async commit(): Promise<void> {
    const { flush, mtimeMs } = this.#options;
    if (mtimeMs !== undefined) await this.#file.setModified(mtimeMs);
    if (flush) await this.#file.datasync();
    await this.#file.close();
    await this.#closing;
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {}); // why it is discarded is being told already
    await this.#closing;
  }
}
