import { Buffer } from "node:buffer";
import { endBytes, refuseOptions, signal as signalMember } from "../streams/internal.ts";
import { type ReadableByteStreamController, ReadableStream } from "../streams/mod.ts";
import { failing, fileFailure } from "./failure.ts";
import { filePath } from "./names.ts";
import { OpenFile } from "./open_file.ts";

/** The bytes of one read. Smaller reads take a third more time; larger ones take more memory, without a gain on Node. */
const READ_SIZE = 256 * 1024;

/** The way out for options such as those of `createReadStream()`, which would otherwise have the whole file read. */
const OF_A_PART = ": it reads whole files; for parts, use fromNodeReadable(createReadStream(path, { start, end }))";

const givenSignal = /* @__PURE__ */ signalMember();

/**
 * Opens a file as a ReadableStream of bytes. One piece is read ahead, while the consumer processes another. The file is
 * closed at its end, when reading fails, when the stream is cancelled, or when an unreachable stream is
 * garbage-collected. It is a byte stream: a BYOB reader reads into buffers of the caller. The signal that `map()` of
 * `node:stream` passes beside a path ends it, too.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} with the file's name, the reason why it cannot be read, and the system's `code`; reads reject in the
 * same way.
 * @example A file as a response
 * ```ts
 * import { openFileReadable } from "@millrace/streams/files";
 *
 * const page = new Response(await openFileReadable("page.html"), { headers: { "content-type": "text/html" } });
 * console.log(await page.text()); // <!doctype html>…
 * ```
 */
export async function openFileReadable(path: string | URL): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  refuseOptions("openFileReadable()", arguments[1], OF_A_PART);
  const named = filePath(path);
  const { signal } = Object(arguments[1]) as { readonly signal?: AbortSignal };
  if (signal !== undefined) givenSignal.check(signal, "signal").throwIfAborted();
  return readableOf(await OpenFile.open(named, "r").catch(failing("read", named)), named, signal);
}

/** Returns a stream of an open file's bytes, which closes the file at its end. */
export function readableOf(
  file: OpenFile,
  path: string,
  signal?: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(new FileSource(file, path, signal), { highWaterMark: READ_SIZE });
}

/** Ends a stream and its source with the reason of a signal; returns a function that has the signal ignored from then on. */
export function endOnAbort(
  signal: AbortSignal | undefined,
  controller: ReadableByteStreamController,
  source: { cancel(): Promise<void> },
): () => void {
  if (signal === undefined) return () => {};
  const [stream, bytes] = [new WeakRef(controller), new WeakRef(source)]; // the signal may outlive an unreachable stream
  const onAbort = (): void => {
    stream.deref()?.error(signal.reason);
    bytes.deref()?.cancel().catch(() => {}); // the reason of its end is already being thrown
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort);
  return () => signal.removeEventListener("abort", onAbort);
}

class FileSource {
  readonly type = "bytes";
  readonly #file: OpenFile;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  #ignoreSignal: (() => void) | undefined = undefined;
  #isCanceled = false;
  #isAtEnd = false;
  #closing: Promise<void> | undefined = undefined;

  constructor(file: OpenFile, path: string, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#path = path;
    this.#signal = signal;
  }

  start(controller: ReadableByteStreamController): void {
    this.#ignoreSignal = endOnAbort(this.#signal, controller, this);
  }

  async pull(controller: ReadableByteStreamController): Promise<void> {
    if (this.#isAtEnd) return this.#end(controller);
    const request = controller.byobRequest;
    const lent = request?.view as Uint8Array<ArrayBuffer> | undefined;
    // `new Uint8Array(READ_SIZE)` would clear memory that was used before.
    const bytes = lent ?? new Uint8Array(Buffer.allocUnsafeSlow(READ_SIZE).buffer);
    let bytesRead: number;
    try {
      bytesRead = await this.#file.read(bytes);
    } catch (error) {
      await this.cancel().catch(() => {}); // the first error is more specific
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

  /** Closes the stream, but not while bytes are queued: a BYOB read with a larger `min` would then fail. */
  #end(controller: ReadableByteStreamController): void {
    if (controller.byobRequest === null && controller.desiredSize! < READ_SIZE) return;
    this.#ignoreSignal!();
    endBytes(controller); // also a read that was requested meanwhile
  }

  async cancel(): Promise<void> {
    this.#isCanceled = true;
    this.#ignoreSignal?.();
    // A read of a pipe ends only with a write to the pipe, which may never happen.
    const mayTakeForEver = this.#file.isBusy && !this.#file.status().isFile();
    const closing = this.#close(); // closes after the read has ended
    if (mayTakeForEver) closing.catch(() => {}); // a pipe without a writer is not awaited
    else await closing;
  }

  #close(): Promise<void> {
    return this.#closing ??= this.#file.close();
  }
}
