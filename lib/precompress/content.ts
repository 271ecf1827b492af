import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { openFileReadable } from "../files/mod.ts";

/** Files above this many bytes are never held in memory whole. Part of what decides the output: streams differ. */
export const LARGE_FILE: number = 16 * 1024 * 1024;

/** What the content of a file is, by its hash, and the beginning of it. */
export interface Content {
  readonly sha256: string;
  /** In bytes, as read. */
  readonly size: number;
  /** All of it, or the first part of a large file. */
  readonly sample: Uint8Array;
}

/** Reads the file at `path`, which has about `size` bytes. */
export async function readContent(path: string, size: number): Promise<Content> {
  if (size <= LARGE_FILE) {
    const bytes = await readFile(path);
    return { sha256: sha256(bytes), size: bytes.length, sample: bytes };
  }
  const hash = createHash("sha256");
  let sample: Uint8Array = new Uint8Array(0);
  let read = 0;
  for await (const chunk of await openFileReadable(path) as unknown as AsyncIterable<Uint8Array>) {
    if (read === 0) sample = chunk;
    hash.update(chunk);
    read += chunk.length;
  }
  return { sha256: hash.digest("hex"), size: read, sample };
}

/** The SHA-256 of `bytes`, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
