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
const SAMPLES = 16;
const SAMPLE_SIZE = 4096;

/**
 * Whether `bytes` look compressed or encrypted: the Shannon entropy of samples spread over them.
 *
 * Repetitions at a distance escape such a probe, so a file that it takes for dense would rarely be worth a variant, and
 * one that it lets through costs only time.
 */
export function looksCompressed(bytes: Uint8Array): boolean {
  if (bytes.length < MIN_SAMPLE) return false;
  const counts = new Uint32Array(256);
  const stride = Math.max(SAMPLE_SIZE, Math.floor(bytes.length / SAMPLES));
  let total = 0;
  for (let start = 0; start < bytes.length; start += stride) {
    const sample = bytes.subarray(start, start + SAMPLE_SIZE);
    for (const byte of sample) counts[byte]!++;
    total += sample.length;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= count * Math.log2(count / total);
  }
  return bits / total > DENSE;
}
