import type { DeltaFormat, PrecompressProgress, VariantFormat } from "./options.ts";

/** How long a byte takes in each format at its default level, gzip 12 being 10; whole numbers add up exactly. */
const COST: Readonly<Record<VariantFormat | DeltaFormat, number>> = {
  brotli: 40,
  dcb: 50,
  zstd: 12,
  dcz: 15,
  "site-dcb": 50,
  "site-dcz": 15,
  gzip: 10,
};
/** The least time between two reports, in ms. */
const INTERVAL = 50;

/** Adds up variants and tells how far they are. */
export class ProgressMeter {
  #report: ((progress: PrecompressProgress) => void) | undefined;
  #started = performance.now();
  #reported = -Infinity;
  #bytes = { done: 0, total: 0 };
  #cost = { done: 0, total: 0 };

  constructor(report: ((progress: PrecompressProgress) => void) | undefined) {
    this.#report = report;
  }

  /** Counts in a variant of a file of `size` bytes. */
  expect(format: VariantFormat | DeltaFormat, size: number): void {
    this.#bytes.total += size;
    this.#cost.total += size * COST[format];
    this.#tell();
  }

  /** Counts `bytes` of a variant's file as done. */
  advance(format: VariantFormat | DeltaFormat, bytes: number): void {
    this.#bytes.done += bytes;
    this.#cost.done += bytes * COST[format];
    this.#tell();
  }

  #tell(): void {
    const now = performance.now();
    const complete = this.#cost.done === this.#cost.total;
    if (!this.#report || (!complete && now - this.#reported < INTERVAL)) return;
    this.#reported = now;
    const fraction = this.#cost.total === 0 ? 1 : this.#cost.done / this.#cost.total;
    this.#report({
      bytesDone: this.#bytes.done,
      bytesTotal: this.#bytes.total,
      fraction,
      remainingMs: fraction > 0 ? (now - this.#started) * (1 / fraction - 1) : undefined,
    });
  }
}
