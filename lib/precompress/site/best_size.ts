import { compressSync, ready } from "../../codecs/mod.ts";
import { coverOf, joinedPieces, type Pause } from "./cover.ts";

/** The sizes that are tried, in bytes: a quarter to a third larger each time. */
const SIZES: readonly number[] = Array.from({ length: 16 }, (_, i) => Math.round(8 * 2 ** (i * 0.4)) * 1024);
/** The level that dictionaries are tried with: it takes a small part of brotli 11's time. */
const QUICK = 5;
/** The saving by a dictionary at brotli 11, as a share of that at {@linkcode QUICK}. Measured: 0.80 to 0.87. */
const SHARE_AT_BEST = 0.8;
/** The size of a dictionary by brotli 11, as a share of that by 9. Measured: 0.88 to 0.91. */
const COST_AT_BEST = 0.9;
/** A dictionary has to have saved what it costs when a visitor has seen this many pages with it. */
const PAID_AFTER = 9;
/** How many pages a visitor reads while a browser keeps it, over all visits: what counts for its size. */
const PAGES_READ = 200;

/** Pages that dictionaries are tried on, and what they take without one. */
export class Trial {
  readonly #pages: readonly Uint8Array<ArrayBuffer>[];
  readonly #sizes: readonly number[];
  /** How many pages the site has. */
  readonly #count: number;

  private constructor(pages: readonly Uint8Array<ArrayBuffer>[], sizes: readonly number[], count: number) {
    this.#pages = pages;
    this.#sizes = sizes;
    this.#count = count;
  }

  /** @param count How many pages the site has in all. */
  static async on(pages: readonly Uint8Array<ArrayBuffer>[], count: number, pause: Pause): Promise<Trial> {
    await ready(["brotli", "dcb"], "compress");
    const sizes: number[] = [];
    for (const page of pages) {
      sizes.push(compressSync(page, { format: "brotli", level: QUICK }).length);
      await pause();
    }
    return new Trial(pages, sizes, count);
  }

  /** How many bytes a page takes less with `dictionary`, on average. */
  async savingOf(dictionary: Uint8Array<ArrayBuffer>, pause: Pause): Promise<number> {
    let saved = 0;
    for (const [i, page] of this.#pages.entries()) {
      const { length } = compressSync(page, { format: "dcb", level: QUICK, dictionary });
      saved += Math.max(0, this.#sizes[i]! - length);
      await pause();
    }
    return SHARE_AT_BEST * saved / this.#pages.length;
  }

  /**
   * Trains dictionaries of several sizes on `sample`, each in two ways, and returns the one that saves the most, its own
   * download included; undefined if none saves more than that.
   */
  async best(sample: readonly Uint8Array[], pause: Pause): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let best: Judged = { bytes: undefined, gain: 0 };
    for (const ranking of ["value", "density"] as const) {
      const pieces = await coverOf(sample, SIZES.at(-1)!, ranking, pause);
      let last = 0;
      for (const size of SIZES) {
        const bytes = joinedPieces(pieces, size);
        if (bytes.length === last) break; // there are no more pieces
        last = bytes.length;
        const gain = await this.#gainOf(bytes, pause);
        if (gain === undefined) break;
        if (gain > best.gain) best = { bytes, gain };
      }
    }
    return best.bytes;
  }

  /** How many bytes a visitor saves, the download of `dictionary` included; undefined if that is not paid for in time. */
  async #gainOf(dictionary: Uint8Array<ArrayBuffer>, pause: Pause): Promise<number | undefined> {
    const cost = COST_AT_BEST * compressSync(dictionary, { format: "brotli", level: 9 }).length;
    const saving = await this.savingOf(dictionary, pause);
    // The first page comes without it.
    const [pages, paying] = [PAGES_READ, PAID_AFTER].map((most) => Math.min(most, this.#count - 1));
    return saving * paying! < cost ? undefined : saving * pages! - cost;
  }
}

/** A dictionary and what a visitor saves by it. */
interface Judged {
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly gain: number;
}
