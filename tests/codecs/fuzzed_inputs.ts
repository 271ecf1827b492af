/** Inputs of every kind for comparing two builds of a codec, the same for the same seed. */

import { concatenated } from "../support/bytes.ts";

type Random = (below: number) => number;
type Generator = (size: number, random: Random, files: readonly Uint8Array[]) => Uint8Array;

/** `size` bytes of the kind that `random` picks; `files` are real ones to cut slices from. */
export function fuzzedInput(size: number, random: Random, files: readonly Uint8Array[]): Uint8Array {
  return GENERATORS[random(GENERATORS.length)]!(size, random, files);
}

/** Returns the length of the next input: mostly short, at times up to 300 KB, 1 in 1,000 up to 3 MB. */
export function fuzzedSize(random: Random): number {
  const kind = random(1000);
  if (kind === 0) return 500_000 + random(2_500_000);
  const bits = kind < 30 ? 20 : kind < 250 ? 18 : 14;
  return Math.min(300_000, random(2 ** random(bits)));
}

/** Returns a part of one of `files`, of at most `size` bytes. */
export function slice(size: number, random: Random, files: readonly Uint8Array[]): Uint8Array {
  const file = files[random(files.length)]!;
  const start = random(Math.max(1, file.length - size));
  return file.slice(start, start + size);
}

const GENERATORS: readonly Generator[] = [
  slice,
  mutatedSlice,
  joinedSlices,
  (size, random) => Uint8Array.from({ length: size }, () => random(256)),
  fewSymbols,
  period,
  copies,
  records,
  multibyteText,
];

function mutatedSlice(size: number, random: Random, files: readonly Uint8Array[]): Uint8Array {
  const bytes = slice(size, random, files);
  for (let rest = random(1 + (bytes.length >> 3)); rest > 0; rest--) bytes[random(bytes.length)] = random(256);
  return bytes;
}

function joinedSlices(size: number, random: Random, files: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let length = 0; length < size;) {
    const part = slice(1 + random(4000), random, files);
    const times = 1 + random(2);
    for (let k = 0; k < times; k++) parts.push(part);
    length += part.length * times || 1;
  }
  return concatenated(parts).slice(0, size);
}

function fewSymbols(size: number, random: Random): Uint8Array {
  const symbols = 1 + random(2 ** random(7));
  return Uint8Array.from({ length: size }, () => 60 + random(symbols));
}

function period(size: number, random: Random): Uint8Array {
  const length = 1 + random(2 ** random(13));
  const bytes = new Uint8Array(size);
  for (let k = 0; k < size; k++) bytes[k] = k < length ? random(256) : bytes[k - length]!;
  for (let rest = size && random(20); rest > 0; rest--) bytes[random(size)] = random(256);
  return bytes;
}

/** Literals and copies in turn, with distances that stay near the last ones: the distance short codes' case. */
function copies(size: number, random: Random): Uint8Array {
  const bytes = new Uint8Array(size);
  let distance = 1;
  for (let at = 0; at < size;) {
    const literals = Math.min(size, at + 1 + random(random(20) === 0 ? 300 : 8));
    for (; at < literals; at++) bytes[at] = random(256);
    distance = random(2) === 0 ? distance + random(7) - 3 : 1 + random(2 ** random(18));
    distance = Math.min(at, Math.max(1, distance));
    const end = Math.min(size, at + 2 + random(2 ** (1 + random(random(20) === 0 ? 14 : 7))));
    for (; at < end; at++) bytes[at] = bytes[at - distance]!;
  }
  return bytes;
}

/** Binary records of 12 bytes with a counter, a small field and noise. */
function records(size: number, random: Random): Uint8Array {
  const view = new DataView(new ArrayBuffer(size));
  for (let at = 0, count = random(1e6); at + 12 <= size; at += 12, count += random(3)) {
    view.setUint32(at, count, true);
    view.setUint16(at + 4, random(4));
    view.setFloat32(at + 8, random(1000) / 8);
  }
  return new Uint8Array(view.buffer);
}

/** Words and phrases in scripts of two to four bytes a character. */
function multibyteText(size: number, random: Random): Uint8Array {
  const base = [0x61, 0x3b1, 0x430, 0x4e00, 0x1f600][random(5)]!;
  const words = Array.from(
    { length: 1 + random(200) },
    () => String.fromCodePoint(...Array.from({ length: 1 + random(9) }, () => base + random(24))),
  );
  let text = "";
  while (text.length < size) text += words[random(words.length)]! + (random(9) === 0 ? ".\n" : " ");
  return new TextEncoder().encode(text).slice(0, size);
}
