import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { whileUnshared } from "../../files/internal.ts";
import { ReadableStream } from "../../streams/mod.ts";
import { complete, decodesTo, isFileReadWhole, type Job, openTemporary, readDictionary, type Result } from "../job.ts";
import { keyOf, largestVariant, type Trailer, TRAILER_SIZE, trailerIn } from "./entry.ts";

/** The bytes read at a time. */
const CHUNK_SIZE = 256 * 1024;

/**
 * Writes the variant of `job` from its entry in the cache, in constant memory: it is read twice, to be verified and
 * copied. The cache is not trusted: the entry must be complete, match the job's key and its own hash, and decode to the
 * content. Returns undefined if it fails a check; throws if writing it fails, or its dictionary has changed.
 */
export async function restore(job: Job, path: string, signal: AbortSignal): Promise<Result | undefined> {
  const dictionary = job.dictionary === undefined ? undefined : await readDictionary(job);
  const entry = await whileUnshared(() => open(path)).catch(() => undefined);
  if (entry === undefined) return undefined;
  try {
    const trailer = await verified(job, entry, dictionary, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (trailer === undefined) return undefined;
    if (trailer.size > job.limit) return { state: "unworthy" };
    const file = await openTemporary(job);
    await complete(file, job, async () => {
      const hash = createHash("sha256");
      for await (const piece of piecesOf(entry, trailer.size, signal)) {
        hash.update(piece);
        await file.write(piece);
      }
      if (hash.digest("hex") !== trailer.sha256) throw new Error(`${path} changed while it was read: run again`);
    });
    return { state: "kept", size: trailer.size, sha256: trailer.sha256 };
  } finally {
    await entry.close();
  }
}

/** Returns the trailer of an entry that is complete and decodes to the content of `job`; otherwise undefined. */
async function verified(
  job: Job,
  entry: FileHandle,
  dictionary: Uint8Array<ArrayBuffer> | undefined,
  signal: AbortSignal,
): Promise<Trailer | undefined> {
  const size = (await entry.stat()).size - TRAILER_SIZE;
  if (size < 0 || size > largestVariant(job)) return undefined;
  const tail = new Uint8Array(TRAILER_SIZE);
  const { bytesRead } = await entry.read(tail, 0, TRAILER_SIZE, size);
  const trailer = trailerIn(tail.subarray(0, bytesRead));
  if (trailer?.key !== keyOf(job) || trailer.size !== size) return undefined;
  if (job.format === "gzip" && !await isFileReadWhole(entry, size, job.size)) return undefined;
  const stored = createHash("sha256");
  const pieces = async function* () {
    for await (const piece of piecesOf(entry, size, signal)) {
      stored.update(piece);
      yield piece;
    }
  };
  const isContent = await decodesTo(job, ReadableStream.from(pieces()), job.format, dictionary);
  return isContent && stored.digest("hex") === trailer.sha256 ? trailer : undefined;
}

/** Yields the first `size` bytes of a file in pieces, each in a new buffer. */
async function* piecesOf(file: FileHandle, size: number, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let position = 0; position < size;) {
    const buffer = new Uint8Array(Math.min(CHUNK_SIZE, size - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    signal.throwIfAborted();
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
