import { DecompressionStream, type Format } from "../../codecs/mod.ts";
import { openFileReadable } from "../open_file_readable.ts";
import type { FollowedFile } from "./followed_file.ts";

/** A file that is complete, and was compressed before it was read. */
export class PackedFile implements FollowedFile {
  readonly id: string;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

  private constructor(path: string, reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>) {
    this.id = path;
    this.#reader = reader;
  }

  /** @throws {Error} why it cannot be read, with the system's `code`. */
  static async open(path: string, format: Format): Promise<PackedFile> {
    const stream = (await openFileReadable(path)).pipeThrough(new DecompressionStream(format));
    return new PackedFile(path, stream.getReader());
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return (await this.#reader.read()).value;
  }

  hasBytes(): boolean {
    return true;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}
