import { printable } from "../answer/printable.ts";
import type { Resource } from "../answer/resource.ts";
import type { Settings } from "../answer/settings.ts";
import type { Warn } from "../scan/representation.ts";
import { warnOnce } from "../answer/warn_once.ts";

/** The page of an application that routes by itself: the response for paths without a file. */
export class Fallback {
  readonly #basePath: string;
  readonly #choose: (path: string) => string | undefined;
  readonly #find: (file: string) => Resource | undefined;
  readonly #warn: Warn;
  /** By path of the file. */
  readonly #pages = new Map<string, Resource>();

  /** @param find The file at a path below the folder. */
  constructor(
    choose: (path: string) => string | undefined,
    find: (file: string) => Resource | undefined,
    { basePath, warn }: Settings,
  ) {
    this.#choose = choose;
    this.#find = find;
    this.#basePath = basePath;
    this.#warn = warnOnce(warn);
  }

  /**
   * The page for a decoded path, for clients that accept HTML. A path with an extension has none: a file is missing there.
   *
   * @returns undefined if there is none; `"failed"` if the function that chooses it threw.
   */
  at(path: string): Resource | "failed" | undefined {
    if (path.includes(".", path.lastIndexOf("/")) || !path.startsWith(this.#basePath)) return undefined;
    const below = path.slice(this.#basePath.length);
    try {
      const file = this.#choose(below);
      return file ? this.#page(String(file).replace(/^\/+/, "")) : undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn("", `fallback() failed for "${printable(below)}": ${reason}`);
      return "failed";
    }
  }

  #page(file: string): Resource | undefined {
    const known = this.#pages.get(file);
    if (known) return known;
    const page = this.#find(file)?.varyingBy("Accept");
    if (page) this.#pages.set(file, page);
    else this.#warn(file, "fallback() names it, but it is not among the files of the folder");
    return page;
  }
}
