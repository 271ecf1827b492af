import { type FSWatcher, statSync, watch } from "node:fs";
import { watchesTrees } from "../../runtime/mod.ts";

/** A folder's watcher, and the identity of the folder that it watches. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly identity: string | undefined;
}

/**
 * Watches a folder and the folders below it, by one recursive watcher of the system or a watcher for each folder, where
 * the runtime's own recursion would end the process at a folder that it may not read.
 */
export class TreeWatcher {
  readonly #onChange: () => void;
  readonly #onError: (error: Error) => void;
  readonly #watched: Map<string, Watched> = new Map();
  #isClosed = false;

  /** @param folders The folders below `directory` that the last scan found, as real paths. */
  constructor(
    directory: string,
    folders: readonly string[],
    onChange: () => void,
    onError: (error: Error) => void,
  ) {
    this.#onChange = onChange;
    this.#onError = onError;
    if (watchesTrees()) this.#add(directory, identityOf(directory), { recursive: true });
    else this.renew(folders);
  }

  /** Watches the folders that a scan has found, and no others; returns whether some of them were not watched before. */
  renew(folders: readonly string[]): boolean {
    if (watchesTrees()) return false;
    const found = new Set(folders);
    for (const folder of [...this.#watched.keys()].filter((folder) => !found.has(folder))) this.#remove(folder);
    let hasNew = false;
    for (const folder of found) {
      const identity = identityOf(folder);
      if (identity === undefined || this.#watched.get(folder)?.identity === identity) continue;
      this.#remove(folder);
      if (this.#add(folder, identity, {})) hasNew = true;
    }
    return hasNew;
  }

  close(): void {
    this.#isClosed = true;
    for (const folder of [...this.#watched.keys()]) this.#remove(folder);
  }

  #add(folder: string, identity: string | undefined, options: { readonly recursive?: boolean }): boolean {
    try {
      const watcher = watch(folder, options, this.#onChange).on("error", (error) => {
        if (this.#isClosed) return;
        this.#onChange();
        this.#onError(error);
      });
      this.#watched.set(folder, { watcher, identity });
      return true;
    } catch (error) {
      this.#onError(error as Error);
      return false;
    }
  }

  #remove(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}

/** Returns a folder's identity. The inode number does not suffice: systems reuse that of a removed folder for the next one. */
export function identityOf(directory: string): string | undefined {
  try {
    const { ino, birthtimeNs } = statSync(directory, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    return undefined;
  }
}
