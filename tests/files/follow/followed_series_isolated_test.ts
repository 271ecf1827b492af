import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { appendFile, mkdir, readdir, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { followFile, RotatingFileWritable, type RotationOptions } from "../../../lib/files/mod.ts";
import { OpenFile } from "../../../lib/files/open_file.ts";
import { SeriesRecord } from "../../../lib/files/series/series_record.ts";
import { LineStream } from "../../../lib/text/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { tries } from "../../support/long_run.ts";
import { needs } from "../../support/needs.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { pause, until, within } from "../../support/waits.ts";
import { openFilesIn } from "../written.ts";
import { Following } from "./following.ts";

const name = "app.log";

async function write(directory: string, options: Partial<RotationOptions>, lines: Iterable<string>): Promise<void> {
  const log = new RotatingFileWritable({ directory, name, maxFileSize: 1000, append: true, ...options });
  const writer = log.getWriter();
  let written = 0;
  for (const line of lines) {
    writer.write(line).catch(() => {}); // reported by close()
    if (++written % 100 === 0) await pause(1);
  }
  await writer.close();
}

function* numbered(from: number, to: number): Iterable<string> {
  for (let i = from; i < to; i++) yield `line ${i}\n`;
}

for (const compress of [undefined, "zstd", "gzip", "brotli"] as const) {
  test(`followFile() reads every line of a series once while it rotates, ${compress ?? "not"} compressed`, () =>
    inFolder(async (folder) => {
      const options = { signal: AbortSignal.timeout(60_000), series: true, interval: 3 };
      const early = await followFile(join(folder, name), options); // there is nothing yet
      await write(folder, { compress }, numbered(0, 500));
      if (compress !== undefined) assert.match((await readdir(folder)).join(), /app-00001\.log\.(zst|gz|br)/);
      const late = await followFile(join(folder, name), { ...options, start: "beginning" });
      const end = await followFile(join(folder, name), options);
      const reading = [[early, 0], [late, 0], [end, 500]].map(async ([stream, next]) => {
        let expected = next as number;
        for await (const line of (stream as ReadableStream<Uint8Array>).pipeThrough(new LineStream())) {
          assert.equal(line, `line ${expected++}`);
          if (expected === 1500) break;
        }
      });
      await write(folder, { compress }, numbered(500, 1500));
      await within(Promise.all(reading), "all lines");
      await until(() => openFilesIn(folder).length === 0, "the end of the streams");
    }));
}

test("a file of a series costs as much to end and to follow however many there are: no list is read for each", (context) =>
  inFolder(async (folder) => {
    let [entries, lists] = [0, 0];
    const { get } = Object.getOwnPropertyDescriptor(SeriesRecord.prototype, "entries")!;
    context.mock.getter(SeriesRecord.prototype, "entries", function (this: SeriesRecord) {
      entries++;
      return get!.call(this);
    });
    const list = fs.promises.readdir;
    Object.assign(fs.promises, { readdir: (...args: Parameters<typeof list>) => (lists++, list(...args)) });
    syncBuiltinESMExports();
    try {
      const log = new RotatingFileWritable({ directory: folder, name, maxFileSize: 10, append: true });
      const writer = log.getWriter();
      for (const line of numbered(0, 40)) await writer.write(line);
      assert.ok(entries < 20, `${entries} reads of all entries`);
      await writer.close();
      if (readdir === list) return context.skip("imports of this runtime do not follow the module");
      lists = 0;
      const followed = new Following(await followFile(join(folder, name), { series: true, start: "beginning" }));
      await followed.reach([...numbered(0, 40)].join("").length);
      assert.ok(lists < 20, `${lists} lists of the folder`);
      await followed.cancel();
    } finally {
      Object.assign(fs.promises, { readdir: list });
      syncBuiltinESMExports();
    }
  }));

test("followFile() goes on behind files of a series that were removed before it came to them", () =>
  inFolder(async (folder) => {
    const followed = new Following(await followFile(join(folder, name), { series: true, interval: 3 }));
    await write(folder, { maxFileSize: 7 }, numbered(0, 3));
    assert.equal(await followed.reach(7), "line 0\n");
    await rm(join(folder, "app-00002.log"));
    assert.equal(await followed.reach(14), "line 0\nline 2\n");
    await followed.cancel();
    assert.deepEqual(openFilesIn(folder), []);
  }));

for (let seed = 1; seed <= tries(60); seed++) {
  test(`followFile() reads each line once where a series takes back what failed writes left, seed ${seed}`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(seed);
      const file = join(folder, "app-00001.log");
      await writeFile(file, "");
      const followed = new Following(
        await followFile(join(folder, name), { series: true, start: "beginning", interval: 1 }),
      );
      const expected = Array.from({ length: 12 }, (_, i) => `${i}${"-".repeat(random(8) === 0 ? 5000 : random(90))};`);
      let size = 0;
      const reading = (async () => {
        while (!followed.text.endsWith("the end\n")) await followed.read();
      })();
      for (const line of [...expected, "the end"]) {
        if (random(2) === 0) { // a write that fails within a line, of the same text at first
          await appendFile(
            file,
            line.slice(0, random(line.length)) + ["", "!", `!\n!!\n!${line.slice(0, 3)}`][random(3)],
          );
          if (random(2) === 0) await pause(random(6));
          await truncate(file, size);
          if (random(3) === 0) await pause(random(6));
        }
        await appendFile(file, `${line}\n`);
        size += line.length + 1;
      }
      await reading;
      const lines = followed.text.split("\n").filter((line) => line.endsWith(";"));
      assert.deepEqual(lines.map((line) => line.slice(0, 100)), expected.map((line) => line.slice(0, 100)));
      await followed.cancel();
    }));
}

for (let seed = 1; seed <= tries(60); seed++) {
  test(`followFile() reads each line once where a full disk takes a part of a write, and other programs cut files, seed ${seed}`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(seed);
      const followed = new Following(
        await followFile(join(folder, name), { series: true, start: "beginning", interval: 1 }),
      );
      const areEqual = random(2) === 0;
      let next = 0;
      const text = (): string => areEqual ? "tick\n" : `${next++}${"-".repeat(random(8) === 0 ? 5000 : random(90))};\n`;
      let expected = "";
      const seen = async (): Promise<void> => {
        if (random(3) > 0) await pause(random(8));
      };
      const reading = (async () => {
        while (!followed.text.endsWith("the end\n")) await followed.read();
      })();
      for (let file = 1; file < 4; file++) {
        const path = join(folder, `app-0000${file}.log`);
        await writeFile(path, "");
        for (let write = 0, lines: string[] = []; write < 5; write++) {
          if (random(4) === 0) {
            await until(() => followed.text === expected, "all lines");
            lines = random(2) === 0 ? [] : lines.slice(0, random(lines.length));
            await truncate(path, lines.join("").length);
            for (let turn = 0; turn < 20; turn++) await stat(path).then(() => pause(1)); // the follower looks meanwhile
          }
          const added = Array.from({ length: 1 + random([3, 60, 200][random(3)]) }, text);
          if (file === 3 && write === 4) added.push("the end\n");
          lines.push(...added);
          let batch = added.join("");
          expected += batch;
          for (let failures = random(4); failures > 0; failures--) {
            const taken = random(batch.length);
            await appendFile(path, batch.slice(0, taken));
            batch = batch.slice(taken);
            await seen();
          }
          await appendFile(path, batch);
          await seen();
        }
      }
      await within(reading, "the last line");
      assert.equal(shortened(followed.text), shortened(expected));
      await followed.cancel();
    }));
}

/** Returns a text with short lines, for messages. */
function shortened(text: string): string {
  return text.replace(/-+/g, ({ length }) => `-${length}`);
}

test("followFile() reads the line of a series that was torn in one file and goes on in the next", () =>
  inFolder(async (folder) => {
    const [first, second] = ["app-00001.log", "app-00002.log"].map((each) => join(folder, each));
    await writeFile(first, "whole\nhalf of a");
    const followed = new Following(
      await followFile(join(folder, name), { series: true, start: "beginning", interval: 1 }),
    );
    await followed.reach(15);
    await truncate(first, 10);
    await pause(5);
    await writeFile(second, " line\n");
    assert.equal(await followed.reach(26), "whole\nhalf of a\nhalf line\n");
    await followed.cancel();
  }));

test("followFile() reads each whole line of a series whose writers were killed within a line", () =>
  inFolder(async (folder) => {
    let expected = "";
    for (let i = 1; i < 8; i++) {
      await write(folder, {}, [`line ${i}\n`]);
      const last = (await readdir(folder)).filter((found) => found.startsWith("app-")).sort().at(-1)!;
      const torn = i % 2 === 0 ? "" : `{"torn ${i}`;
      await appendFile(join(folder, last), torn);
      expected += `line ${i}\n${torn && `${torn}\n`}`;
    }
    await write(folder, {}, ["the last\n"]);
    expected += "the last\n";
    const followed = new Following(await followFile(join(folder, name), { series: true, start: "beginning" }));
    assert.equal(await followed.reach(expected.length), expected);
    await followed.cancel();
  }));

test("followFile() leaves names alone that are none of the series, and waits for its folder", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    const followed = new Following(await followFile(join(directory, name), { series: true, interval: 3 }));
    const first = followed.reach(7);
    await pause(10);
    await mkdir(directory);
    for (
      const other of [
        "app.log",
        "app-1.log",
        "app-00001.log.txt",
        "app-00001.log.1",
        ".app-00001.log",
        "xapp-00001.log",
      ]
    ) {
      await writeFile(join(directory, other), "of others\n");
    }
    await pause(10);
    await write(directory, {}, numbered(0, 1));
    assert.equal(await first, "line 0\n");
    await until(() => openFilesIn(folder).length <= 1, "the writer's descriptors");
    await followed.cancel();
    assert.deepEqual(openFilesIn(folder), []);
  }));

const alike = [["app.gz", "gzip"], ["app.log.zst", undefined], [".br", undefined]] as const;
for (const [name, compress] of alike) {
  test(`followFile() reads a series named ${name} as it was written, ${compress ?? "not"} compressed`, () =>
    inFolder(async (folder) => {
      const [first, second] = [[...numbered(0, 5)], [...numbered(5, 8)]];
      await write(folder, { name, compress, maxFileSize: 20 }, first);
      const options = { series: true, start: "beginning", interval: 3 } as const;
      const stream = await followFile(join(folder, name), options);
      const followed = new Following(stream);
      assert.equal(await followed.reach(first.join("").length), first.join(""));
      const start = JSON.parse(JSON.stringify(stream.position));
      await followed.cancel();
      await write(folder, { name, compress, maxFileSize: 20 }, second);
      const later = new Following(await followFile(join(folder, name), { ...options, start }));
      assert.equal(await later.reach(second.join("").length), second.join(""));
      await later.cancel();
    }));
}

for (let seed = 1; seed <= tries(12); seed++) {
  test(`followFile() passes over what has names of a series and is none of its files, seed ${seed}`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(seed);
      const [warnings, expected]: [Error[], string[]] = [[], []];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      const makers = [
        (path: string) => mkdir(path),
        ...needs("mkfifo") ? [] : [(path: string) => execFileSync("mkfifo", [path])],
        ...(needs("links") ? [] : [".", "no", "loop"]).map((target) => (path: string) => symlink(target, path)),
      ];
      if (!needs("links")) await symlink("loop", join(folder, "loop"));
      for (let number = 1; number <= 8; number++) {
        const path = join(folder, `app-0000${number}.log`);
        const isWritten = number === 1 || random(2) === 0;
        if (isWritten) expected.push(`line ${number}\n`);
        if (isWritten) await writeFile(path, expected.at(-1)!);
        const other = isWritten ? `${path}.gz` : path;
        if (isWritten && random(2) === 0) continue;
        await makers[random(makers.length)](other);
      }
      const options = { series: true, interval: 3, onWarning };
      const all = new Following(await followFile(join(folder, name), { ...options, start: "beginning" }));
      const end = new Following(await followFile(join(folder, name), options));
      const late = end.reach(5); // which is waited for
      assert.equal(await all.reach(7 * expected.length), expected.join(""));
      const last = join(folder, `app-0000${expected.at(-1)![5]}.log`);
      await appendFile(last, "here\n");
      assert.equal(await late, "here\n");
      await write(folder, { maxFileSize: 7 }, ["next 1\n", "next 2\n"]);
      assert.equal(await end.reach(19), "here\nnext 1\nnext 2\n");
      assert.deepEqual(warnings, []);
      await Promise.all([all.cancel(), end.cancel()]);
      assert.deepEqual(openFilesIn(folder), []);
    }));
}

for (const [former, latter] of [[1, 1], [2, 2], [2, 3], [3, 2]]) {
  test(`followFile() reads all of a series of ${latter} files that takes the place of one of ${former} at once`, () =>
    inFolder(async (folder) => {
      const [directory, next] = [join(folder, "logs"), join(folder, "next")];
      await write(directory, { maxFileSize: 7 }, numbered(0, former));
      const followed = new Following(
        await followFile(join(directory, name), { series: true, start: "beginning", interval: 3 }),
      );
      await followed.reach(7 * former);
      await pause(20); // for another time of birth
      await write(next, { maxFileSize: 7 }, numbered(former, former + latter));
      await rename(directory, join(folder, "former"));
      await rename(next, directory);
      assert.equal(await followed.reach(7 * (former + latter)), [...numbered(0, former + latter)].join(""));
      await followed.cancel();
      assert.deepEqual(openFilesIn(folder), []);
    }));
}

test("followFile() begins a series anew that was removed and begun anew, and reads nothing twice of one that was not", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    await write(directory, { maxFileSize: 20 }, numbered(0, 9));
    const followed = new Following(
      await followFile(join(directory, name), { series: true, start: "beginning", interval: 3 }),
    );
    const before = [...numbered(0, 9)].join("");
    await followed.reach(before.length);
    const [last] = (await readdir(directory)).filter((name) => !name.startsWith(".")).sort().reverse();
    const rest = followed.reach(before.length + 6);
    await rename(join(directory, last), join(folder, last)); // the older ones are not read again
    await pause(20);
    await rm(directory, { recursive: true });
    await write(directory, {}, ["begun\n"]);
    assert.equal(await rest, `${before}begun\n`);
    await followed.cancel();
    assert.deepEqual(openFilesIn(folder), []);
  }));

for (const isPacked of [false, true]) {
  for (const start of ["beginning", "end", "position"] as const) {
    test(`followFile() from the ${start} begins a series anew with the number of its last file, ${isPacked ? "" : "not "}compressed`, () =>
      inFolder(async (folder) => {
        const path = join(folder, "app-00001.log");
        const former = isPacked ? `${path}.gz` : path;
        await writeFile(former, isPacked ? gzipSync("before\n") : "before\n");
        const options = { series: true, interval: 3, signal: AbortSignal.timeout(5000) };
        let stream = await followFile(join(folder, name), { ...options, start: start === "end" ? start : "beginning" });
        let followed = new Following(stream);
        if (start !== "end") await followed.reach(7);
        if (start === "position") {
          const { position } = stream;
          await followed.cancel();
          stream = await followFile(join(folder, name), { ...options, start: position });
          followed = new Following(stream);
        }
        const expected = start === "beginning" ? "before\nanew\n" : "anew\n";
        const reading = followed.reach(expected.length);
        await pause(20); // for another time of birth, and a check at the former file's end
        const { ino } = await stat(former);
        await rm(former);
        const next = join(folder, "next");
        for (let i = 0; i < 20; i++) { // most disks use the former file's number again
          await writeFile(`${next}${i}`, "anew\n");
          if ((await stat(`${next}${i}`)).ino === ino || i === 19) await rename(`${next}${i}`, path);
          if (await stat(path).catch(() => undefined)) break;
        }
        assert.equal(await reading, expected);
        await followed.cancel();
      }));
  }
}

test("followFile() reads a file that is written anew alone of its series, and not those before it", () =>
  inFolder(async (folder) => {
    const fileOf = (number: number): string => join(folder, `app-0000${number}.log`);
    for (const number of [1, 2]) await writeFile(fileOf(number), `line ${number}\n`);
    const followed = new Following(
      await followFile(join(folder, name), { series: true, start: "beginning", interval: 3 }),
    );
    await followed.reach(14);
    await pause(20); // for another time of birth
    await writeFile(join(folder, "next"), "LINE 2\n");
    await rename(join(folder, "next"), fileOf(2));
    assert.equal(await followed.reach(21), "line 1\nline 2\nLINE 2\n");
    await followed.cancel();
  }));

test("followFile() loses and repeats no line if a failed write is truncated as a file of a series is read, and another one follows", (context) =>
  inFolder(async (folder) => {
    const path = join(folder, "app-00001.log");
    const [before, failed, after] = [60, 3000, 10].map((count) => [...numbered(count, 2 * count)].join(""));
    await writeFile(path, before + failed);
    const followed = new Following(await followFile(join(folder, name), { series: true, start: "beginning" }));
    await followed.reach(before.length + failed.length);
    const { read } = OpenFile.prototype;
    let calls = 0;
    context.mock.method(OpenFile.prototype, "read", async function (this: OpenFile, ...args: Parameters<typeof read>) {
      if (++calls === 1) await truncate(path, before.length);
      if (calls === 2) await appendFile(path, after);
      return await read.apply(this, args);
    });
    assert.equal(await followed.reach(before.length + failed.length + after.length), before + failed + after);
    await followed.cancel();
  }));

const refills = [[0, 12, "end"], [97, 118, "beginning"], [1099, 2000, "end"], [16_999, 32_000, "beginning"]] as const;
for (const [dashes, kept, start] of refills) {
  test(`followFile() from the ${start} reads all of a file of a series that is emptied and filled with ${kept} bytes between two checks, behind a banner of ${dashes}`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "app-00001.log");
      const signal = AbortSignal.timeout(5000);
      const lines = (word: string, length: number): string =>
        Array.from({ length }, (_, i) => i === 0 ? `${"-".repeat(dashes)}\n` : `${word} ${i}\n`).join("").slice(
          0,
          length - 1,
        ) +
        "\n";
      const [before, after] = [lines("before", 100_000), lines("after", kept)];
      await writeFile(path, before);
      const followed = new Following(
        await followFile(join(folder, name), { series: true, start, interval: 3, signal }),
      );
      const read = start === "end" ? "more\n" : `${before}more\n`;
      await appendFile(path, "more\n");
      await followed.reach(read.length);
      await writeFile(path, after);
      assert.equal((await followed.reach(read.length + after.length)).slice(read.length), after);
      await followed.cancel();
    }));
}
