import { closeSync } from "node:fs";
import { openToRead, piece, readFully } from "./file_bytes.ts";
import type { Turns } from "./turns.ts";

const HEAD = /^\{"version": 1, "copied": (?:true|false), "files": \{$/;
const FOOT = "}}";
/** How many bytes are read at once. What is at hand survives the collector: with 256 KB at hand the heap grows by 8 MB. */
const AT_ONCE = 32 * 1024;
/** What comes before the record of a file: its path and a colon. */
const KEY = /^"(?:[^"\\]|\\.)*":/;

/**
 * Reads a manifest as precompress writes it, one file a line, without ever holding all of it: that of 10,000 files is
 * 6 MB of text and takes 20 MB of memory when it is parsed as a whole.
 *
 * @param add Given what the manifest says of each file, by path.
 * @returns false if it has another form, or is no manifest at all; what `add` was given is then worth nothing.
 * @throws if it cannot be read.
 */
export async function readManifestLines(
  path: string,
  add: (path: string, record: unknown) => void,
  turns: Turns,
): Promise<boolean> {
  const file = openToRead(path);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const lines = new ManifestLines(add);
    let length = AT_ONCE;
    while (length === AT_ONCE) {
      length = readFully(file, piece, AT_ONCE);
      const text = decoder.decode(piece.subarray(0, length), { stream: length === AT_ONCE });
      if (!lines.take(text)) return false;
      if (turns.isOver) await turns.next();
    }
    return lines.isComplete;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false; // of JSON, of UTF-8
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Puts lines together from pieces, and tells what is in them. */
class ManifestLines {
  readonly #add: (path: string, record: unknown) => void;
  #begun = "";
  #expected: "head" | "record" | "foot" | "nothing" = "head";

  constructor(add: (path: string, record: unknown) => void) {
    this.#add = add;
  }

  get isComplete(): boolean {
    return this.#expected === "nothing" && this.#begun === "";
  }

  /** Whether all lines that end in `text` are as expected. */
  take(text: string): boolean {
    const lines = (this.#begun + text).split("\n");
    this.#begun = lines.pop()!;
    return lines.every((line) => this.#takeLine(line));
  }

  #takeLine(line: string): boolean {
    if (this.#expected === "record") {
      const hasNext = line.endsWith(",");
      const [key] = KEY.exec(line) ?? [];
      if (key === undefined) return false;
      // Not as an object with that key: V8 keeps a hidden class for each key that objects ever had.
      this.#add(JSON.parse(key.slice(0, -1)), JSON.parse(line.slice(key.length, hasNext ? -1 : undefined)));
      if (!hasNext) this.#expected = "foot";
      return true;
    }
    const isExpected = this.#expected === "head" ? HEAD.test(line) : this.#expected === "foot" && line === FOOT;
    this.#expected = this.#expected === "head" ? "record" : "nothing";
    return isExpected;
  }
}
