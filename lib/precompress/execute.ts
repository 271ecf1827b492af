import { createHash } from "node:crypto";
import { compress, CompressionStream } from "../codecs/mod.ts";
import { openFileReadable } from "../files/mod.ts";
import { restore } from "./cache/restore.ts";
import { LARGE_FILE, readShared, sha256 } from "./content.ts";
import type { Advance, Job, Outcome, Result } from "./job.ts";
import { complete, openTemporary, readDictionary, requireAtRest } from "./job.ts";
import { codecOf } from "./formats.ts";
import { CHANGED, explain } from "./problem.ts";

/**
 * Runs a job in a worker: makes the variant, or takes it from the cache, or reports why there is none. Posts its
 * progress, and at the end its outcome.
 */
export async function runJob(job: Job, post: (message: Advance | Outcome) => void, signal: AbortSignal): Promise<void> {
  const started = performance.now();
  let result: Result;
  let isCached = false;
  try {
    const cached = job.entry === undefined ? undefined : await restore(job, job.entry, signal);
    isCached = cached !== undefined;
    const isLarge = job.size > LARGE_FILE;
    result = cached ?? (isLarge ? await executeStreamed(job, post, signal) : await executeWhole(job, signal));
  } catch (error) {
    // If the source has changed meanwhile, that is reported instead of the codec's error.
    const reason = await requireAtRest(job).then(() => error, (moved) => moved);
    result = { state: "failed", message: explain(reason) };
  }
  post({ ...result, isCached, elapsedMs: performance.now() - started });
}

async function executeWhole(job: Job, signal: AbortSignal): Promise<Result> {
  const bytes = await readShared(job.source, job.size);
  if (bytes.length !== job.size || sha256(bytes) !== job.sha256) throw new Error(CHANGED);
  const format = codecOf(job.format);
  const { level } = job;
  const dictionary = job.dictionary === undefined ? undefined : await readDictionary(job);
  signal.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const variant = await Promise.race([stopped, compress(bytes, { format, level, ...(dictionary && { dictionary }) })]);
  const isUnworthy = variant.length > job.limit;
  if (isUnworthy && !job.keepsAny) return { state: "unworthy" };
  const file = await openTemporary(job);
  await complete(file, job, () => file.write(variant));
  return { state: isUnworthy ? "unworthy" : "kept", size: variant.length, sha256: sha256(variant) };
}

/** Writes the variant while the source is read, in constant memory; discards it if the source has changed. */
async function executeStreamed(job: Job, post: (message: Advance) => void, signal: AbortSignal): Promise<Result> {
  const format = codecOf(job.format);
  const { level, size } = job;
  const seen = createHash("sha256");
  const made = createHash("sha256");
  let written = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller): void {
      seen.update(chunk);
      post({ bytes: chunk.length });
      controller.enqueue(chunk);
    },
  });
  const file = await openTemporary(job);
  await complete(file, job, async () => {
    const reading = (await openFileReadable(job.source)).pipeTo(counted.writable, { signal });
    reading.catch(() => {}); // the consumer of the stream fails, too
    const variant = counted.readable.pipeThrough(new CompressionStream(format, { level, size }));
    try {
      for await (const chunk of variant as unknown as AsyncIterable<Uint8Array>) {
        made.update(chunk);
        written += chunk.length;
        if (written > job.limit && !job.keepsAny) return;
        await file.write(chunk);
      }
    } finally {
      await reading.catch(() => {}); // the source is then closed
    }
    if (seen.digest("hex") !== job.sha256) throw new Error(CHANGED);
  });
  const isUnworthy = written > job.limit;
  if (isUnworthy && !job.keepsAny) return { state: "unworthy" };
  return { state: isUnworthy ? "unworthy" : "kept", size: written, sha256: made.digest("hex") };
}
