import { type FSWatcher, statSync, watch } from "node:fs";
import { clearTimeout, setTimeout } from "node:timers";

/** How long changes may come one after the other before they are told, in ms. */
const SETTLING = 100;
/** How long such changes put that off at most, in ms. */
const LONGEST_WAIT = 1000;

/** Tells of changes in a folder and in those below it, of many that come together once. */
export class FolderWatch {
  readonly #directory: string;
  readonly #onChange: () => void;
  readonly #onError: (error: Error) => void;
  #watcher: FSWatcher;
  /** The number of the folder that is watched: another one may get its name. */
  #number: number | undefined;
  /** When the first of the changes came that are to be told next, in ms. */
  #first: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @throws {Error} what the file system says. */
  constructor(directory: string, onChange: () => void, onError: (error: Error) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#onError = onError;
    this.#watcher = this.#open();
  }

  /** Looks at the folder that has the name now, if that is another one than before. */
  renew(): void {
    if (numberOf(this.#directory) === this.#number) return;
    this.#watcher.close();
    this.#watcher = this.#open();
  }

  close(): void {
    this.#watcher.close();
    clearTimeout(this.#timer);
  }

  #open(): FSWatcher {
    this.#number = numberOf(this.#directory);
    return watch(this.#directory, { recursive: true }, () => this.#tellSoon()).on("error", this.#onError);
  }

  #tellSoon(): void {
    const now = performance.now();
    this.#first ??= now;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#first = undefined;
      this.#onChange();
    }, Math.min(SETTLING, Math.max(0, this.#first + LONGEST_WAIT - now)));
    this.#timer.unref();
  }
}

function numberOf(directory: string): number | undefined {
  return statSync(directory, { throwIfNoEntry: false })?.ino;
}
