import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin } from "./places.ts";

/** The real location of a path below a folder. */
export interface RealPlace {
  /** The absolute path by the folder that it is in, whatever links lead there. Its last part may be a link itself. */
  readonly path: string;
  /** Whether that folder is within the one that all paths are below. */
  readonly isInside: boolean;
  /** Whether no link is on the way. */
  readonly isDirect: boolean;
}

/** Follows the links on the way to paths below a folder. */
export class RealPlaces {
  readonly #root: string;
  /** Real paths of folders that exist, by their paths below the root. */
  readonly #folders = new Map<string, string>();

  /** @param root A real path. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the real location of `path`; undefined if its folder is missing. */
  async of(path: string): Promise<RealPlace | undefined> {
    const folder = dirname(path);
    const real = this.#folders.get(folder) ?? await this.#look(folder);
    if (real === undefined) return undefined;
    const name = path.slice(folder === "." ? 0 : folder.length + 1);
    return {
      path: join(real, name),
      isInside: isWithin(real, this.#root),
      isDirect: real === join(this.#root, folder),
    };
  }

  async #look(folder: string): Promise<string | undefined> {
    try {
      const real = await realpath(join(this.#root, folder));
      if (!(await lstat(real)).isDirectory()) return undefined;
      this.#folders.set(folder, real);
      return real;
    } catch (error) {
      // A link that leads nowhere, or a file where a folder was, has nothing below it.
      if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
      throw error;
    }
  }

  /** Forgets what was seen: folders have been removed. */
  forget(): void {
    this.#folders.clear();
  }
}
