import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fs, { openSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test, { mock } from "node:test";
import { NumberFileWriter, RotatingFileWritable, type RotationOptions } from "../../../lib/files/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { pause, within } from "../../support/waits.ts";
import { cannotMount, contents, onSmallDisk, openFilesIn } from "../written.ts";
import { shown, textsOf } from "./written_series.ts";

type Options = Partial<RotationOptions>;

function open(directory: string, options: Options = {}): RotatingFileWritable {
  return new RotatingFileWritable({ directory, name: "app.log", maxFileSize: 10, append: true, ...options });
}

/** Writes items and closes; gives the visible names and texts after that. */
async function written(directory: string, items: readonly string[], options: Options = {}) {
  const log = open(directory, options);
  const writer = log.getWriter();
  for (const item of items) void writer.write(item);
  await writer.close();
  assert.deepEqual(openFilesIn(directory), []);
  return Object.fromEntries(await textsOf(directory));
}

test("a series with append goes on in its last file, and with the next number", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "a/b");
    assert.deepEqual(await written(directory, []), {});
    assert.deepEqual(await written(directory, ["one\n", "two\n"]), { "app-00001.log": "one\ntwo\n" });
    assert.deepEqual(await written(directory, ["3\n", "four\n"]), {
      "app-00001.log": "one\ntwo\n3\n",
      "app-00002.log": "four\n",
    });
    assert.deepEqual(await written(directory, ["five5678\n"]), {
      "app-00001.log": "one\ntwo\n3\n",
      "app-00002.log": "four\n",
      "app-00003.log": "five5678\n",
    });
    const log = open(directory);
    await log.flush();
    assert.deepEqual(log.files, ["app-00001.log", "app-00002.log"].map((name) => join(directory, name)));
    await log.close();
  }));

test("a series keeps its limits on a disk whose files have other numbers after each mount", () =>
  inFolder(async (directory) => {
    const record = join(directory, ".app.log.millrace");
    let next = 0;
    for (let mount = 0; mount < 5; mount++) {
      const lines = Array.from({ length: 4 }, () => `line ${next++}\n`);
      const files = await written(directory, lines, { maxFileSize: 21, maxFiles: 3 });
      assert.ok(Object.keys(files).length <= 3, Object.keys(files).join());
      assert.ok(next < 12 || Object.keys(files).length === 3, Object.keys(files).join());
      assert.match(Object.values(files).join(""), RegExp(`^line \\d+\n(?:line \\d+\n)*line ${next - 1}\n$`));
      if ((await stat(join(directory, Object.keys(files)[0]))).birthtimeMs === 0) return; // nothing else identifies files
      const text = await readFile(record, "utf8");
      await writeFile(record, text.replace(/"ino":(\d+)/g, (_all, ino) => `"ino":${Number(ino) + 7}`));
    }
  }));

test("a series goes on in a file that has another time of birth, as after a copy from a layer of overlayfs", () =>
  inFolder(async (directory) => {
    const record = join(directory, ".app.log.millrace");
    const born = (text: string) => Number(/.*"birth":(\d+)/s.exec(text)![1]);
    await written(directory, ["1\n"]);
    const { birthtimeMs } = await stat(join(directory, "app-00001.log"));
    for (const next of ["2\n", "3\n"]) {
      const text = await readFile(record, "utf8");
      await writeFile(record, text.replaceAll(/"birth":\d+/g, `"birth":${born(text) - 5000}`));
      const log = open(directory);
      const writer = log.getWriter();
      await writer.write(next);
      // A killed process leaves the record as it is now.
      assert.ok(Math.abs(born(await readFile(record, "utf8")) - birthtimeMs) <= 1); // runtimes round differently
      await writer.close();
    }
    assert.deepEqual(Object.fromEntries(await textsOf(directory)), { "app-00001.log": "1\n2\n3\n" });
  }));

test("NumberFileWriter with append goes on in its last file", () =>
  inFolder(async (directory) => {
    for (const numbers of [[1, 2], [3, 4]]) {
      const writer = new NumberFileWriter({ directory, maxFileSize: 6, append: true }).getWriter();
      for (const number of numbers) void writer.write(number);
      await writer.close();
    }
    const files = contents(directory);
    assert.deepEqual([files["numbers-00001.txt"], files["numbers-00002.txt"]], ["1\n2\n3\n", "4\n"]);
  }));

test("a series with append neither writes to files of others nor removes them", () =>
  inFolder(async (directory) => {
    await writeFile(join(directory, "app-00002.log"), "of another\n");
    const options = { maxFiles: 1, maxTotalSize: 1, maxAge: 0 };
    assert.deepEqual(await written(directory, ["12345678\n", "abcdefgh\n"], options), {
      "app-00002.log": "of another\n",
      "app-00004.log": "abcdefgh\n",
    });
    // Another program creates files with later names, or replaces existing files.
    await pause(20); // the times of the two files must differ by the file system's clock
    await rm(join(directory, "app-00004.log"));
    await writeFile(join(directory, "app-00004.log"), "replaced\n");
    await writeFile(join(directory, "app-00006.log"), "also\n");
    assert.deepEqual(await written(directory, ["1\n"], options), {
      "app-00002.log": "of another\n",
      "app-00004.log": "replaced\n",
      "app-00006.log": "also\n",
      "app-00007.log": "1\n",
    });
  }));

test("a series with append leaves a name that is taken while it writes to whoever took it", () =>
  inFolder(async (directory) => {
    const log = open(directory, { compress: "gzip" });
    const writer = log.getWriter();
    await writer.write("first\n");
    await writeFile(join(directory, "app-00001.log.gz"), "no gzip");
    await mkdir(join(directory, "app-00002.log"));
    await writer.write("second\n");
    await writer.close();
    assert.deepEqual(shown(directory), ["app-00001.log", "app-00001.log.gz", "app-00002.log", "app-00003.log"]);
    assert.equal(await readFile(join(directory, "app-00001.log.gz"), "utf8"), "no gzip");
  }));

test("a file that ends with half a line is not continued, unless a stream was closed there", () =>
  inFolder(async (directory) => {
    await written(directory, ["half"]);
    assert.deepEqual(await written(directory, [" line"]), { "app-00001.log": "half line" });
    await writeFile(join(directory, "app-00001.log"), "x", { flag: "a" }); // as of a process that was killed
    assert.deepEqual(await written(directory, ["\n"]), { "app-00001.log": "half linex\n", "app-00002.log": "\n" });
  }));

test(
  "half a line that a full disk lets nothing end is ended before the next file's first line",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const directory = join(disk, "logs");
      await written(directory, ["x".repeat(4095)], { maxFileSize: 5000 });
      await writeFile(join(directory, "app-00001.log"), "x", { flag: "a" }); // of a killed process, up to a page's end
      await assert.rejects(writeFile(join(disk, "ballast"), new Uint8Array(400_000)), { code: "ENOSPC" });
      const log = open(directory, { maxFileSize: 5000, retry: { attempts: 10_000, delay: 5 }, onWarning: () => {} });
      const writer = log.getWriter();
      const whole = writer.write("whole\n");
      await pause(20);
      await rm(join(disk, "ballast"));
      await whole;
      await writer.close();
      assert.deepEqual(Object.fromEntries(await textsOf(directory)), {
        "app-00001.log": `${"x".repeat(4096)}\n`,
        "app-00002.log": "whole\n",
      });
    }),
);

test("half a line of a file that may not be written to is ended by a line feed at the beginning of the next file", (context) =>
  inFolder(async (directory) => {
    await written(directory, ["half"]);
    await writeFile(join(directory, "app-00001.log"), "x", { flag: "a" });
    const { openSync: open } = fs;
    fs.openSync = (path, flags, ...rest) => {
      if (!String(path).endsWith("-00001.log") || ((flags as number) & fs.constants.O_WRONLY) === 0) {
        return open(path, flags, ...rest);
      }
      throw Object.assign(new Error("EACCES: refused"), { code: "EACCES" });
    };
    syncBuiltinESMExports();
    try {
      if (openSync === open) return context.skip("imports of this runtime do not follow the module");
      const expected = { "app-00001.log": "halfx", "app-00002.log": "\nwhole\n" };
      assert.deepEqual(await written(directory, ["whole\n"]), expected);
    } finally {
      fs.openSync = open;
      syncBuiltinESMExports();
    }
    assert.deepEqual((await written(directory, ["end\n"]))["app-00001.log"], "halfx");
  }));

test("a series is waited for as long as a write is retried, be the delay none", () =>
  inFolder(async (directory) => {
    for (const retry of [{ attempts: Infinity, delay: 0 }, { attempts: 10_000, delay: 0 }]) {
      const first = open(directory).getWriter();
      await first.write("1\n");
      const second = open(directory, { retry }).getWriter();
      const write = second.write("2\n");
      await pause(100);
      await first.close();
      await within(write, "the write of the second stream");
      await second.close();
    }
  }));

test("abort() ends the wait for a series that another stream has", () =>
  inFolder(async (directory) => {
    const first = open(directory).getWriter();
    await first.write("1\n");
    for (const attempts of [60, Infinity]) {
      const writer = open(directory, { retry: { attempts, delay: 1000 } }).getWriter();
      const ended = Promise.allSettled([writer.write("2\n"), writer.closed]);
      await pause(20);
      await within(writer.abort(new Error("stop")), "abort()");
      assert.deepEqual((await ended).map(({ status }) => status), ["rejected", "rejected"]);
    }
    await first.close();
    assert.deepEqual(await written(directory, ["3\n"]), { "app-00001.log": "1\n3\n" });
  }));

test("rotate() and flush() take their turn behind what was written, though the stream is locked", () =>
  inFolder(async (directory) => {
    for (const append of [true, false]) {
      const log = open(join(directory, String(append)), { append });
      const writer = log.getWriter();
      void writer.write("1\n");
      const rotated = log.rotate();
      void writer.write("2\n");
      await log.flush();
      await rotated;
      assert.deepEqual(Object.fromEntries(await textsOf(join(directory, String(append)))), {
        "app-00001.log": "1\n",
        "app-00002.log": "2\n",
      });
      await log.rotate();
      await log.rotate(); // without a file there is nothing to end
      await writer.close();
      await assert.rejects(log.rotate(), TypeError);
      await assert.rejects(log.flush(), TypeError);
    }
  }));

test("rotate() begins a file where another program took the last one away", () =>
  inFolder(async (directory) => {
    const log = open(directory, { maxFileSize: 100 });
    const writer = log.getWriter();
    await writer.write("1\n");
    await rename(join(directory, "app-00001.log"), join(directory, "old"));
    await writer.write("2\n");
    await log.rotate();
    await writer.write("3\n");
    await writer.close();
    assert.equal(await readFile(join(directory, "old"), "utf8"), "1\n2\n");
    assert.deepEqual(Object.fromEntries(await textsOf(directory)), { "app-00002.log": "3\n" });
  }));

test("flushSync() has written everything when it returns, over several files and behind a write under way", () =>
  inFolder(async (directory) => {
    const log = open(directory, { maxFileSize: 300_000 });
    const writer = log.getWriter();
    const lines = Array.from({ length: 9000 }, (_, i) => `${i} ${"y".repeat(100)}\n`);
    const told: Promise<void>[] = [];
    const read = () => shown(directory).map((name) => contents(directory)[name]).join("");
    for (const [i, line] of lines.entries()) {
      told.push(writer.write(line));
      if (i % 1000 === 500) await new Promise((resolve) => setImmediate(resolve)); // a batch is being written
      if (i % 1000 !== 600) continue;
      log.flushSync();
      assert.equal(read(), lines.slice(0, i + 1).join(""));
    }
    await Promise.all(told);
    await writer.close();
    assert.equal(read(), lines.join(""));
    assert.equal(shown(directory).length, Math.ceil(lines.join("").length / 300_000));
  }));

test("flushSync() does what was asked for before it, and tells what cannot be written", () =>
  inFolder(async (directory) => {
    const log = open(directory);
    const writer = log.getWriter();
    void writer.write("1\n");
    const rotated = log.rotate();
    void writer.write("2\n");
    log.flushSync();
    assert.deepEqual(Object.fromEntries(await textsOf(directory)), { "app-00001.log": "1\n", "app-00002.log": "2\n" });
    await rotated;
    const failing = writer.write(5 as never);
    assert.throws(() => log.flushSync(), TypeError);
    await assert.rejects(failing, TypeError);
    await assert.rejects(writer.closed, TypeError);
    assert.deepEqual(openFilesIn(directory), []);
  }));

test("a chunk of any size goes into files that end with whole lines, as far as these fit, and ends no series", () =>
  inFolder(async (folder) => {
    for (let seed = 1; seed <= tries(60); seed++) {
      const below = randomNumbers(seed);
      const directory = join(folder, String(seed));
      const maxFileSize = 20 + below(200);
      const longest = maxFileSize + (seed % 3 === 0 ? 300 : -1);
      const log = open(directory, { maxFileSize, append: seed % 2 === 0 || longest > maxFileSize });
      const writer = log.getWriter();
      const chunks = Array.from({ length: 8 }, () => {
        const lines = Array.from({ length: 1 + below(20) }, () => `${"xé€😀"[below(2)].repeat(below(longest) / 2)}\n`);
        return below(2) === 0 ? lines.join("") : new TextEncoder().encode(lines.join(""));
      });
      for (const chunk of chunks) {
        writer.write(chunk).catch(() => {}); // reported by close()
        if (below(8) === 0 && seed % 2 === 0) log.flushSync();
      }
      await writer.close();
      const texts = [...(await textsOf(directory)).values()];
      assert.equal(texts.join(""), await new Blob(chunks).text(), `seed ${seed}`);
      for (const text of texts) {
        assert.ok(Buffer.byteLength(text) <= maxFileSize);
        assert.ok(longest > maxFileSize || text.endsWith("\n"));
      }
    }
  }));

for (const how of ["write()", "flushSync()"]) {
  test(`a file ends with its interval where ${how} writes, also after a restart, and not twice if the clock is set back a little`, () =>
    inFolder(async (directory) => {
      const clock = mock.method(Date, "now");
      const at = (time: string) => clock.mock.mockImplementation(() => Date.parse(time));
      try {
        at("2026-03-01T23:59:59Z");
        const log = open(directory, { maxFileSize: 100, interval: "day" });
        const writer = log.getWriter();
        const write = async (line: string): Promise<void> => {
          const written = writer.write(line);
          if (how === "flushSync()") log.flushSync();
          await written;
        };
        await log.flush(); // the stream has the series
        await write("1 March\n");
        at("2026-03-02T00:00:00Z");
        await write("2 March\n");
        at("2026-03-01T23:59:00Z"); // set back
        await write("still 2 March\n");
        at("2026-03-02T23:00:00Z");
        await write("evening\n");
        await writer.close();
        at("2026-03-02T23:30:00Z");
        await written(directory, ["night\n"], { maxFileSize: 100, interval: "day" });
        at("2026-03-03T00:30:00Z");
        await written(directory, ["3 March\n"], { maxFileSize: 100, interval: "day" });
        at("2026-02-01T00:00:00Z"); // set back by a month
        await written(directory, ["1 February\n"], { maxFileSize: 100, interval: "day" });
      } finally {
        clock.mock.restore();
      }
      assert.deepEqual(Object.fromEntries(await textsOf(directory)), {
        "app-00001.log": "1 March\n",
        "app-00002.log": "2 March\nstill 2 March\nevening\nnight\n",
        "app-00003.log": "3 March\n",
        "app-00004.log": "1 February\n",
      });
    }));
}

test("maxFiles keeps as many files as it says, also while none is being written", () =>
  inFolder(async (folder) => {
    for (const maxFiles of [1, 2, 3]) {
      const directory = join(folder, String(maxFiles));
      const stream = open(directory, { maxFiles });
      const writer = stream.getWriter();
      for (let i = 1; i <= 4; i++) {
        await writer.write(`run ${i}\n`);
        await stream.rotate();
      }
      await writer.close();
      await open(directory, { maxFiles }).close();
      const kept = Object.values(await written(directory, [], { maxFiles }));
      assert.deepEqual(kept, ["run 1\n", "run 2\n", "run 3\n", "run 4\n"].slice(-maxFiles));
    }
  }));

test("maxFiles, maxTotalSize and maxAge remove the oldest files", () =>
  inFolder(async (folder) => {
    const items = ["11111111\n", "22222222\n", "33333333\n", "44444444\n", "55\n"];
    const names = async (options: Options, directory = Object.entries(options).join()) =>
      Object.keys(await written(join(folder, directory), items, options));
    assert.deepEqual(await names({ maxFiles: 1 }), ["app-00005.log"]);
    assert.deepEqual(await names({ maxFiles: 3 }), ["app-00003.log", "app-00004.log", "app-00005.log"]);
    assert.deepEqual(await names({ maxTotalSize: 22 }), ["app-00003.log", "app-00004.log", "app-00005.log"]);
    assert.deepEqual(await names({ maxAge: 3_600_000 }, "aged"), [1, 2, 3, 4, 5].map((i) => `app-0000${i}.log`));
    const later = mock.method(Date, "now", () => performance.timeOrigin + performance.now() + 7_200_000);
    try {
      // The clock of files is the system's: those that are complete are two hours old.
      assert.deepEqual(await written(join(folder, "aged"), [], { maxAge: 3_600_000 }), { "app-00005.log": "55\n" });
    } finally {
      later.mock.restore();
    }
    assert.deepEqual(Object.keys(await written(join(folder, "aged"), ["66666666\n"])), [
      "app-00005.log",
      "app-00006.log",
    ]);
  }));

test("complete files are compressed, with their time and permissions, and those of earlier streams with them", () =>
  inFolder(async (directory) => {
    await written(directory, ["11111111\n", "22222222\n"]);
    const { mtimeMs, mode } = await stat(join(directory, "app-00001.log"));
    const stopped = mock.method(performance, "now", () => 0); // close() compresses for a second at most
    try {
      for (const compress of ["gzip", "brotli", "zstd"] as const) {
        await written(directory, [`${compress}\n`.padStart(9)], { compress });
      }
    } finally {
      stopped.mock.restore();
    }
    const texts = await textsOf(directory);
    assert.deepEqual(
      [...texts.keys()],
      ["1.log.gz", "2.log.gz", "3.log.br", "4.log.zst", "5.log"].map((name) => `app-0000${name}`).filter((name) =>
        texts.has(name)
      ),
    );
    assert.equal([...texts.values()].join(""), "11111111\n22222222\n    gzip\n  brotli\n    zstd\n");
    const packed = await stat(join(directory, "app-00001.log.gz"));
    assert.ok(Math.abs(packed.mtimeMs - mtimeMs) < 2);
    assert.equal(packed.mode, mode);
  }));

test("close() does not wait until all old files are compressed, and the next stream goes on there", () =>
  inFolder(async (directory) => {
    await written(directory, Array.from({ length: 9 }, (_, i) => `${i}2345678\n`));
    let clock = 0;
    const later = mock.method(performance, "now", () => clock += 400);
    try {
      await written(directory, [], { compress: "gzip" });
    } finally {
      later.mock.restore();
    }
    const packed = (): number => shown(directory).filter((name) => name.endsWith(".gz")).length;
    assert.ok(packed() < 8, `${packed()} files`);
    // Each begins none after a second, in which a busy machine compresses one at least.
    while (packed() < 8) await written(directory, [], { compress: "gzip" });
    assert.equal([...(await textsOf(directory)).values()].join("").length, 81);
  }));

test("a file that cannot be compressed stays, and that is told", () =>
  inFolder(async (directory) => {
    const warnings: Error[] = [];
    const log = open(directory, { compress: "zstd", onWarning: (error) => warnings.push(error) });
    const writer = log.getWriter();
    await writer.write("12345678\n");
    const path = join(directory, "app-00001.log");
    await rename(join(directory, ".app.log.millrace"), join(directory, "elsewhere"));
    await mkdir(join(directory, ".app.log.millrace"));
    await assert.rejects(writer.write("abcdefgh\n"), { message: /^Cannot (?:write|create) .*(?:EISDIR|EPERM)/ });
    await writer.closed.catch(() => {});
    assert.equal(await readFile(path, "utf8"), "12345678\n");
  }));

test("a series has one writer at a time, and is free when that is closed, aborted or has failed", () =>
  inFolder(async (directory) => {
    const ends: ((log: RotatingFileWritable) => Promise<unknown>)[] = [
      (log) => log.close(),
      (log) => log.abort(new Error("enough")),
      (log) => log.getWriter().write(5 as never).catch(() => {}),
    ];
    for (const end of ends) {
      const first = open(directory);
      const second = open(directory).getWriter();
      const write = second.write("x");
      await assert.rejects(write, {
        code: "EBUSY",
        message: `Cannot write to ${directory}: another stream of this process writes the series app.log: close that ` +
          "one first, wait for it by retry, or pass another name or directory",
      });
      await second.closed.catch(() => {});
      await open(directory, { name: "other.log" }).close();
      await end(first);
      await written(directory, []);
    }
    assert.deepEqual(await readdir(directory), []);
  }));

test("with retry a series waits for the stream that writes it, as where a program is started before the last one ends", () =>
  inFolder(async (directory) => {
    const first = open(directory, { maxFileSize: 100 });
    const writer = first.getWriter();
    await writer.write("1\n");
    const second = open(directory, { maxFileSize: 100, retry: { attempts: 1000, delay: 100 } }).getWriter();
    const write = second.write("2\n");
    await assert.rejects(open(directory, { retry: { attempts: 2, delay: 10 } }).flush(), { code: "EBUSY" });
    await writer.write("3\n");
    await writer.close();
    await within(write, "the second stream");
    await second.close();
    assert.deepEqual([...(await textsOf(directory)).values()], ["1\n3\n2\n"]);
  }));

for (const call of ["openSync", "writeSync", "writeFileSync"] as const) {
  test(`a series waits while another program refuses ${call}(), and only flushSync() blocks the thread meanwhile`, (context) =>
    inFolder(async (directory) => {
      const { [call]: real, openSync: realOpen } = fs;
      const waits = mock.method(Atomics, "wait");
      let end = 0;
      const refuse = (ms: number): number => end = performance.now() + ms;
      const refusing = (...args: unknown[]): unknown => {
        const [file] = args as [string | number];
        const path = typeof file === "string" ? file : fs.readlinkSync(`/proc/self/fd/${file}`);
        // Files with temporary names are known to no other program; the current one has lost its own.
        if (performance.now() > end || !/app-\d+\.log$|log\.millrace$|\.tmp \(deleted\)$/.test(path)) {
          return (real as (...args: unknown[]) => unknown)(...args);
        }
        throw Object.assign(new Error(`EBUSY: refused, ${call}`), { code: "EBUSY" });
      };
      Object.assign(fs, {
        [call]: refusing,
        openSync: call === "openSync"
          ? refusing
          : (...args: never[]) => (realOpen as (...args: never[]) => number)(...args),
      });
      syncBuiltinESMExports();
      try {
        if (openSync === realOpen || process.platform !== "linux") {
          return context.skip("imports of this runtime do not follow the module");
        }
        refuse(300);
        const warnings: Error[] = [];
        const log = open(directory, {
          maxFileSize: 16,
          maxFiles: 2,
          retry: { attempts: 60, delay: 50 },
          onWarning: (error) => warnings.push(error),
        });
        const writer = log.getWriter();
        for (let i = 0; i < 4; i++) {
          await writer.write(`line ${i}\n`);
          refuse(i === 2 ? 700 : 100);
          if (i === 1) await log.rotate();
        }
        assert.equal(waits.mock.callCount(), 0);
        assert.ok(warnings.every((error) => (error as NodeJS.ErrnoException).code === "EBUSY"));
        refuse(100);
        void writer.write("now\n");
        log.flushSync();
        assert.match([...(await textsOf(directory)).values()].at(-1)!, /now\n$/);
        refuse(0);
        await writer.close();
        assert.deepEqual([...(await textsOf(directory)).values()], ["line 2\nline 3\n", "now\n"]);
      } finally {
        waits.mock.restore();
        Object.assign(fs, { [call]: real, openSync: realOpen });
        syncBuiltinESMExports();
      }
    }));
}

test("a lock of another machine is waited for while it may be held, and removed when it is not", () =>
  inFolder(async (directory) => {
    const lock = join(directory, ".app.log.millrace-lock-00000000.1.0.0-01234567");
    await writeFile(lock, "");
    const beats = setInterval(() => utimes(lock, new Date(), new Date()), 200);
    const refused = open(directory).getWriter();
    await assert.rejects(refused.closed, { code: "EBUSY", message: /the process 1 writes the series/ });
    clearInterval(beats);
    await written(directory, ["free\n"]);
    assert.deepEqual(shown(directory), ["app-00001.log"]);
  }));

test("a folder, or a file, that is removed under a series is made anew, with everything that is told written after it", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    const log = open(directory, { maxFileSize: 100 });
    const writer = log.getWriter();
    await writer.write("1\n");
    await rm(directory, { recursive: true });
    await writer.write("2\n");
    assert.deepEqual([...(await textsOf(directory)).values()], ["2\n"]);
    await rm(join(directory, shown(directory)[0]));
    await writer.write("3\n");
    await log.rotate();
    await rm(directory, { recursive: true });
    await writer.write("4\n");
    log.flushSync();
    assert.deepEqual([...(await textsOf(directory)).values()], ["4\n"]);
    await writer.close();
    assert.deepEqual((await readdir(directory)).length, 2);
    assert.deepEqual([...Object.values(await written(directory, ["5\n"], { maxFileSize: 100 }))], ["4\n5\n"]);
  }));

test(
  "on a full disk a series fails with whole lines, and goes on when there is room",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const directory = join(disk, "logs");
      const line = `${"z".repeat(999)}\n`;
      const log = open(directory, { maxFileSize: 100_000, retry: { attempts: 0 } });
      const writer = log.getWriter();
      writer.closed.catch(() => {});
      let told = 0;
      const writes = Array.from({ length: 300 }, () => writer.write(line).then(() => told++, (error) => error));
      const errors = (await Promise.all(writes)).filter((outcome) => outcome instanceof Error);
      assert.equal((errors[0] as NodeJS.ErrnoException).code, "ENOSPC");
      assert.match(errors[0].message, /^Cannot write .*: no space is left on the device \(ENOSPC\)$/);
      const texts = [...(await textsOf(directory)).values()].join("");
      assert.equal(texts, line.repeat(texts.length / 1000));
      assert.ok(texts.length >= told * 1000);
      await rm(join(directory, "app-00001.log"));
      assert.equal(
        [...Object.values(await written(directory, [line], { maxFileSize: 100_000 }))].at(-1)!.slice(-1000),
        line,
      );
    }),
);

test(
  "with retry a series waits for room on a full disk, and nothing is lost",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const filler = join(disk, "filler");
      await writeFile(filler, new Uint8Array(150_000));
      const directory = join(disk, "logs");
      const log = open(directory, { maxFileSize: 1_000_000, retry: { attempts: 1000, delay: 100 } });
      const writer = log.getWriter();
      const lines = Array.from({ length: 100 }, (_, i) => `${String(i).padEnd(999)}\n`);
      const writes = lines.map((line) => writer.write(line));
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.throws(() => log.flushSync(), Error);
      await rm(filler);
      await Promise.all(writes);
      await writer.close();
      assert.equal([...(await textsOf(directory)).values()].join(""), lines.join(""));
      assert.deepEqual(openFilesIn(directory), []);
    }),
);

test(
  "a reader gets no line twice where a full disk takes a part of a write, which is repeated",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const filler = join(disk, "filler");
      await writeFile(filler, new Uint8Array(100_000));
      const directory = join(disk, "logs");
      const log = open(directory, { maxFileSize: 1_000_000, retry: { attempts: 1000, delay: 20 } });
      const writer = log.getWriter();
      const lines = Array.from({ length: 150 }, (_, i) => `${String(i).padEnd(999)}\n`);
      const writes = lines.map((line) => writer.write(line));
      const sizes: number[] = [];
      for (let look = 0; look < 30; look++) {
        await pause(5);
        if (look === 15) assert.throws(() => log.flushSync(), { code: "ENOSPC" });
        sizes.push(fs.statSync(join(directory, "app-00001.log"), { throwIfNoEntry: false })?.size ?? 0);
      }
      assert.ok(sizes.at(-1)! > 0, "no part of the write is there");
      assert.deepEqual(sizes, sizes.toSorted((one, other) => one - other));
      await rm(filler);
      await Promise.all(writes);
      await writer.close();
      assert.equal([...(await textsOf(directory)).values()].join(""), lines.join(""));
    }),
);

test(
  "an abort does not wait for the retries of a write",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const directory = join(disk, "logs");
      for (const after of [0, 0, 0, 1, 1, 1, 5, 50]) { // during an attempt, or the pause after it
        const log = open(directory, { maxFileSize: 1_000_000, retry: { attempts: 1000, delay: 1_000_000 } });
        const writer = log.getWriter();
        const write = writer.write("z".repeat(300_000));
        await pause(after);
        await Promise.all([assert.rejects(write), within(writer.abort(new Error("enough")), "abort()")]);
        assert.deepEqual(openFilesIn(directory), []);
      }
      assert.deepEqual(await written(directory, ["1\n"], { maxFileSize: 100 }), { "app-00001.log": "1\n" });
    }),
);

for (const how of ["write()", "flushSync()"] as const) {
  test(`${how} of a series on a full disk has all that it says, though its file is emptied or added to meanwhile`, {
    skip: cannotMount,
  }, () =>
    onSmallDisk(1000, async (disk) => {
      const chunk = Array.from({ length: 6000 }, (_, i) => `${String(i).padEnd(99)}\n`).join("");
      for (const what of ["kept", "emptied", "added to"]) {
        const directory = join(disk, what);
        const path = join(directory, "app-00001.log");
        await writeFile(join(disk, "filler"), new Uint8Array(600_000));
        const log = open(directory, {
          maxFileSize: 1e9,
          retry: { attempts: 100, delay: how === "write()" ? 1 : 100_000 },
          onWarning(): void {
            fs.rmSync(join(disk, "filler"));
            if (what === "emptied") fs.truncateSync(path);
            if (what === "added to") fs.appendFileSync(path, "<a mark>");
            if (how === "flushSync()") setImmediate(() => log.flushSync());
          },
        });
        const writer = log.getWriter();
        await writer.write("former\n");
        await writer.write(chunk);
        await writer.write("last\n");
        await writer.close();
        const text = await readFile(path, "utf8");
        assert.equal(text.includes("<a mark>"), what === "added to");
        assert.equal(text.replace("<a mark>", ""), `${what === "emptied" ? "" : "former\n"}${chunk}last\n`, what);
        await rm(directory, { recursive: true });
      }
    }));
}

test(
  "a write that fails leaves nothing in a file that was emptied, and makes no file longer",
  { skip: cannotMount },
  () =>
    onSmallDisk(1000, async (disk) => {
      const directory = join(disk, "logs");
      const log = open(directory, { maxFileSize: 1e9, retry: { attempts: 0 } });
      const writer = log.getWriter();
      writer.closed.catch(() => {});
      await writer.write("x".repeat(300_000));
      fs.truncateSync(join(directory, "app-00001.log"));
      await writer.write("after\n");
      await assert.rejects(writer.write("y".repeat(1_200_000)), { code: "ENOSPC" });
      assert.equal(await readFile(join(directory, "app-00001.log"), "utf8"), "after\n");
    }),
);

test(
  "a whole line is joined with no part of one that failed, though that ends with a full file",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      for (const size of [4096, 5000, 100_000]) {
        const directory = join(disk, "logs");
        const options = { maxFileSize: size, retry: { attempts: 0 } };
        const log = open(directory, options);
        const writer = log.getWriter();
        writer.closed.catch(() => {});
        await writer.write("begin\n");
        await assert.rejects(writer.write(`${"x".repeat(300_000)}\n`), { code: "ENOSPC" });
        for (const name of shown(directory).slice(1, 2)) await rm(join(directory, name));
        await written(directory, ["a whole line\n"], options);
        const text = [...(await textsOf(directory)).values()].join("");
        assert.match(text, /^begin\n(?:x+\n)?\n?a whole line\n$/);
        await rm(directory, { recursive: true });
      }
    }),
);

test("a series of bytes that are no lines has nothing between them after a restart, however it was closed", () =>
  inFolder(async (directory) => {
    for (const [i, rotates] of [true, false, true, true].entries()) {
      const log = open(directory, { maxFileSize: 1000 });
      const writer = log.getWriter();
      await writer.write(String(i));
      if (rotates) await log.rotate();
      await writer.close();
      await written(directory, [], { maxFileSize: 1000 });
    }
    assert.equal([...(await textsOf(directory)).values()].join(""), "0123");
  }));
