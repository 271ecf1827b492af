/** Extensions of formats that are compressed in themselves. */
const compressed = new Set(
  ("7z aac apk avif br bz2 cbr cbz dcb dcz deb docx dmg eot epub flac gif gz heic heif jar jpeg jpg jxl lz lz4 lzma m4a " +
    "m4v mkv mov mp3 mp4 mpeg mpg odp ods odt ogg ogv opus png pptx rar rpm tgz tzst webm webp whl woff woff2 wmv xlsx xz " +
    "zip zst").split(" "),
);

/** Whether files named like `path` are compressed in themselves. */
export function isCompressedByName(path: string): boolean {
  return compressed.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

/** Bits a byte above which data has nothing left to save by coding bytes: noise has 8, executables about 6.5. */
const DENSE = 7.7;
/** Fewer bytes than this look less dense than they are. */
const MIN_SAMPLE = 4096;
/** A sample of this many bytes is taken from each stretch. */
const SAMPLE_SIZE = 4096;
const STRETCH = 64 * 1024;

/**
 * Tells whether data looks compressed or encrypted, by the Shannon entropy of samples spread over it.
 *
 * Repetitions at a distance escape such a probe, so a file that it takes for dense would rarely be worth a variant, and
 * one that it lets through costs only time.
 */
export class DensityProbe {
  #counts = new Uint32Array(256);
  #total = 0;
  #position = 0;

  /** Takes the next bytes of the data. The outcome does not depend on how the data is cut. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const within = (this.#position + at) % STRETCH;
      if (within < SAMPLE_SIZE) {
        const end = Math.min(bytes.length, at + SAMPLE_SIZE - within);
        this.#total += end - at;
        for (; at < end; at++) this.#counts[bytes[at]!]!++;
      } else {
        at += STRETCH - within;
      }
    }
    this.#position += bytes.length;
  }

  get isDense(): boolean {
    if (this.#total < MIN_SAMPLE) return false;
    let bits = 0;
    for (const count of this.#counts) {
      if (count > 0) bits -= count * Math.log2(count / this.#total);
    }
    return bits / this.#total > DENSE;
  }
}
