import { Buffer } from "node:buffer";
import { type ReadableByteStreamController, ReadableStream } from "../streams/mod.ts";
import { failing, fileFailure } from "./failure.ts";
import { filePath } from "./names.ts";
import { OpenFile } from "./open_file.ts";

/** Bytes of one read. Less costs a third more time or above; more costs memory, and gains nothing on Node. */
const READ_SIZE = 256 * 1024;

/**
 * Opens a file as a ReadableStream of bytes. One piece is read ahead, while the consumer is busy with another; the file
 * is closed when its end is read, when reading fails, when the stream is cancelled, and when the garbage collector finds
 * that the stream was dropped. It is a byte stream: with a BYOB reader bytes go into buffers of the caller.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} that names the file and says why it cannot be read, with the system's `code`; so do reads that fail.
 * @example A file as a response
 * ```ts
 * import { openFileReadable } from "@millrace/streams/files";
 *
 * const page = new Response(await openFileReadable("page.html"), { headers: { "content-type": "text/html" } });
 * console.log(await page.text()); // <!doctype html>…
 * ```
 */
export async function openFileReadable(path: string | URL): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const named = filePath(path);
  return readableOf(await OpenFile.open(named, "r").catch(failing("read", named)), named);
}

/** Makes a stream of an open file's bytes, which closes it at its end. */
export function readableOf(file: OpenFile, path: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(new FileSource(file, path), { highWaterMark: READ_SIZE });
}

class FileSource {
  readonly type = "bytes";
  readonly #file: OpenFile;
  readonly #path: string;
  #isCanceled = false;
  #isAtEnd = false;
  #closing: Promise<void> | undefined = undefined;

  constructor(file: OpenFile, path: string) {
    this.#file = file;
    this.#path = path;
  }

  async pull(controller: ReadableByteStreamController): Promise<void> {
    if (this.#isAtEnd) return this.#end(controller);
    const request = controller.byobRequest;
    const lent = request?.view as Uint8Array<ArrayBuffer> | undefined;
    const bytes = lent ?? newBuffer();
    let bytesRead: number;
    try {
      bytesRead = await this.#file.read(bytes);
    } catch (error) {
      await this.#close().catch(() => {}); // the first error tells more
      throw fileFailure("read", this.#path, error);
    }
    if (this.#isCanceled) return;
    if (bytesRead === 0) {
      await this.#close();
      this.#isAtEnd = true;
      if (!this.#isCanceled) this.#end(controller);
    } else if (request) {
      request.respond(bytesRead);
    } else {
      controller.enqueue(bytes.subarray(0, bytesRead));
    }
  }

  /** Closes the stream; not yet while bytes are queued, as a BYOB read whose `min` is more than these would fail then. */
  #end(controller: ReadableByteStreamController): void {
    if (controller.byobRequest === null && controller.desiredSize! < READ_SIZE) return;
    controller.close();
    controller.byobRequest?.respond(0); // of a read that came meanwhile, too
  }

  async cancel(): Promise<void> {
    this.#isCanceled = true;
    // A read of a pipe ends with a write to it, which may never come.
    const mayTakeForEver = this.#file.isBusy && !this.#file.status().isFile();
    const closing = this.#close(); // when the read has ended
    if (mayTakeForEver) closing.catch(() => {}); // a lost end of a pipe is not awaited
    else await closing;
  }

  #close(): Promise<void> {
    return this.#closing ??= this.#file.close();
  }
}

/** Makes a buffer without `new Uint8Array(READ_SIZE)`, which writes zeros first where the memory was used before. */
function newBuffer(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(READ_SIZE).buffer);
}
