import { join } from "node:path";
import { warn } from "../failure.ts";
import { removeAbandonedTemporaries } from "../temporary.ts";
import type { ContinuedSettings, SeriesFormat } from "./rotation_options.ts";
import { type PackedSeries, removeProven, requireRemoved, SeriesPacker } from "./series_packer.ts";
import type { SeriesEntry } from "./series_record.ts";

/** The parts of a series that the removal of its files needs. */
export interface LimitedSeries extends PackedSeries {
  readonly limits: Pick<ContinuedSettings, "maxFiles" | "maxTotalSize" | "maxAge">;
  /** The size of the file that is being written. */
  readonly openSize: number;
}

/** Removes the oldest files of a series as far as they pass its limits, and nothing that its record does not prove. */
export async function removePastLimits(series: LimitedSeries): Promise<void> {
  const { record, limits, openNumber } = series;
  if (Object.values(limits).every((limit) => limit === Infinity)) return;
  const complete = record.entries.filter(({ number, file }) => number !== openNumber && file.size !== undefined);
  let files = complete.length + 1;
  let size = series.openSize;
  for (const entry of complete) size += sizeOf(entry);
  for (const entry of complete) {
    const age = Date.now() - entry.file.mtime!;
    if (files <= limits.maxFiles && size <= limits.maxTotalSize && age <= limits.maxAge) return;
    const { number, file, packed, temporary } = entry;
    if (temporary !== undefined) await requireRemoved(join(series.directory, temporary)); // of a process that was killed
    const plain = series.plainPathOf(number);
    if (packed !== undefined) await removeProven(`${plain}.${packed.extension}`, packed);
    await removeProven(plain, file);
    record.forget(number);
    files--;
    size -= sizeOf(entry);
  }
}

/** The one file of an entry that is left when nothing is being compressed. */
function sizeOf({ file, packed, isPacked }: SeriesEntry): number {
  return isPacked ? packed!.size : file.size!;
}

/** For how long files are begun to be compressed once the stream closes, in ms. */
const LONGEST = 1000;

/** Removes and compresses the files of a series that are due, one after the other, beside the writing. */
export class SeriesUpkeep {
  readonly #series: LimitedSeries;
  readonly #packer: SeriesPacker;
  readonly #onWarning: ((error: Error) => void) | undefined;
  #underWay: Promise<void> = Promise.resolve();
  /** Whether the files are to be looked at again when that has ended. */
  #isDue = false;
  #isOver = false;
  /** Whether what killed processes left was removed, as far as they noted it nowhere. */
  #isSwept = false;

  /** `onWarning` is called with files that could not be removed or compressed: they stay until the next look. */
  constructor(
    series: LimitedSeries,
    format: SeriesFormat | undefined,
    onWarning: ((error: Error) => void) | undefined,
  ) {
    this.#series = series;
    this.#packer = new SeriesPacker(series, format);
    this.#onWarning = onWarning;
  }

  /** Looks at the files, once those that are being seen to are done. */
  look(): void {
    if (this.#isDue || this.#isOver) return;
    this.#isDue = true;
    this.#underWay = this.#underWay.then(async () => {
      this.#isDue = false;
      try {
        await removePastLimits(this.#series);
        await this.#packer.pack();
        await removePastLimits(this.#series);
        if (this.#isSwept) return;
        this.#isSwept = true;
        await removeAbandonedTemporaries(this.#series.directory);
      } catch (error) {
        if (!this.#isOver) warn(this.#onWarning, error as Error);
      }
    });
  }

  /** Waits until nothing is due, or the file is compressed that is so after a second: the next stream goes on there. */
  async idle(): Promise<void> {
    this.#packer.lastBegin = performance.now() + LONGEST;
    await this.#underWay;
  }

  /** Looks no more, and warns of nothing: the series is being given up. */
  giveUp(): void {
    this.#isOver = true;
  }

  /** Ends a compression that is under way, which leaves its file as it is. */
  async stop(): Promise<void> {
    this.#packer.stop();
    await this.#underWay;
  }
}
