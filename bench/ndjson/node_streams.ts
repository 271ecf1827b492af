import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";

type Done = (error?: Error | null, data?: unknown) => void;

function parsed(): Transform {
  return new Transform({
    objectMode: true,
    transform: (line: string, _encoding, done: Done): void => done(null, JSON.parse(line)),
  });
}

function stringified(): Transform {
  return new Transform({
    writableObjectMode: true,
    transform: (record: unknown, _encoding, done: Done): void => done(null, `${JSON.stringify(record)}\n`),
  });
}

/** Lines by `node:readline`, as the manual has it. */
export async function withReadline(input: string, directory: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(input), crlfDelay: Infinity });
  await pipeline(Readable.from(lines), parsed(), stringified(), createWriteStream(join(directory, "records.ndjson")));
}

/** Lines by a transform, as popular packages do it. */
export async function splitByHand(input: string, directory: string): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const lines = new Transform({
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
  await pipeline(
    createReadStream(input),
    lines,
    parsed(),
    stringified(),
    createWriteStream(join(directory, "records.ndjson")),
  );
}
