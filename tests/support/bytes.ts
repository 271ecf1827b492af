/** Inputs that are the same on every machine, for tests that compare bytes. */

import { randomNumbers } from "./random_numbers.ts";

/** `size` bytes that look like source text: words of a vocabulary, indentation, punctuation and numbers. */
export function sourceText(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const random = randomNumbers(seed);
  const vocabulary = Array.from(
    { length: 400 },
    () => Array.from({ length: 2 + random(9) }, () => String.fromCharCode(97 + random(26))).join(""),
  );
  const marks = [" ", " ", " ", "(", ") ", ", ", " = ", ";\n", ".", " {\n  ", "\n}\n", ' "', '" '];
  const parts: string[] = [];
  for (let length = 0; length < size;) {
    // Low indices more often, as in real text.
    const word = random(12) === 0 ? String(random(100_000)) : vocabulary[random(random(vocabulary.length) + 1)]!;
    const part = word + marks[random(marks.length)]!;
    parts.push(part);
    length += part.length;
  }
  return new TextEncoder().encode(parts.join("")).slice(0, size);
}

/** `size` bytes without any structure. */
export function noise(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let state = seed >>> 0;
  // As randomNumbers() gives numbers below 256: many tests make megabytes.
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** Returns the bytes of `parts` one after the other. */
export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let position = 0;
  for (const part of parts) {
    result.set(part, position);
    position += part.length;
  }
  return result;
}

/** `bytes` in pieces of up to `most` bytes. */
export function piecesOf(bytes: Uint8Array<ArrayBuffer>, most: number, seed = 1): Uint8Array<ArrayBuffer>[] {
  const random = randomNumbers(seed);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + 1 + random(most));
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}

/** Returns the SHA-256 of `bytes` in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
