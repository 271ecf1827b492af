import type { Buffer } from "node:buffer";
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";

/** Strings that wait for the file. */
const WAITING = 1024;

type Done = (error?: Error | null, data?: unknown) => void;

function parsed(): Transform {
  return new Transform({
    objectMode: true,
    transform: (line: string, _encoding, done: Done): void => done(null, JSON.parse(line)),
  });
}

function stringified(): Transform {
  return new Transform({
    objectMode: true,
    transform: (record: unknown, _encoding, done: Done): void => done(null, `${JSON.stringify(record)}\n`),
  });
}

/** Lines by `node:readline`, as the manual has it. */
export async function withReadline(input: string, directory: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(input), crlfDelay: Infinity });
  await pipeline(Readable.from(lines), parsed(), stringified(), createWriteStream(join(directory, "records.ndjson")));
}

/** Lines by a transform, as popular packages do it. */
function splitLines(): Transform {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return new Transform({
    readableObjectMode: true,
    transform(chunk: Buffer, _encoding, done: Done): void {
      const parts = (rest + decoder.write(chunk)).split("\n");
      rest = parts.pop()!;
      for (const line of parts) this.push(line);
      done();
    },
    flush(done: Done): void {
      if (rest !== "") this.push(rest);
      done();
    },
  });
}

/** Returns a sink that takes its whole queue at a time: `createWriteStream()` is slower, on Bun many times. */
async function fileOf(path: string): Promise<Writable> {
  const file = await open(path, "w");
  return new Writable({
    objectMode: true,
    highWaterMark: WAITING,
    writev(chunks: readonly { chunk: string }[], done: Done): void {
      file.writeFile(chunks.map(({ chunk }) => chunk).join("")).then(() => done(), done);
    },
    final: (done: Done): void => void file.close().then(() => done(), done),
  });
}

/** Does the job by hand-written stages with `writev()`. */
export async function withWritev(input: string, directory: string): Promise<void> {
  const file = await fileOf(join(directory, "records.ndjson"));
  await pipeline(createReadStream(input), splitLines(), parsed(), stringified(), file);
}
