import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { fstatSync as statOpen } from "node:fs";
import { appendFile, lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
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
import { pause, within } from "../../support/waits.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "../written.ts";
import { RotatedLog } from "./rotated_log.ts";

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
   * Runs until `isEnd` accepts the lines read, or for `chunks` chunks; with a `size`, of as many bytes at most, and until
   * none come. Keeps the position before the first chunk, and after others, if `isKept` returns true.
   */
  async run(
    chunks: number,
    isKept: () => boolean,
    isEnd = (_lines: string[]): boolean => false,
    size?: number,
  ): Promise<void> {
    const start = JSON.parse(this.kept);
    const stream = await followFile(this.#path, { interval: 1, ...this.#options, start });
    const reader = stream.getReader({ mode: "byob" });
    const decoder = new TextDecoder();
    const read: string[] = [];
    let rest = "";
    if (isKept()) this.kept = JSON.stringify(stream.position);
    for (let i = 0; i < chunks && !isEnd([...this.lines, ...read]); i++) {
      const chunk = reader.read(new Uint8Array(size ?? 1 << 18));
      const { value } =
        await (size === undefined ? within(chunk, `more than ${this.lines.length} lines`) : orNone(chunk));
      if (value === undefined) break;
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

/** Awaits a read, which ends without bytes if none come for some checks of the file. */
async function orNone<T>(read: Promise<{ value?: T | undefined }>): Promise<{ value?: T | undefined }> {
  read.catch(() => {});
  return await Promise.race([read, pause(40).then(() => ({ value: undefined }))]);
}

/** Functions that change a position as after another mount of its disk, or as on a disk without birth times or numbers. */
const disks: Record<string, (position: FollowPosition, random: (below: number) => number) => Promise<FollowPosition>> =
  {
    "keeps numbers and times of birth": (position) => Promise.resolve(position),
    "has no times of birth": (position) => Promise.resolve({ ...position, born: 0 }),
    "numbers files anew": async (position, random) => ({ ...position, file: await anyFile(position, random) }),
    "has neither": async (position, random) => ({ ...position, file: await anyFile(position, random), born: 0 }),
  };
let folderOfFiles = "";

async function anyFile({ file }: FollowPosition, random: (below: number) => number): Promise<string> {
  if (file === "") return "";
  const names = await readdir(folderOfFiles);
  const { dev, ino } = await lstat(join(folderOfFiles, names[random(names.length)]), { bigint: true });
  return `${dev} ${ino}`;
}

for (let seed = 1; seed <= tries(60); seed++) {
  const disk = Object.keys(disks)[seed % 4];
  test(`followFile() loses no line of a rotated log, and warns before it reads one twice, seed ${seed}: the disk ${disk}`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(seed);
      folderOfFiles = folder;
      const log = new RotatedLog(join(folder, "app.log"), random);
      await log.begin();
      const warnings: string[] = [];
      const reader = new Reader(log.path, { onWarning: ({ message }) => warnings.push(message) });
      const first = await followFile(log.path);
      reader.kept = JSON.stringify(first.position);
      await first.cancel();
      let isProven = seed % 4 === 0;
      for (let i = 0; i < 10; i++) {
        for (let step = random(9); step >= 0; step--) {
          const kind = random(10);
          if (kind < 5) await log.write();
          else if (kind < 6) await log.writeHalf();
          else if (kind < 8) await log.rotate();
          else await log.disturb();
          if (random(3) === 0) await pause(random(8));
        }
        const kept: FollowPosition = JSON.parse(reader.kept);
        isProven &&= !log.hasRemoved && (!log.isChanged || kept.head > 0 && !log.header) || kept.file === "";
        reader.kept = JSON.stringify(await disks[disk](log.hasMoved && kept.file ? onOtherDisk(kept) : kept, random));
        await reader.run(random(3), () => random(2) === 0, () => false, 1 + random(99));
      }
      await log.write(); // ends half a line
      await log.write("the end");
      await reader.run(Infinity, () => true, (lines) => lines.includes("the end"));
      assert.deepEqual(reader.lines.filter((line) => /foreign|older/.test(line)), []);
      const read = reader.lines.filter((line) => /^(?:line \d+;|the end)$/.test(line));
      if (isProven) assert.deepEqual(warnings, []);
      const isOnce = warnings.length === 0;
      if (isOnce) assert.deepEqual(read.filter((line) => log.lines.includes(line)), log.lines);
      else for (const line of log.lines) assert.ok(read.includes(line), `${line} is lost, after ${warnings.join()}`);
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
    const named = join(directory, "named.log");
    await writeFile(`${named}.2.gz`, gzipSync("line 1\n"));
    await writeFile(named, "line 2\n");
    const { number: _number, ...other } = position;
    assert.equal(await readFrom(named, other, 14), "line 1\nline 2\n");
  }));

test("followFile() goes on in a copy of its file, whatever damaged or unreadable files have the times and names of one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const onWarning = (error: Error): void => assert.fail(error);
    await writeFile(path, "one\ntwo\n");
    const position = await positionAfter(path, 8);
    for (const [name, bytes] of [["2.gz", gzipSync("one\ntwo\n").subarray(0, 12)], ["3.gz", "one\n"], ["4.zst", ""]]) {
      await writeFile(`${path}.${name}`, bytes);
      await utimes(`${path}.${name}`, (position.time - 10) / 1000, (position.time - 10) / 1000);
    }
    await writeFile(`${path}.1`, "one\ntwo\nthree\n");
    await writeFile(path, "");
    for (let i = 0; i < 3; i++) assert.equal(await readFrom(path, position, 6, { onWarning }), "three\n");
    assert.deepEqual(openFilesIn(folder), []);
  }));

/** Changes a position to that of a file on another disk. */
function onOtherDisk(position: FollowPosition): FollowPosition {
  return { ...position, file: position.file.replace(/^-?\d+/, (device) => String(BigInt(device) + 1n)) };
}

test("followFile() reads a new file of the same disk from its beginning, even if its lines are equal, and tells of it", (context) =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const lines = "starting\nlistening\n";
    await writeFile(path, lines);
    const position = await positionAfter(path, lines.length);
    if (position.born === 0) return context.skip("the disk has no times of birth");
    await rm(path);
    await pause(20); // for another time of birth
    await writeFile(path, `${lines}failed\n`);
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    const length = lines.length + 7;
    assert.equal(await within(readFrom(path, position, length, { onWarning }), "the lines"), `${lines}failed\n`);
    assert.match(warnings.join(), /^Cannot go on reading .*app\.log: lines behind the position may be lost/);
  }));

for (const series of [false, true]) {
  test(`followFile() takes a file${series ? " of a series" : ""} of another disk with another time of birth for a copy, unless the line before the position is repeated, and tells if it may be a new one`, (context) =>
    inFolder(async (folder) => {
      const file = join(folder, series ? "app-00001.log" : "app.log");
      const path = join(folder, "app.log");
      const end = "-".repeat(80); // more than the bytes of the proof
      const logs = [
        [
          "1\n2\n",
          "",
          /app\S*\.log is on another disk .*: if it is a new file, its first lines, which are equal, are not read/,
        ],
        ["1\n1\n", "1\n1\n", /may be lost/],
        [`1 ${end}\n2 ${end}\n`, "", /is on another disk/],
      ] as const;
      for (const [before, read, told] of logs) {
        for (const isKept of [false, true]) {
          await writeFile(file, before);
          const position = onOtherDisk(await positionAfter(path, before.length, { series }));
          if (position.born === 0) return context.skip("the disk has no times of birth");
          await pause(20); // for another time of birth
          await writeFile(`${file}.new`, `${before}3\n`);
          // Most programs that copy a file to another disk keep its time.
          if (isKept) await utimes(`${file}.new`, position.time / 1000, position.time / 1000);
          await rename(`${file}.new`, file);
          const warnings: string[] = [];
          const onWarning = ({ message }: Error): void => void warnings.push(message);
          assert.equal(await readFrom(path, position, read.length + 2, { onWarning, series }), `${read}3\n`);
          if (isKept && read === "") assert.deepEqual(warnings, []);
          else assert.match(warnings.join(), told);
        }
      }
    }));
}

test("followFile() knows a file of a series by its number, if that was compressed before a line of it was read", () =>
  inFolder(async (directory) => {
    const path = join(directory, "app.log");
    const fileOf = (number: number): string => join(directory, `app-0000${number}.log`);
    for (const number of [1, 2]) await writeFile(fileOf(number), `line ${number}\n`);
    const warnings: Error[] = [];
    const options = { series: true, onWarning: (error: Error): void => void warnings.push(error) };
    const first = await followFile(path, { ...options, start: "beginning" });
    const { position } = first;
    await first.cancel();
    const { mtime } = await stat(fileOf(1));
    await writeFile(`${fileOf(1)}.gz`, gzipSync("line 1\n"));
    await utimes(`${fileOf(1)}.gz`, mtime, mtime);
    await rm(fileOf(1));
    assert.equal(await readFrom(path, position, 14, options), "line 1\nline 2\n");
    assert.deepEqual(warnings, []);
    await pause(30);
    await writeFile(fileOf(1), "LINE 1\n"); // the series was restarted
    await writeFile(`${fileOf(2)}.gz`, gzipSync("LINE 2\n"));
    await rm(fileOf(2));
    const later = { ...position, number: 2 };
    assert.equal(await readFrom(path, later, 14, options), "LINE 1\nLINE 2\n");
    assert.equal(warnings.length, 1);
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

test("followFile() goes on behind a position in a file that overlayfs has copied since from a layer", {
  skip: cannotMount,
}, (context) =>
  onSmallDisk(1000, async (disk) => {
    const at = (name: string): string => join(disk, name);
    for (const name of ["lower", "upper", "work", "merged"]) await mkdir(at(name));
    await writeFile(at("lower/app.log"), "one\ntwo\n");
    await writeFile(at("lower/app-00001.log"), "one\ntwo\n");
    for (const name of ["app.log", "app-00001.log"]) await utimes(at(`lower/${name}`), 1e9, 1e9); // as unpacked
    const options = `lowerdir=${at("lower")},upperdir=${at("upper")},workdir=${at("work")}`;
    const mount = spawnSync("mount", ["-t", "overlay", "-o", options, "overlay", at("merged")]);
    if (mount.status !== 0) return context.skip(`overlayfs cannot be mounted: ${mount.stderr}`);
    try {
      for (const series of [false, true]) {
        const path = at("merged/app.log");
        const position = await positionAfter(path, 8, { series });
        await pause(20); // for another time of birth
        await appendFile(series ? at("merged/app-00001.log") : path, "three\n");
        const warnings: string[] = [];
        const onWarning = ({ message }: Error): void => void warnings.push(message);
        assert.equal(await readFrom(path, position, 6, { onWarning, series }), "three\n");
        assert.match(warnings.join(), /is on another disk or layer/);
      }
      const path = at("merged/new.log");
      await writeFile(path, "one\ntwo\n");
      const position = await positionAfter(path, 8, {});
      await pause(20);
      await rm(path);
      await writeFile(path, "one\ntwo\nthree\n");
      const { dev, ino } = await stat(path, { bigint: true }); // ext4 gives a new file the number of a removed one
      const start = { ...position, file: `${dev} ${ino}` };
      assert.equal(await readFrom(path, start, 14, { onWarning() {} }), "one\ntwo\nthree\n");
    } finally {
      spawnSync("umount", ["--lazy", at("merged")]);
    }
  }));

test("a position has the time of birth that its file has since a copy from a layer of overlayfs", (context) =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "one\n");
    const bytes = await followFile(path, { start: "beginning" });
    const reader = bytes.getReader();
    await reader.read();
    const { born, file } = bytes.position;
    const { fstatSync } = fs;
    fs.fstatSync = ((number: number, options: { bigint: true }) => {
      const status = fstatSync(number, options);
      for (const name of ["birthtimeMs", "birthtimeNs"] as const) {
        const value: number | bigint = status[name];
        const later = typeof value === "bigint" ? value + 5_000_000_000n : value + 5000;
        Object.defineProperty(status, name, { value: later });
      }
      return status;
    }) as never;
    syncBuiltinESMExports();
    try {
      if (statOpen === fstatSync || born === 0) return context.skip("no births, or imports do not follow the module");
      await appendFile(path, "two\n");
      await reader.read();
      assert.deepEqual([bytes.position.file, bytes.position.born], [file, born + 5000]);
    } finally {
      fs.fstatSync = fstatSync;
      syncBuiltinESMExports();
      await reader.cancel();
    }
  }));
