import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Counts records: the work of every consumer here. */
export class Tally {
  #records = 0;
  #fields = 0;
  #length = 0;

  readonly add = (record: readonly string[]): void => {
    this.#records++;
    this.#fields += record.length;
    for (let i = 0; i < record.length; i++) this.#length += record[i].length;
  };

  /** Writes the counts, for comparison. */
  async write(directory: string): Promise<void> {
    const text = `${this.#records} records, ${this.#fields} fields, ${this.#length} characters`;
    await writeFile(join(directory, "tally"), text);
  }
}
