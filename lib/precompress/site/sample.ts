import { createHash } from "node:crypto";
import { compressSync, ready } from "../../codecs/mod.ts";
import { LARGE_FILE, sha256 } from "../content.ts";
import type { Folder } from "../folder.ts";
import type { FoundFile } from "../walk.ts";
import { Cover, joinedPieces, type Pause } from "./cover.ts";

/** The maximum numbers of pages and bytes from which a dictionary is made: more take longer, for hardly any gain. */
const MAX_PAGES = 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** The maximum bytes of a page to use. */
const MAX_PAGE_SIZE = 256 * 1024;
/** The number of pages to test dictionaries on: other pages than the dictionaries' sources, if there are enough. */
const TRIED_PAGES = 192;

/** Whether a file is a page that browsers navigate to, and small enough for a delta. */
export function isPage({ path, size }: Pick<FoundFile, "path" | "size">): boolean {
  return /\.(?:html?|xhtml)$/i.test(path) && size <= LARGE_FILE;
}

/** Pages that represent a site. */
export interface Sample {
  /** The pages to make a dictionary of. */
  readonly made: readonly Uint8Array<ArrayBuffer>[];
  /** The pages to test dictionaries on. */
  readonly tried: readonly Uint8Array<ArrayBuffer>[];
  /** A hash of all pages in the sample, in hexadecimal. */
  readonly digest: string;
}

/** Reads a sample of `pages`; whether a page is chosen does not depend on other pages. */
export async function samplePages(folder: Folder, pages: readonly FoundFile[], pause: Pause): Promise<Sample> {
  const byHash = pages.map(({ path }) => ({ path, order: sha256(new TextEncoder().encode(path)) }))
    .sort((a, b) => a.order < b.order ? -1 : 1);
  const contents: Uint8Array<ArrayBuffer>[] = [];
  const digest = createHash("sha256");
  let [made, bytes] = [0, 0];
  for (const { path } of byHash) {
    if (contents.length - made >= TRIED_PAGES) break;
    const page = await folder.bytesOf(path).catch(() => undefined);
    if (page === undefined) continue; // the later compression of the file reports the failure
    const content = page.slice(0, MAX_PAGE_SIZE); // a copy, so that the rest is not kept in memory
    if (made === contents.length && made < MAX_PAGES && bytes + content.length <= MAX_BYTES) {
      made++;
      bytes += content.length;
    }
    contents.push(content);
    digest.update(sha256(content));
    await pause();
  }
  const others = contents.slice(made);
  return {
    made: contents.slice(0, made),
    tried: others.length === TRIED_PAGES ? others : contents.slice(-TRIED_PAGES),
    digest: digest.digest("hex"),
  };
}

/** The tested sizes in bytes: each a quarter to a third larger than the last. */
const SIZES: readonly number[] = Array.from({ length: 16 }, (_, i) => Math.round(8 * 2 ** (i * 0.4)) * 1024);
/** The level for testing dictionaries, which takes a small part of brotli 11's time. */
const QUICK = 5;
/** The saving by a dictionary at brotli 11, relative to that at {@linkcode QUICK}. By measurement 0.80 to 0.87. */
const SHARE_AT_BEST = 0.8;
/** The size of a dictionary with brotli 11, relative to that with 9. By measurement 0.88 to 0.91. */
const COST_AT_BEST = 0.9;
/** The number of pages after which a dictionary must have saved its own size. */
const PAID_AFTER = 9;
/** The number of pages that a client reads while it has the dictionary, over all visits. */
const PAGES_READ = 200;
/** The share of a new dictionary's saving from which an existing one is kept, since clients already have that. */
const GOOD_ENOUGH = 0.95;

/** The pages to test dictionaries on, and their sizes without one. */
class Trial {
  readonly #pages: readonly Uint8Array<ArrayBuffer>[];
  readonly #sizes: readonly number[];
  readonly #count: number;

  private constructor(pages: readonly Uint8Array<ArrayBuffer>[], sizes: readonly number[], count: number) {
    this.#pages = pages;
    this.#sizes = sizes;
    this.#count = count;
  }

  /** @param count The number of the site's pages. */
  static async on(pages: readonly Uint8Array<ArrayBuffer>[], count: number, pause: Pause): Promise<Trial> {
    await ready(["brotli", "dcb"], "compress");
    const sizes: number[] = [];
    for (const page of pages) {
      sizes.push(compressSync(page, { format: "brotli", level: QUICK }).length);
      await pause();
    }
    return new Trial(pages, sizes, count);
  }

  /** Returns the bytes that `dictionary` saves a page on average. */
  async savingOf(dictionary: Uint8Array<ArrayBuffer>, pause: Pause): Promise<number> {
    let saved = 0;
    for (const [i, page] of this.#pages.entries()) {
      const { length } = compressSync(page, { format: "dcb", level: QUICK, dictionary });
      saved += Math.max(0, this.#sizes[i]! - length);
      await pause();
    }
    return SHARE_AT_BEST * saved / this.#pages.length;
  }

  /** Trains dictionaries of several sizes, each in two ways; returns the one that saves the most, undefined if none saves. */
  async best(sample: readonly Uint8Array[], pause: Pause): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let best: { bytes: Uint8Array<ArrayBuffer> | undefined; gain: number } = { bytes: undefined, gain: 0 };
    for (const ranking of ["value", "density"] as const) {
      const pieces = await new Cover(ranking).choose(sample, SIZES.at(-1)!, pause);
      let last = 0;
      for (const size of SIZES) {
        const bytes = joinedPieces(pieces, size);
        if (bytes.length === last) break; // no pieces are left
        last = bytes.length;
        const gain = await this.#gainOf(bytes, pause);
        if (gain === undefined) break;
        if (gain > best.gain) best = { bytes, gain };
      }
    }
    return best.bytes;
  }

  /** Returns the bytes that a client saves, minus the download of `dictionary`; undefined if it pays off too late. */
  async #gainOf(dictionary: Uint8Array<ArrayBuffer>, pause: Pause): Promise<number | undefined> {
    const cost = COST_AT_BEST * compressSync(dictionary, { format: "brotli", level: 9 }).length;
    const saving = await this.savingOf(dictionary, pause);
    // The first page is sent without the dictionary.
    const [pages, paying] = [PAGES_READ, PAID_AFTER].map((most) => Math.min(most, this.#count - 1));
    return saving * paying! < cost ? undefined : saving * pages! - cost;
  }
}

/** Makes a new dictionary for a site of `count` pages; returns it, or the first former one that is about as good. */
export async function bestDictionary(
  { made, tried }: Sample,
  count: number,
  formers: readonly ({ readonly bytes: Uint8Array<ArrayBuffer> } | undefined)[],
  pause: Pause,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const trial = await Trial.on(tried, count, pause);
  const best = await trial.best(made, pause);
  if (best === undefined) return undefined;
  const least = GOOD_ENOUGH * await trial.savingOf(best, pause);
  for (const former of formers) {
    if (former && await trial.savingOf(former.bytes, pause) >= least) return former.bytes;
  }
  return best;
}
