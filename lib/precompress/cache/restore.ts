import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { decompress, DecompressionStream } from "../../codecs/mod.ts";
import { ReadableStream } from "../../streams/mod.ts";
import { LARGE_FILE, readShared, sha256 } from "../content.ts";
import { complete, type Job, openTemporary, readDictionary, type Result } from "../job.ts";
import { codecOf } from "../formats.ts";
import { keyOf, largestVariant, type Trailer, TRAILER_SIZE, trailerIn } from "./entry.ts";

/** Bytes read at a time. */
const PIECE = 256 * 1024;

/**
 * Writes the variant that `job` is about from its entry in the cache.
 *
 * An entry is used only if it is whole, is that of the job's key, has the hash that its trailer says, and decodes to the
 * very content: anybody may have written it.
 *
 * @returns undefined if it is none of that.
 * @throws {Error} if the variant cannot be written, or its dictionary is not what it was.
 */
export async function restore(job: Job, entry: string): Promise<Result | undefined> {
  const dictionary = job.dictionary === undefined ? undefined : await readDictionary(job);
  return job.size > LARGE_FILE ? await restoreStreamed(job, entry) : await restoreWhole(job, entry, dictionary);
}

async function restoreWhole(
  job: Job,
  entry: string,
  dictionary: Uint8Array<ArrayBuffer> | undefined,
): Promise<Result | undefined> {
  const most = largestVariant(job) + TRAILER_SIZE;
  const bytes = await readShared(entry, most).catch(() => undefined);
  if (bytes === undefined || bytes.length > most) return undefined;
  const variant = bytes.subarray(0, Math.max(0, bytes.length - TRAILER_SIZE));
  const trailer = trailerFor(job, variant.length, bytes.subarray(variant.length));
  if (trailer === undefined || sha256(variant) !== trailer.sha256) return undefined;
  const options = { format: codecOf(job.format), maxSize: job.size, ...(dictionary && { dictionary }) };
  const content = await decompress(variant, options).catch(() => undefined);
  if (content?.length !== job.size || sha256(content) !== job.sha256) return undefined;
  if (trailer.size > job.limit) return { state: "unworthy" };
  const file = await openTemporary(job);
  await complete(file, job, () => file.write(variant));
  return { state: "kept", size: trailer.size, sha256: trailer.sha256 };
}

/** In constant memory: the entry is read twice, to be verified and to be copied. Large files have no dictionary. */
async function restoreStreamed(job: Job, path: string): Promise<Result | undefined> {
  const entry = await open(path).catch(() => undefined);
  if (entry === undefined) return undefined;
  try {
    const trailer = await verified(job, entry).catch(() => undefined);
    if (trailer === undefined) return undefined;
    if (trailer.size > job.limit) return { state: "unworthy" };
    const file = await openTemporary(job);
    await complete(file, job, async () => {
      const hash = createHash("sha256");
      for await (const piece of piecesOf(entry, trailer.size)) {
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

/** The trailer of an entry that is whole and decodes to the content of `job`; undefined of any other. */
async function verified(job: Job, entry: FileHandle): Promise<Trailer | undefined> {
  const size = (await entry.stat()).size - TRAILER_SIZE;
  if (size < 0 || size > largestVariant(job)) return undefined;
  const tail = new Uint8Array(TRAILER_SIZE);
  const { bytesRead } = await entry.read(tail, 0, TRAILER_SIZE, size);
  const trailer = trailerFor(job, size, tail.subarray(0, bytesRead));
  if (trailer === undefined) return undefined;
  const [stored, decoded] = [createHash("sha256"), createHash("sha256")];
  const pieces = async function* () {
    for await (const piece of piecesOf(entry, size)) {
      stored.update(piece);
      yield piece;
    }
  };
  const content = ReadableStream.from(pieces())
    .pipeThrough(new DecompressionStream(codecOf(job.format), { maxSize: job.size }));
  let length = 0;
  for await (const chunk of content as unknown as AsyncIterable<Uint8Array>) {
    decoded.update(chunk);
    length += chunk.length;
  }
  const isContent = length === job.size && decoded.digest("hex") === job.sha256;
  return isContent && stored.digest("hex") === trailer.sha256 ? trailer : undefined;
}

/** The first `size` bytes of a file, each piece in memory of its own. */
async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let position = 0; position < size;) {
    const buffer = new Uint8Array(Math.min(PIECE, size - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The trailer that `bytes` are, if that is one of a variant of `size` bytes that `job` is about. */
function trailerFor(job: Job, size: number, bytes: Uint8Array): Trailer | undefined {
  const trailer = trailerIn(bytes);
  return trailer?.key === keyOf(job) && trailer.size === size ? trailer : undefined;
}
