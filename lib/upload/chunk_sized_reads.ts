/** What the first reads ask for: less than most chunks have, and no divisor of usual ones. */
const FIRST = 600;
/** Most bytes that frame a chunk: its size, two ends of lines, and a little more. */
const FRAME = 20;
/** What is asked for beyond a chunk: a read that fell short by a byte would need another one for each chunk. */
const SPARE = 64;
/** How many chunks must be so large before reads are: what was asked for once cannot be taken back. */
const CERTAIN = 4;

/**
 * The sizes of reads of a body in the chunked coding, for a server that takes as many bytes off the connection at each
 * read as were ever asked for, but gives no more than the rest of a chunk, and holds the others without a limit: Deno's.
 * With reads of 128 KiB, 25 bodies of 25 MB in chunks of 50 kB took 490 MB and 18 s, with these 120 and 4.
 *
 * So reads begin small, and become as large as a chunk once some have come that were.
 */
export class ChunkSizedReads {
  readonly #most: number;
  #size = FIRST;
  /** Bytes of the chunk under way. */
  #bytes = 0;
  #recent: number[] = [];

  /** @param most Bytes of a read, at most. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that the next read should ask for. */
  get size(): number {
    return this.#size;
  }

  /** A read of {@linkcode size} bytes gave so many. */
  gave(bytes: number): void {
    const isFirst = this.#bytes === 0;
    this.#bytes += bytes;
    // The first read of a chunk takes its frame too.
    if (bytes >= this.#size - (isFirst ? FRAME : 0)) return;
    this.#recent = [...this.#recent, this.#bytes].slice(-CERTAIN);
    this.#bytes = 0;
    if (this.#recent.length < CERTAIN) return;
    this.#size = Math.max(this.#size, Math.min(this.#most, Math.min(...this.#recent) + SPARE));
  }
}
