import { createHash } from "node:crypto";
import { compress, CompressionStream } from "../codecs/mod.ts";
import { openFileReadable } from "../files/mod.ts";
import { restore } from "./cache/restore.ts";
import { LARGE_FILE, readShared, sha256 } from "./content.ts";
import {
  type Advance,
  complete,
  type Job,
  openTemporary,
  type Outcome,
  readDictionary,
  requireAtRest,
  type Result,
} from "./job.ts";
import { codecOf } from "./formats.ts";
import { CHANGED, explain } from "./problem.ts";

/** Does a job of a worker: posts its advance, and its outcome in the end. */
export async function runJob(job: Job, post: (message: Advance | Outcome) => void): Promise<void> {
  post(await execute(job, (bytes) => post({ bytes })));
}

/** Makes the variant of `job`, or takes it from the cache, or says why there is none. */
export async function execute(job: Job, advance: (bytes: number) => void): Promise<Outcome> {
  const started = performance.now();
  let result: Result;
  let isCached = false;
  try {
    const cached = job.entry === undefined ? undefined : await restore(job, job.entry);
    isCached = cached !== undefined;
    result = cached ?? (job.size > LARGE_FILE ? await executeStreamed(job, advance) : await executeWhole(job));
  } catch (error) {
    // A source that moves under a codec makes it fail in its own way.
    const reason = await requireAtRest(job).then(() => error, (moved) => moved);
    result = { state: "failed", message: explain(reason) };
  }
  return { ...result, isCached, elapsedMs: performance.now() - started };
}

async function executeWhole(job: Job): Promise<Result> {
  const bytes = await readShared(job.source, job.size);
  if (bytes.length !== job.size || sha256(bytes) !== job.sha256) throw new Error(CHANGED);
  const format = codecOf(job.format);
  const { level } = job;
  const dictionary = job.dictionary === undefined ? undefined : await readDictionary(job);
  const variant = await compress(bytes, { format, level, ...(dictionary && { dictionary }) });
  const isUnworthy = variant.length > job.limit;
  if (isUnworthy && !job.keepsAny) return { state: "unworthy" };
  const file = await openTemporary(job);
  await complete(file, job, () => file.write(variant));
  return { state: isUnworthy ? "unworthy" : "kept", size: variant.length, sha256: sha256(variant) };
}

/** In constant memory: the variant is written while the source is read, and discarded if the source turns out changed. */
async function executeStreamed(job: Job, advance: (bytes: number) => void): Promise<Result> {
  const format = codecOf(job.format);
  const { level, size } = job;
  const seen = createHash("sha256");
  const made = createHash("sha256");
  let written = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller): void {
      seen.update(chunk);
      advance(chunk.length);
      controller.enqueue(chunk);
    },
  });
  const file = await openTemporary(job);
  await complete(file, job, async () => {
    const variant = (await openFileReadable(job.source))
      .pipeThrough(counted)
      .pipeThrough(new CompressionStream(format, { level, size }));
    for await (const chunk of variant as unknown as AsyncIterable<Uint8Array>) {
      made.update(chunk);
      written += chunk.length;
      if (written > job.limit && !job.keepsAny) return;
      await file.write(chunk);
    }
    if (seen.digest("hex") !== job.sha256) throw new Error(CHANGED);
  });
  const isUnworthy = written > job.limit;
  if (isUnworthy && !job.keepsAny) return { state: "unworthy" };
  return { state: isUnworthy ? "unworthy" : "kept", size: written, sha256: made.digest("hex") };
}
