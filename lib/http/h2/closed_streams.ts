import { ConnectionFault, STREAM_CLOSED } from "./error_codes.ts";
import { frameName } from "./frame_types.ts";

/** Streams that are remembered; frames of those before are ignored, whoever ended them. */
const REMEMBERED = 1000;

/**
 * Streams that a reset ended: what a server sends on those that we reset may have been under way, and is ignored. On all others
 * nothing may come once the server has ended them.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.1}
 */
export class ClosedStreams {
  /** By their ids; true: the server reset it, and was not told since that it is closed. */
  readonly #reset = new Map<number, boolean>();
  #forgotten = 0;

  /** Remembers a stream that we reset, or that the server never looked at. */
  addOurs(id: number): void {
    this.#add(id, false);
  }

  /** Remembers a stream that the server reset. */
  addTheirs(id: number): void {
    this.#add(id, true);
  }

  /**
   * Judges a frame for a stream that was opened, and is closed.
   *
   * @return Whether the stream has to be reset with STREAM_CLOSED; else the frame is ignored.
   * @throws {ConnectionFault} if the server had ended the stream with its response.
   */
  judge(id: number, type: number): boolean {
    const isTheirs = this.#reset.get(id);
    if (isTheirs === undefined && id > this.#forgotten) {
      throw new ConnectionFault(
        STREAM_CLOSED,
        `the server sent a ${frameName(type)} frame for stream ${id}, which it had ended`,
      );
    }
    if (isTheirs === true) this.#reset.set(id, false);
    return isTheirs === true;
  }

  #add(id: number, isTheirs: boolean): void {
    this.#reset.set(id, isTheirs);
    if (this.#reset.size <= REMEMBERED) return;
    const [oldest] = this.#reset.keys();
    this.#reset.delete(oldest!);
    this.#forgotten = Math.max(this.#forgotten, oldest!);
  }
}
