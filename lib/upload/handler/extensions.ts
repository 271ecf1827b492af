import { described } from "../../streams/internal.ts";
/** An extension as users write it, with or without its dot: `png`, `.png`, `tar.gz`. */
const EXTENSION = /^\.?[^\s./\\*?]+(?:\.[^\s./\\*?]+)*$/;
/** How many are named in a message. */
const MOST_SHOWN = 10;

/** The extensions that the names of files may have. */
export class Extensions {
  /** In lower case, each with its dot. */
  readonly #endings: readonly string[];

  /** @throws {TypeError} if it is no list, an empty one, or something else than an extension is in it. */
  constructor(extensions: readonly string[]) {
    if (!Array.isArray(extensions) || extensions.length === 0) throw notExtensions(extensions);
    this.#endings = extensions.map((extension: unknown) => {
      if (typeof extension !== "string" || !EXTENSION.test(extension)) throw notExtensions(extension);
      return `.${extension.replace(/^\./, "").toLowerCase()}`;
    });
  }

  /** Whether a file may be called so: its last extension counts, in capitals too. */
  accepts(name: string): boolean {
    const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
    return this.#endings.some((ending) => last.endsWith(ending) && last.length > ending.length);
  }

  /** For messages. */
  toString(): string {
    const shown = this.#endings.slice(0, MOST_SHOWN).join(", ");
    return this.#endings.length > MOST_SHOWN ? `${shown}, …` : shown;
  }
}

function notExtensions(value: unknown): TypeError {
  return new TypeError(`extensions must be a list of extensions, such as ["png", "pdf"], not ${described(value)}`);
}
