import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { DensityProbe } from "./compressible.ts";

/** Files above this many bytes are never held in memory whole. Part of what decides the output: streams differ. */
export const LARGE_FILE: number = 16 * 1024 * 1024;

/** The properties of a file's content. */
export interface Content {
  /** In hexadecimal. */
  readonly sha256: string;
  /** In bytes, as read. */
  readonly size: number;
  /** Whether it looks compressed or encrypted. */
  readonly isDense: boolean;
}

/** Reads a file to its end in constant memory and tells what it holds. */
export async function readContent(path: string): Promise<Content> {
  const hash = createHash("sha256");
  const probe = new DensityProbe();
  let size = 0;
  const file = await open(path, "r");
  try {
    const buffer = takeBuffer();
    try {
      while (true) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length);
        if (bytesRead === 0) break;
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        probe.add(chunk);
        size += bytesRead;
      }
    } finally {
      buffers.push(buffer);
    }
  } finally {
    await file.close();
  }
  return { sha256: hash.digest("hex"), size, isDense: probe.isDense };
}

/** Buffers that are free: new ones for each file are collected so late that 300 MB of files took 170 MB of memory. */
const buffers: Uint8Array<ArrayBuffer>[] = [];

function takeBuffer(): Uint8Array<ArrayBuffer> {
  return buffers.pop() ?? new Uint8Array(256 * 1024);
}

/** The SHA-256 of `bytes`, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

let scratch = new Uint8Array(0);

/**
 * Reads a file of at most `size` bytes whole; the bytes are valid until the next call on this thread, which uses the
 * same memory.
 */
export async function readShared(path: string, size: number): Promise<Uint8Array<ArrayBuffer>> {
  if (scratch.length <= size) scratch = new Uint8Array(Math.ceil((size + 1) / 65536) * 65536);
  const file = await open(path, "r");
  try {
    let length = 0;
    // One byte more than expected is asked for, so that a file that grew is seen.
    while (length <= size) {
      const { bytesRead } = await file.read(scratch, length, size + 1 - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return scratch.subarray(0, length);
  } finally {
    await file.close();
  }
}
