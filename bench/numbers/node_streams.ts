import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { nextTick } from "node:process";
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openWithNode } from "../output_file.ts";
import { NumberParser } from "./number_text.ts";
import type { NumberPipelines, NumbersJob } from "./pipelines.ts";
import { SizedFiles } from "./sized_files.ts";

/**
 * The number of values queued between two streams. With twice as many, Node takes 7% less CPU time, with half as many
 * 10% more.
 */
const WAITING = 4096;

type MakeSink = (job: NumbersJob) => Writable;
type Done = (error?: Error | null) => void;

function numbersOfLines(): Transform {
  const parser = new NumberParser();
  return new Transform({
    readableObjectMode: true,
    readableHighWaterMark: WAITING,
    transform(chunk: Uint8Array, _encoding, done): void {
      parser.parse(chunk, (number) => this.push(number));
      done();
    },
  });
}

function pipelinesTo(sinkOf: MakeSink): NumberPipelines {
  return {
    fileToFiles: (job) => pipeline(createReadStream(job.input), numbersOfLines(), sinkOf(job)), // larger reads are slower here
    generatorToFiles: (job) => pipeline(Readable.from(job.numbers(), { highWaterMark: WAITING }), sinkOf(job)),
    writesToFiles: async (job) => {
      const sink = sinkOf(job);
      const finished = new Promise<void>((resolve, reject) => sink.on("error", reject).on("finish", resolve));
      for (const number of job.numbers()) {
        if (!sink.write(number)) await new Promise<void>((drained) => sink.once("drain", drained));
      }
      sink.end();
      await finished;
    },
  };
}

/**
 * The sink takes its whole queue at a time. Calling back at once would make batches of one number, and waiting for the
 * file after each batch costs a third more.
 */
export function withWritev(): NumberPipelines {
  return pipelinesTo(({ directory, maxFileSize }) => {
    const files = new SizedFiles(directory, maxFileSize, openWithNode);
    const addRest = async (chunks: readonly { chunk: number }[], from: number): Promise<void> => {
      for (let i = from; i < chunks.length; i++) {
        if (!files.hasRoom) await files.flush();
        files.add(chunks[i].chunk);
      }
    };
    return new Writable({
      objectMode: true,
      highWaterMark: WAITING,
      writev(chunks: readonly { chunk: number }[], done: Done): void {
        for (let i = 0; i < chunks.length; i++) {
          if (!files.hasRoom) return void addRest(chunks, i).then(() => done(), done);
          files.add(chunks[i].chunk);
        }
        nextTick(done);
      },
      final: (done: Done): void => void files.close().then(() => done(), done),
    });
  });
}

/** Returns pipelines whose sink copies each number into a buffer, and calls back at once unless the buffer is full. */
export function withBuffer(): NumberPipelines {
  return pipelinesTo(({ directory, maxFileSize }) => {
    const files = new SizedFiles(directory, maxFileSize, openWithNode);
    return new Writable({
      objectMode: true,
      highWaterMark: WAITING,
      write(number: number, _encoding, done: Done): void {
        files.add(number);
        if (files.hasRoom) done();
        else files.flush().then(() => done(), done);
      },
      final: (done: Done): void => void files.close().then(() => done(), done),
    });
  });
}

/** Returns pipelines whose sink writes each number to the file, like every example of `Writable`. */
export function withWrite(): NumberPipelines {
  return pipelinesTo(({ directory, maxFileSize }) => {
    let file: FileHandle | undefined;
    let files = 0;
    let left = 0;
    const write = async (number: number): Promise<void> => {
      const line = `${number}\n`;
      if (line.length > left) {
        await file?.close();
        file = await open(join(directory, `numbers-${String(++files).padStart(5, "0")}.txt`), "w");
        left = maxFileSize;
      }
      left -= line.length;
      await file!.write(line);
    };
    return new Writable({
      objectMode: true,
      highWaterMark: WAITING,
      write: (number: number, _encoding, done: Done): void => void write(number).then(() => done(), done),
      final: (done: Done): void => void (file?.close() ?? Promise.resolve()).then(() => done(), done),
    });
  });
}
