import { createReadStream, createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** The read size of this package, in bytes. */
const READ_SIZE = 256 * 1024;

const require = createRequire(import.meta.url);
const split2: (parse: (line: string) => unknown) => Transform = require("split2");
const ndjson: { parse(): Transform; stringify(): Transform } = require("ndjson");

function stringified(): Transform {
  return new Transform({
    writableObjectMode: true,
    transform: (record: unknown, _encoding, done): void => done(null, `${JSON.stringify(record)}\n`),
  });
}

/** Parses as the package's page shows: the parser is called for each line. */
export async function withSplit2(input: string, directory: string): Promise<void> {
  const file = createReadStream(input, { highWaterMark: READ_SIZE });
  await pipeline(file, split2(JSON.parse), stringified(), createWriteStream(join(directory, "records.ndjson")));
}

/** Does the job by the parsing and the serializing stream of ndjson. */
export async function withNdjson(input: string, directory: string): Promise<void> {
  const file = createReadStream(input, { highWaterMark: READ_SIZE });
  await pipeline(file, ndjson.parse(), ndjson.stringify(), createWriteStream(join(directory, "records.ndjson")));
}
