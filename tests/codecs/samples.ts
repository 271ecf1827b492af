import { concatenated, noise, sourceText } from "../support/bytes.ts";

/** Named inputs of every kind that codecs treat in their own way. */
export const samples: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "no bytes": new Uint8Array(0),
  "one byte": new Uint8Array([42]),
  "one repeated byte": new Uint8Array(70_000).fill(7),
  "a sentence": new TextEncoder().encode("The mill turns as long as the water runs, and the water runs all day.\n"),
  "source text": sourceText(150_000),
  "noise": noise(100_000),
  "text between noise": concatenated([
    noise(30_000, 2),
    sourceText(60_000, 3),
    noise(30_000, 4),
    sourceText(60_000, 3),
  ]),
};
