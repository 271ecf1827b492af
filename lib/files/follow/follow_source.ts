import type { BigIntStats } from "node:fs";
import type { ReadableByteStreamController } from "../../streams/mod.ts";
import { Pause } from "../../timers/mod.ts";
import { codeOf, fileFailure, warn } from "../failure.ts";
import { endOnAbort } from "../open_file_readable.ts";
import type { FollowPosition } from "./line_place.ts";
import { type FollowedIdentity, LinePlace, type Mark, proofOf, provenHead } from "./line_place.ts";

export interface FollowedFile {
  readonly identity: FollowedIdentity;
  /** The file's number in a series. */
  number: number | undefined;
  /** The present status; only of a plain file. */
  readonly status?: BigIntStats;
  readonly place: LinePlace;
  /** Whether the next bytes do not continue the last ones read, because the file was truncated or rewritten. */
  isBroken: boolean;
  /** Reads the next bytes, at most `most`; undefined if there are none now. */
  read(most: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  hasBytes(): boolean;
  close(): Promise<void>;
}

/** The followed files, in order. */
export interface FileSequence {
  /** The path of the file or series, for messages. */
  readonly path: string;
  /** Whether the end of a file also ends a line. */
  readonly endsLines: boolean;
  /** The number of the newest file in a series. */
  readonly number: number | undefined;
  /** Opens the initial files, in order, or those from `position` on; the list is empty while no file exists. */
  first(warn: (error: Error) => void, position?: FollowPosition): Promise<FollowedFile[]>;
  /** Opens the file after `newest`, or any file without `newest`; undefined if there is none yet. */
  next(newest: FollowedFile | undefined): Promise<FollowedFile | undefined>;
}

export interface FollowSourceOptions {
  readonly interval: number;
  readonly onWarning: ((error: Error) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const LINE_FEED = 10;

/** The maximum number of files that are opened ahead of being read. */
const MAX_AHEAD = 16;

/**
 * The source of a stream that follows files. It works while the stream is read, and checks for new files every
 * `interval` ms, whatever its position in the current one, so that a file that is renamed twice is not missed.
 */
export class FollowSource {
  readonly type = "bytes";
  readonly #trail: FileSequence;
  readonly #options: FollowSourceOptions;
  /** The current file, and those after it. */
  readonly #files: FollowedFile[] = [];
  /** The time of the last check for files, in ms since the process started. */
  #lookedAt = 0;
  /** The message of the last warning; undefined if there was no problem since. */
  #warning: string | undefined = undefined;
  #hasEnded = false;
  /** The last byte that was read; initially a line feed. */
  #last = LINE_FEED;
  readonly #pause: Pause = new Pause();
  #ignoreSignal: (() => void) | undefined = undefined;
  /** The position after the last whole line that was delivered. */
  #given!: { readonly identity: FollowedIdentity; readonly number: number | undefined; readonly mark: Mark };

  constructor(trail: FileSequence, options: FollowSourceOptions) {
    this.#trail = trail;
    this.#options = options;
  }

  async open(): Promise<void> {
    try {
      for (const file of await this.#trail.first((error) => warn(this.#options.onWarning, error))) this.#add(file);
      this.#note(this.#files[0]);
    } catch (error) {
      throw fileFailure("read", this.#trail.path, error);
    }
  }

  get position(): FollowPosition {
    const { identity, number, mark } = this.#given;
    const head = provenHead(mark);
    return {
      ...identity,
      ...(number === undefined ? {} : { number }),
      offset: mark.offset,
      head,
      proof: proofOf(mark, head),
    };
  }

  #note(file: FollowedFile | undefined): void {
    const identity = file?.identity ?? { file: "", born: 0, time: Date.now() };
    const { number = this.#trail.number, place = new LinePlace() } = file ?? {};
    this.#given = { identity, number, mark: place.mark };
  }

  start(controller: ReadableByteStreamController): void {
    this.#ignoreSignal = endOnAbort(this.#options.signal, controller, this);
  }

  async pull(controller: ReadableByteStreamController): Promise<void> {
    try {
      // All bytes of a read are delivered at once: bytes queued by the stream would be ahead of the position.
      const room = controller.byobRequest?.view?.byteLength ?? Infinity;
      const bytes = await this.#next(this.#last === LINE_FEED ? room : Math.max(1, room - 1));
      if (bytes === undefined || this.#hasEnded) return;
      const [file] = this.#files;
      const isCut = file.isBroken && this.#last !== LINE_FEED;
      file.isBroken = false;
      // A line that continues in another file is complete in neither.
      if (isCut || this.#last === LINE_FEED || bytes.includes(LINE_FEED)) this.#note(file);
      this.#last = bytes[bytes.length - 1];
      controller.enqueue(isCut ? afterLineFeed(bytes) : bytes);
    } catch (error) {
      if (this.#hasEnded) return;
      await this.cancel().catch(() => {}); // the first error is more specific
      throw fileFailure("read", this.#trail.path, error);
    }
  }

  async cancel(): Promise<void> {
    this.#hasEnded = true;
    this.#ignoreSignal?.();
    this.#pause.end();
    await this.#close();
  }

  async #close(): Promise<void> {
    await Promise.all(this.#files.splice(0).map((file) => file.close()));
  }

  /** Waits for the next bytes; undefined at the end of the stream. */
  async #next(most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      try {
        return await this.#nextOpened(most);
      } catch (error) {
        if (codeOf(error) !== "ESTALE" || this.#hasEnded) throw error;
        await this.#reopen();
      }
    }
  }

  /** Opens the files again, from the position on: a file server has forgotten or replaced an open one. */
  async #reopen(): Promise<void> {
    await this.#close().catch(() => {}); // a stale file may fail to close
    while (!this.#hasEnded) {
      await this.#pause.wait(this.#options.interval);
      try {
        for (const file of await this.#trail.first((error) => this.#warn(error), this.position)) this.#add(file);
        return;
      } catch (error) {
        this.#warn(fileFailure("read", this.#trail.path, error));
      }
    }
  }

  /** Waits for the next bytes of the open files; undefined at the end of the stream. */
  async #nextOpened(most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { interval } = this.#options;
    while (!this.#hasEnded) {
      if (performance.now() - this.#lookedAt >= interval) await this.#look();
      // An empty file is not the next one yet: a program may still write to the former one.
      const hasFollower = this.#files.some((file, i) => i > 0 && file.hasBytes());
      const bytes = await this.#files[0]?.read(most);
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
    if (this.#files.length > MAX_AHEAD) {
      const lost = "files that come and go until one of them has been read are lost";
      if (this.#trail.number === undefined) {
        this.#warn(new Error(`${MAX_AHEAD} files of ${this.#trail.path} wait: ${lost}`));
      }
      return false;
    }
    try {
      const file = await this.#trail.next(this.#files.at(-1));
      this.#warning = undefined;
      return this.#add(file);
    } catch (error) {
      this.#warn(fileFailure("read", this.#trail.path, error));
      return false; // as if there were no file: another program may be about to replace the object
    }
  }

  #warn(failure: Error): void {
    if (failure.message === this.#warning || this.#hasEnded) return;
    this.#warning = failure.message;
    warn(this.#options.onWarning, failure);
  }

  #add(file: FollowedFile | undefined): boolean {
    if (file === undefined) return false;
    file.isBroken ||= this.#files.length === 0; // it may be opened again, without the rest of a line
    if (this.#hasEnded) file.close().catch(() => {}); // no read uses the file
    else this.#files.push(file);
    return true;
  }
}

function afterLineFeed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(1 + bytes.length);
  joined[0] = LINE_FEED;
  joined.set(bytes, 1);
  return joined;
}
