import type { FileParts } from "../answer/answer.ts";
import { FileReader } from "./file_reader.ts";

/** How long the file of a body that nobody reads stays open, in ms. */
const UNREAD = 500;

/**
 * Parts of a file as the body of a Response. A body that nobody reads or cancels (that of a framework that answers HEAD
 * from GET) lets go of the file after a while; it is opened again, and held against what was scanned, if somebody does.
 *
 * A default stream: on all runtimes one of type "bytes" is slower, on Node by a third.
 *
 * @param track Given a promise when the file is open, that is fulfilled when it is done with.
 * @throws {Error} if the file cannot be opened, or is not what was scanned.
 */
export function fileBody(
  file: FileParts,
  track: (sending: Promise<void>) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let reader: FileReader | undefined;
  let done: () => void;
  const open = (): FileReader => {
    const opened = reader = new FileReader(file);
    track(new Promise((resolve) => done = resolve));
    return opened;
  };
  const leave = (): void => {
    reader?.close();
    reader = undefined;
    done();
  };
  open();
  const timer = setTimeout(leave, UNREAD);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller): Promise<void> {
      clearTimeout(timer);
      try {
        const { ahead } = reader ??= open();
        // A new one each time: runtimes send from the piece itself, and do not tell when they have.
        const piece = new Uint8Array(ahead);
        const length = await reader.read(piece);
        if (length === 0) return; // canceled
        controller.enqueue(length === ahead ? piece : piece.subarray(0, length));
        if (reader.ahead > 0) return;
      } catch (error) {
        done();
        throw error;
      }
      controller.close();
      done();
    },
    cancel(): void {
      clearTimeout(timer);
      leave();
    },
  }, { highWaterMark: 0 });
}
