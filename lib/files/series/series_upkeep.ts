import type { SeriesFormat } from "../rotation_options.ts";
import { warn } from "../warning.ts";
import { type LimitedSeries, removePastLimits } from "./series_limits.ts";
import { type PackedSeries, SeriesPacker } from "./series_packer.ts";

/** Removes and compresses the files of a series that are due, one after the other, beside the writing. */
export class SeriesUpkeep {
  readonly #series: LimitedSeries & PackedSeries;
  readonly #packer: SeriesPacker;
  readonly #onWarning: ((error: Error) => void) | undefined;
  #underWay: Promise<void> = Promise.resolve();
  /** Whether the files are to be looked at again when that has ended. */
  #isDue = false;
  #isOver = false;

  /**
   * Makes an upkeep that has nothing to do yet.
   *
   * @param onWarning Told of files that could not be removed or compressed: they stay as they are until the next look.
   */
  constructor(
    series: LimitedSeries & PackedSeries,
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
      } catch (error) {
        if (!this.#isOver) warn(this.#onWarning, error as Error);
      }
    });
  }

  /** Waits until nothing is due. */
  async idle(): Promise<void> {
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
