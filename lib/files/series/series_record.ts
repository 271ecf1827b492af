import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileFailure } from "../failure.ts";
import { isTemporaryName } from "../temporary.ts";
import type { FileProof } from "./file_proof.ts";

/** A file of a series, as its record knows it. */
export interface SeriesEntry {
  readonly number: number;
  /** When it was opened, in ms since 1970. */
  readonly opened: number;
  readonly file: FileProof;
  /** The size at which a stream was closed that has left the file for the next one to continue. */
  readonly end?: number;
  /** The name of the file that the compressed form is written to. */
  readonly temporary?: string;
  /** The compressed form, from just before it gets its name. */
  readonly packed?: Required<FileProof> & { readonly extension: string };
  /** Whether only the compressed form is left. */
  readonly isPacked?: boolean;
  /** Whether the compressed form's name is taken by another file. */
  readonly isRaw?: boolean;
}

/** Lines that may follow the first ones of a record before it is written anew. */
const SPARE_LINES = 1000;

/**
 * The record of the files that a series has written, beside them: a line of JSON for everything that becomes known of a
 * file, each written before it matters. Only files that it proves are continued, compressed or removed.
 */
export class SeriesRecord {
  readonly #path: string;
  readonly #entries = new Map<number, SeriesEntry>();
  #lines = 0;
  /** The largest number that a file has had. */
  #last = 0;

  /** @param name The name of the record's file. */
  constructor(directory: string, name: string) {
    this.#path = join(directory, name);
  }

  /** All files that are known, in order. */
  get entries(): SeriesEntry[] {
    return [...this.#entries.values()].sort((one, other) => one.number - other.number);
  }

  /** The largest number that is not to be given to a file any more. */
  get last(): number {
    return this.#last;
  }

  /** Keeps all numbers up to this one from being given to a file. */
  reserve(number: number): void {
    this.#last = Math.max(this.#last, number);
  }

  /** Reads what earlier streams have recorded. The last line may be torn; others that are no entries are passed over. */
  load(): void {
    for (const line of this.#read().split("\n")) {
      const change = parsedChange(line);
      if (change !== undefined) this.#apply(change);
    }
    this.rewrite();
  }

  /** Notes something of a file. */
  note(number: number, change: Partial<SeriesEntry>): void {
    this.#append({ number, ...change });
  }

  /** Notes that a file is none of the series any more. */
  forget(number: number): void {
    this.#append({ number, isGone: true });
  }

  /** Writes the record anew, whole or not at all. */
  rewrite(): void {
    const entries: Change[] = this.entries;
    if (this.#last > 0 && !this.#entries.has(this.#last)) entries.push({ number: this.#last, isGone: true });
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
    const temporary = `${this.#path}-new`; // one that a killed process has left is written over
    this.#attempt(() => {
      writeFileSync(temporary, lines.join(""));
      renameSync(temporary, this.#path);
    });
    this.#lines = 0;
  }

  #append(change: Change): void {
    this.#apply(change);
    this.#attempt(() => appendFileSync(this.#path, `${JSON.stringify(change)}\n`));
    if (++this.#lines > SPARE_LINES + 4 * this.#entries.size) this.rewrite();
  }

  #apply({ isGone, ...change }: Change): void {
    this.reserve(change.number);
    if (isGone || (change.file === undefined && !this.#entries.has(change.number))) this.#entries.delete(change.number);
    else this.#entries.set(change.number, { ...this.#entries.get(change.number), ...change } as SeriesEntry);
  }

  #read(): string {
    try {
      return readFileSync(this.#path, "utf8");
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") return "";
      throw fileFailure("read", this.#path, error);
    }
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      throw fileFailure("write", this.#path, error);
    }
  }
}

/** An update to the entry of a file; the first one has all required properties. */
type Change = Partial<SeriesEntry> & { readonly number: number; readonly isGone?: boolean };

/** An entry of a line; undefined if it is none. Nothing in it is a path: names are made of numbers, or checked. */
function parsedChange(line: string): Change | undefined {
  let change: Change;
  try {
    change = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Number.isSafeInteger(change?.number) || change.number < 1) return undefined;
  if (change.temporary !== undefined && !isTemporaryName(String(change.temporary))) return undefined;
  if (change.packed !== undefined && !/^(?:zst|gz|br)$/.test(String(change.packed.extension))) return undefined;
  return change;
}
