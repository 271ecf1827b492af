import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { whileUnshared } from "../files/internal.ts";

/** Extensions of compressed formats. */
const compressed = new Set(
  ("7z aac apk avif br bz2 cbr cbz dcb dcz deb docx dmg eot epub flac gif gz heic heif jar jpeg jpg jxl lz lz4 lzma m4a " +
    "m4v mkv mov mp3 mp4 mpeg mpg odp ods odt ogg ogv opus png pptx rar rpm tgz tzst webm webp whl woff woff2 wmv xlsx xz " +
    "zip zst").split(" "),
);

/** Whether the format of a file is compressed, by its extension. */
export function isCompressedByName(path: string): boolean {
  return compressed.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

/** The bits a byte above which compression saves nothing: noise has 8, executables about 6.5. */
const HIGH_ENTROPY = 7.7;
/** The minimum bytes of a sample: shorter ones seem less dense than they are. */
const MIN_SAMPLE = 4096;
/** The bytes of the sample from each stretch. */
const SAMPLE_SIZE = 4096;
const STRETCH = 64 * 1024;

/** A test whether data is compressed or encrypted, by the entropy of samples. It misses distant repetitions. */
export class DensityProbe {
  #counts = new Uint32Array(256);
  #total = 0;
  #position = 0;

  /** Adds the next bytes of the data. The outcome does not depend on how the data is split. */
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
    return bits / this.#total > HIGH_ENTROPY;
  }
}

/** The size above which files are never whole in memory. It affects the output, since streams compress to other bytes. */
export const LARGE_FILE: number = 16 * 1024 * 1024;

/** The reason why a file gets no variants. `dense`: its entropy is high; `beside`: it is a compressed form beside its original. */
export type SkipReason = "small" | "unwanted" | "compressedByName" | "dense" | "beside";

/** Returns the reason why a file gets no variants, by its name, size and content; undefined if it may get some. */
export function whyLeftAlone(
  { path, size }: { readonly path: string; readonly size: number },
  { isDense }: { readonly isDense: boolean },
  { isWanted }: { readonly isWanted: (path: string) => boolean },
  { minSize }: { readonly minSize: number },
): SkipReason | undefined {
  if (!isWanted(path)) return "unwanted";
  if (isCompressedByName(path)) return "compressedByName";
  if (size < minSize) return "small";
  return isDense ? "dense" : undefined;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

let scratch = new Uint8Array(0);

/** Reads a file of at most `size` bytes into this thread's one buffer: they are valid until the next call. */
export async function readShared(path: string, size: number): Promise<Uint8Array<ArrayBuffer>> {
  if (scratch.length <= size) scratch = new Uint8Array(Math.ceil((size + 1) / 65536) * 65536);
  const file = await whileUnshared(() => open(path, "r"));
  try {
    let length = 0;
    // One more byte shows whether the file has grown.
    while (length <= size) {
      const { bytesRead } = await whileUnshared(() => file.read(scratch, length, size + 1 - length));
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return scratch.subarray(0, length);
  } finally {
    await file.close();
  }
}
