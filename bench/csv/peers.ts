import type { Buffer } from "node:buffer";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { type Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { parse } from "csv-parse";
import { stringify } from "csv-stringify";
import Papa from "papaparse";
import { inferSchema, initParser } from "udsv";
import { COLUMNS } from "./corpus.ts";
import type { CsvPipelines } from "./pipelines.ts";
import { Tally } from "./tally.ts";

/** The read size of this package, in bytes. */
const READ_SIZE = 256 * 1024;
const FULL = 64 * 1024;

function opened(input: string): Readable {
  return createReadStream(input, { highWaterMark: READ_SIZE });
}

function counting(tally: Tally): Writable {
  return new Writable({
    objectMode: true,
    write(record: string[], _encoding, done): void {
      tally.add(record);
      done();
    },
  });
}

function copyIn(directory: string): Writable {
  return createWriteStream(join(directory, "copy.csv"), { highWaterMark: READ_SIZE });
}

export const csvParse: CsvPipelines = {
  async read(input, directory): Promise<void> {
    const tally = new Tally();
    await pipeline(opened(input), parse(), counting(tally));
    await tally.write(directory);
  },

  async copy(input, directory): Promise<void> {
    await pipeline(opened(input), parse(), stringify(), copyIn(directory));
  },
};

/** Papa Parse has no stream that writes: records are gathered for its function. */
function unparsing(): Transform {
  let rows: string[][] = [];
  const write = (transform: Transform): void => {
    if (rows.length > 0) transform.push(`${Papa.unparse(rows, { newline: "\n" })}\n`);
    rows = [];
  };
  return new Transform({
    writableObjectMode: true,
    transform(row: string[], _encoding, done): void {
      if (rows.push(row) === 512) write(this);
      done();
    },
    flush(done): void {
      write(this);
      done();
    },
  });
}

function papaparsing(): Transform {
  return Papa.parse(Papa.NODE_STREAM_INPUT, { skipEmptyLines: true }) as unknown as Transform;
}

export const papaparse: CsvPipelines = {
  async read(input, directory): Promise<void> {
    const tally = new Tally();
    await pipeline(opened(input).setEncoding("utf8"), papaparsing(), counting(tally));
    await tally.write(directory);
  },

  async copy(input, directory): Promise<void> {
    await pipeline(opened(input).setEncoding("utf8"), papaparsing(), unparsing(), copyIn(directory));
  },
};

/** uDSV has no stream: it is handed each chunk's text, and calls for each row. */
async function udsvRows(input: string, take: (row: string[]) => unknown): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let parser: ReturnType<typeof initParser> | undefined;
  for await (const chunk of opened(input)) {
    const text = decoder.write(chunk as Buffer);
    parser ??= initParser(inferSchema(text, { header: () => [] }));
    parser.chunk(text, parser.stringArrs as never, (row) => {
      take(row as unknown as string[]);
    });
  }
  parser?.end();
}

/** Formats a row by hand, like fast hand-written programs. */
function lineOf(row: readonly string[]): string {
  let line = "";
  for (let i = 0; i < COLUMNS; i++) {
    const field = row[i];
    if (i > 0) line += ",";
    line += /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
  }
  return `${line}\n`;
}

export const udsv: CsvPipelines = {
  async read(input, directory): Promise<void> {
    const tally = new Tally();
    await udsvRows(input, tally.add);
    await tally.write(directory);
  },

  async copy(input, directory): Promise<void> {
    async function* texts(): AsyncGenerator<string> {
      const decoder = new StringDecoder("utf8");
      let parser: ReturnType<typeof initParser> | undefined;
      let text = "";
      const take = (row: unknown): void => {
        text += lineOf(row as string[]);
      };
      for await (const chunk of opened(input)) {
        const part = decoder.write(chunk as Buffer);
        parser ??= initParser(inferSchema(part, { header: () => [] }));
        parser.chunk(part, parser.stringArrs as never, take);
        if (text.length < FULL) continue;
        yield text;
        text = "";
      }
      parser?.end();
      yield text;
    }
    await pipeline(texts, copyIn(directory));
  },
};
