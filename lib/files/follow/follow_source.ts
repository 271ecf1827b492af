import type { ReadableByteStreamController } from "../../streams/mod.ts";
import { Pause } from "../../timers/mod.ts";
import { fileFailure, warn } from "../failure.ts";

export interface FollowedFile {
  /** Tells it from other files, also from one of the same name. */
  readonly id: string;
  /** Whether what follows was not written behind what was read last: the file was cut, or begun anew. */
  isBroken: boolean;
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  hasBytes(): boolean;
  close(): Promise<void>;
}

/** The files that are followed, one after the other. */
export interface Trail {
  /** The path or the series, for messages. */
  readonly path: string;
  /** Whether a line ends with its file. */
  readonly endsLines: boolean;
  /** Opens the file to begin with; undefined if there is none yet. */
  first(): Promise<FollowedFile | undefined>;
  /** Opens the file that came after `newest`, or any if there was none; undefined if there is none yet. */
  next(newest: FollowedFile | undefined): Promise<FollowedFile | undefined>;
}

/** The options of {@linkcode FollowSource}, checked. */
export interface FollowSourceOptions {
  readonly interval: number;
  readonly onWarning: ((error: Error) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const LINE_FEED = 10;

/** Files that are opened ahead of being read, at most. */
const MOST_AHEAD = 16;

/**
 * The source of a stream that follows files. It works while somebody reads, and looks for new files every `interval` ms
 * then, wherever it is in the present one, so that one that is renamed twice is not missed.
 */
export class FollowSource {
  readonly type = "bytes";
  readonly #trail: Trail;
  readonly #options: FollowSourceOptions;
  /** The file that is read, and those after it. */
  readonly #files: FollowedFile[] = [];
  /** When files were looked for, in ms since the process began. */
  #lookedAt = 0;
  /** The message of the last warning; undefined if there was nothing to warn of since. */
  #warning: string | undefined = undefined;
  #hasEnded = false;
  /** The last byte that was read; a line feed if there was none. */
  #last = LINE_FEED;
  readonly #pause: Pause = new Pause();
  #onAbort: (() => void) | undefined = undefined;

  constructor(trail: Trail, options: FollowSourceOptions) {
    this.#trail = trail;
    this.#options = options;
  }

  async open(): Promise<void> {
    try {
      this.#add(await this.#trail.first());
    } catch (error) {
      throw fileFailure("read", this.#trail.path, error);
    }
  }

  start(controller: ReadableByteStreamController): void {
    const { signal } = this.#options;
    if (signal === undefined) return;
    this.#onAbort = () => {
      controller.error(signal.reason);
      this.cancel().catch(() => {}); // why it ends is being told already
    };
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort);
  }

  async pull(controller: ReadableByteStreamController): Promise<void> {
    try {
      const bytes = await this.#next();
      if (bytes === undefined || this.#hasEnded) return;
      const [file] = this.#files;
      if (file.isBroken && this.#last !== LINE_FEED) controller.enqueue(Uint8Array.of(LINE_FEED));
      file.isBroken = false;
      this.#last = bytes[bytes.length - 1];
      controller.enqueue(bytes);
    } catch (error) {
      if (this.#hasEnded) return;
      await this.cancel().catch(() => {}); // the first error tells more
      throw fileFailure("read", this.#trail.path, error);
    }
  }

  async cancel(): Promise<void> {
    this.#hasEnded = true;
    if (this.#onAbort) this.#options.signal!.removeEventListener("abort", this.#onAbort);
    this.#pause.end();
    await Promise.all(this.#files.splice(0).map((file) => file.close()));
  }

  /** Waits for the next bytes; undefined at the end of the stream. */
  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { interval } = this.#options;
    while (!this.#hasEnded) {
      if (performance.now() - this.#lookedAt >= interval) await this.#look();
      // An empty file is not the next one yet: a program may still have the former one.
      const hasFollower = this.#files.some((file, i) => i > 0 && file.hasBytes());
      const bytes = await this.#files[0]?.read();
      if (bytes !== undefined) return bytes;
      if (this.#hasEnded) return undefined;
      if (hasFollower) {
        const [, next] = this.#files;
        next.isBroken = this.#trail.endsLines || this.#files[0].isBroken;
        await this.#files.shift()!.close();
      } else if (!await this.#look() && !this.#hasEnded) await this.#pause.wait(interval);
    }
    return undefined;
  }

  /** Opens the next file, if there is one; returns whether there is. */
  async #look(): Promise<boolean> {
    this.#lookedAt = performance.now();
    if (this.#files.length > MOST_AHEAD) return false;
    try {
      const file = await this.#trail.next(this.#files.at(-1));
      this.#warning = undefined;
      return this.#add(file);
    } catch (error) {
      const failure = fileFailure("read", this.#trail.path, error);
      if (failure.message !== this.#warning && !this.#hasEnded) {
        this.#warning = failure.message;
        warn(this.#options.onWarning, failure);
      }
      return false; // as if there were none: another program may be about to replace what is there
    }
  }

  #add(file: FollowedFile | undefined): boolean {
    if (file === undefined) return false;
    if (this.#hasEnded) file.close().catch(() => {}); // nobody reads it
    else this.#files.push(file);
    return true;
  }
}
