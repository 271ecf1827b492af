import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { compress, CompressionStream } from "../codecs/mod.ts";
import { AtomicFile, openFileReadable } from "../files/mod.ts";
import { LARGE_FILE, readShared, sha256 } from "./content.ts";
import type { Job, Outcome, Result } from "./job.ts";
import { codecOf } from "./options.ts";
import { CHANGED, explain } from "./problem.ts";

/** Makes the variant that `job` describes, or says why there is none; long work tells `advance` of its steps in bytes. */
export async function execute(job: Job, advance: (bytes: number) => void): Promise<Outcome> {
  const started = performance.now();
  let result: Result;
  try {
    result = job.size > LARGE_FILE ? await executeStreamed(job, advance) : await executeWhole(job);
  } catch (error) {
    // A source that moves under a codec makes it fail in its own way.
    const reason = await requireAtRest(job).then(() => error, (moved) => moved);
    result = { state: "failed", message: explain(reason) };
  }
  return { ...result, elapsedMs: performance.now() - started };
}

async function executeWhole(job: Job): Promise<Result> {
  const bytes = await readShared(job.source, job.size);
  if (bytes.length !== job.size || sha256(bytes) !== job.sha256) throw new Error(CHANGED);
  const format = codecOf(job.format);
  const { level } = job;
  const dictionary = job.dictionary === undefined ? undefined : await readDictionary(job);
  const variant = await compress(bytes, { format, level, ...(dictionary && { dictionary }) });
  if (variant.length > job.limit) return { state: "unworthy" };
  const file = await openTemporary(job);
  await complete(file, job, () => file.write(variant));
  return { state: "kept", size: variant.length, sha256: sha256(variant) };
}

async function readDictionary(job: Job): Promise<Uint8Array<ArrayBuffer>> {
  const dictionary = await readFile(job.dictionary!);
  if (sha256(dictionary) === job.dictionarySha256) return dictionary;
  throw new Error(`its dictionary ${job.dictionary} changed during the run: run again`);
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
      if (written > job.limit) return;
      await file.write(chunk);
    }
    if (seen.digest("hex") !== job.sha256) throw new Error(CHANGED);
  });
  return written > job.limit ? { state: "unworthy" } : { state: "kept", size: written, sha256: made.digest("hex") };
}

function openTemporary({ temporary, mode, mtimeMs }: Job): Promise<AtomicFile> {
  return AtomicFile.open(temporary, { temporary, mode, mtimeMs, followLinks: false });
}

/** Has `write` write all of a file but its name, and discards it if that fails. */
async function complete(file: AtomicFile, job: Job, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await requireAtRest(job);
    await file.end();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Compressing takes long enough for the source to change meanwhile. */
async function requireAtRest({ source, size, mtimeMs }: Job): Promise<void> {
  const now = await stat(source);
  if (now.size !== size || now.mtimeMs !== mtimeMs) throw new Error(CHANGED);
}
