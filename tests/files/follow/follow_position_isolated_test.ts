import assert from "node:assert/strict";
import {
  appendFile,
  copyFile,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import {
  followFile,
  type FollowFileOptions,
  type FollowPosition,
  RotatingFileWritable,
} from "../../../lib/files/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { within } from "../../support/waits.ts";
import { openFilesIn } from "../written.ts";

/** A program that reads lines, saves them with its position at times, and may be killed after any chunk. */
class Reader {
  readonly lines: string[] = [];
  /** The position as JSON, as it was kept. */
  kept = JSON.stringify("beginning");
  readonly #path: string;
  readonly #options: FollowFileOptions;

  constructor(path: string, options: FollowFileOptions = {}) {
    this.#path = path;
    this.#options = options;
  }

  /**
   * Runs until `isEnd` accepts the lines read, or for `chunks` chunks; keeps the position after chunks for which
   * `isKept` returns true.
   */
  async run(chunks: number, isKept: () => boolean, isEnd = (_lines: string[]): boolean => false): Promise<void> {
    const start = JSON.parse(this.kept);
    const stream = await followFile(this.#path, { interval: 1, ...this.#options, start });
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    const read: string[] = [];
    let rest = "";
    for (let i = 0; i < chunks && !isEnd([...this.lines, ...read]); i++) {
      const { value } = await within(reader.read(), `more than ${this.lines.length} lines`);
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop()!;
      read.push(...parts);
      if (!isKept()) continue;
      this.lines.push(...read.splice(0));
      this.kept = JSON.stringify(stream.position);
    }
    await reader.cancel();
  }
}

for (let seed = 1; seed <= tries(40); seed++) {
  test(`followFile() reads each line once over kills of its reader and rotations, seed ${seed}`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(seed);
      const path = join(folder, ["app.gz", "app.log"][seed % 2]); // the first is no compressed one
      const reader = new Reader(path, { onWarning: (error) => assert.fail(error) });
      reader.kept = JSON.stringify((await followFile(path)).position);
      const expected: string[] = [];
      let names = 0;
      const begun = Date.now() / 1000;
      for (let i = 0; i < 8; i++) {
        const lines = Array.from({ length: 1 + random(9) }, () => `${expected.length + random(1000)} ${i}`);
        for (const line of lines) {
          await appendFile(path, `${line}\n`);
          expected.push(line);
          if (random(6) === 0) {
            const old = `${path}.${++names}`;
            // A copy can only be recognised if at least one of its lines was read before.
            if (random(3) > 0 || !(JSON.parse(reader.kept).offset > 0)) await rename(path, old);
            else { // as logrotate's copytruncate does
              await copyFile(path, old);
              await truncate(path, 0);
            }
            const written = begun + names; // in s: clocks of file systems make steps of some ms
            await utimes(old, written, written);
            await appendFile(path, `rotated ${names}\n`);
            expected.push(`rotated ${names}`);
            if (random(3) === 0) {
              await writeFile(`${old}.gz`, gzipSync(await readFile(old)));
              await utimes(`${old}.gz`, written, written); // as gzip does
              await unlink(old);
            }
          }
        }
        await reader.run(1, () => random(2) === 0);
      }
      await appendFile(path, "the end\n");
      expected.push("the end");
      await reader.run(1000, () => true, (lines) => lines.at(-1) === "the end");
      assert.deepEqual(reader.lines, expected);
      assert.deepEqual(openFilesIn(folder), []);
    }));
}

for (let seed = 1; seed <= tries(20); seed++) {
  test(`followFile() reads each line of a series once over kills of its reader, seed ${seed}`, () =>
    inFolder(async (directory) => {
      const random = randomNumbers(seed);
      const compress = ([undefined, "gzip", "zstd"] as const)[random(3)];
      const name = "app.log";
      const expected: string[] = [];
      const reader = new Reader(join(directory, name), { series: true });
      reader.kept = JSON.stringify((await followFile(join(directory, name), { series: true })).position);
      for (let i = 0; i < 6; i++) {
        const log = new RotatingFileWritable({ directory, name, maxFileSize: 60, append: true, compress });
        const writer = log.getWriter();
        for (let line = random(20); line >= 0; line--) {
          const text = `${i} ${line} ${"-".repeat(random(4) === 0 ? 100 : random(20))}`; // some are longer than a file
          expected.push(text);
          await writer.write(`${text}\n`);
          if (line % 8 === 0) {
            await reader.run(random(3), () => random(2) === 0, (lines) => lines.length === expected.length);
          }
        }
        await writer.close();
        await reader.run(random(3), () => random(2) === 0, (lines) => lines.length === expected.length);
      }
      await reader.run(1000, () => true, (lines) => lines.length === expected.length);
      assert.deepEqual(reader.lines, expected);
      assert.deepEqual(openFilesIn(directory), []);
    }));
}

async function positionAfter(path: string, length: number, options: FollowFileOptions = {}): Promise<FollowPosition> {
  const stream = await followFile(path, { start: "beginning", interval: 1, ...options });
  const reader = stream.getReader({ mode: "byob" });
  let read = 0;
  while (read < length) read += (await reader.read(new Uint8Array(length - read))).value!.length;
  const { position } = stream;
  await reader.cancel();
  assert.deepEqual(stream.position, position);
  return position;
}

async function readFrom(path: string, start: FollowPosition, length: number, options = {}): Promise<string> {
  const reader = (await followFile(path, { start, interval: 1, ...options })).getReader();
  let text = "";
  while (text.length < length) {
    text += new TextDecoder().decode((await within(reader.read(), `more than ${text}`)).value);
  }
  await reader.cancel();
  return text;
}

test("the position of followFile() is behind the last whole line that was given, whatever is read at once", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const text = "one\ntwo\n\nthree\nfo";
    await writeFile(path, text);
    for (let length = 1; length <= text.length; length++) {
      const position = await positionAfter(path, length);
      assert.equal(position.offset, text.slice(0, length).lastIndexOf("\n") + 1);
      assert.deepEqual(JSON.parse(JSON.stringify(position)), position);
      const rest = text.slice(position.offset);
      assert.equal(await readFrom(path, position, rest.length), rest);
    }
  }));

test("followFile() reads a file from its beginning that was written anew or replaced since its position", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    const lines = "line 1\nline 2\n";
    await writeFile(path, lines);
    const position = await positionAfter(path, lines.length);
    for (const other of ["short\n", "line 1\nline 3\nline 4\n", "line 0\nline 2\nline 3\n"]) {
      await writeFile(path, other);
      assert.equal(await readFrom(path, position, other.length, { onWarning }), other);
    }
    assert.deepEqual(warnings, []);
    await rename(path, join(folder, "elsewhere"));
    await writeFile(path, "new\n");
    assert.equal(await readFrom(path, position, 4, { onWarning }), "new\n");
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /^Cannot go on reading .*app\.log: lines behind the position may be lost/);
  }));

test("followFile() begins a series anew that was removed since its position, and goes on where files were removed", () =>
  inFolder(async (directory) => {
    const path = join(directory, "app.log");
    const series = { series: true };
    const fileOf = (number: number): string => join(directory, `app-0000${number}.log`);
    for (const number of [1, 2, 3]) await writeFile(fileOf(number), `line ${number}\n`);
    const position = await positionAfter(path, 14, series);
    assert.equal(position.number, 2);
    await rm(fileOf(2));
    assert.equal(await readFrom(path, position, 7, series), "line 3\n");
    for (const number of [1, 3]) await rm(fileOf(number));
    for (const number of [1, 2]) await writeFile(fileOf(number), `LINE ${number}\n`);
    const { birthtimeMs } = await stat(fileOf(2));
    const later = birthtimeMs <= position.time ? { ...position, time: birthtimeMs - 1 } : position;
    assert.equal(await readFrom(path, later, 14, series), "LINE 1\nLINE 2\n");
  }));

test("followFile() reads a file once that is being compressed as it goes on from its position", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "1\n");
    const position = await positionAfter(path, 2);
    await rename(path, `${path}.2`);
    await writeFile(`${path}.1`, "2\n");
    for (const [i, old] of [`${path}.2`, `${path}.1`].entries()) {
      await utimes(old, 1e9 + i, 1e9 + i);
      await writeFile(`${old}.gz`, gzipSync("cut off").subarray(0, 9));
    }
    await writeFile(path, "3\n");
    assert.equal(await readFrom(path, position, 4), "2\n3\n");
  }));

test("followFile() goes on from a position before the first line of a compressed file", () =>
  inFolder(async (directory) => {
    const path = join(directory, "app.log");
    const series = { series: true };
    await writeFile(join(directory, "app-00001.log.gz"), gzipSync("line 1\n"));
    await writeFile(join(directory, "app-00002.log"), "line 2\n");
    const followed = await followFile(path, { start: "beginning", interval: 1, ...series });
    const { position } = followed;
    await followed.cancel();
    assert.equal(position.offset, 0);
    assert.equal(await readFrom(path, position, 14, series), "line 1\nline 2\n");
    await writeFile(`${path}.1.gz`, gzipSync("line 1\n"));
    await writeFile(path, "line 2\n");
    const { number: _number, ...named } = position;
    assert.equal(await readFrom(path, { ...named, file: `${path}.1.gz` }, 14), "line 1\nline 2\n");
  }));

test("followFile() refuses a position that is none, or that of another kind of file", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "1\n");
    const position = await positionAfter(path, 2);
    await assert.rejects(followFile(path, { start: position, series: true }), {
      name: "TypeError",
      message: "the position is not of a series: pass series: false",
    });
    for (
      const start of [{}, { ...position, offset: -1 }, { ...position, file: 1 }, { ...position, proof: undefined }]
    ) {
      await assert.rejects(followFile(path, { start: start as FollowPosition }), { name: "TypeError" });
    }
  }));
