import { fileFailure } from "./failure.ts";
import type { FileTarget } from "./file_target.ts";
import type { OutputFile } from "./output_file.ts";

/** A file that is written from its beginning, as what a stream writes to. */
export class WholeFile implements FileTarget {
  readonly maxFileSize: number = Infinity;
  readonly room: number = Infinity;
  readonly path: string;
  readonly #file: OutputFile;

  constructor(path: string, file: OutputFile) {
    this.path = path;
    this.#file = file;
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (length === 0) return;
    await this.#file.writev(pieces).catch((error) => {
      throw fileFailure("write", this.path, error);
    });
  }

  async rotate(): Promise<void> {
    // There is no other file: room and sizes have no limit.
  }

  async flush(): Promise<void> {
    await this.#file.sync?.().catch((error) => {
      throw fileFailure("flush", this.path, error);
    });
  }

  commit(): Promise<void> {
    return this.#file.commit();
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }
}
