import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { pbkdf2 } from "node:crypto";
import fs, * as files from "node:fs";
import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import timers from "node:timers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openFileWritable, RotatingFileWritable } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import { output, run } from "../support/processes.ts";
import { root } from "../support/runtime.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "./written.ts";
import { needs } from "../support/needs.ts";
import { atLast, within } from "../support/waits.ts";

const pbkdf2Async = promisify(pbkdf2);
const writeThenDie = fileURLToPath(new URL("write_then_die.ts", import.meta.url));

/** Returns the words for a process that may use the sources and a folder alone; Bun has no such permissions. */
function withoutProc(folder: string): string[] {
  if ("bun" in process.versions) return [];
  if ("deno" in process.versions) return ["run", "--no-check", "--no-prompt", `--allow-write=${folder}`];
  return ["--permission", `--allow-fs-read=${root}`, `--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`];
}

test("openFileWritable() with append goes on behind what is in the file, which is made if it is missing", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    for (const text of ["first\n", "second\n"]) {
      const stream = await openFileWritable(path, { append: true, mode: 0o600 });
      assert.equal(stream.path, path);
      const writer = stream.getWriter();
      void writer.write(text);
      await writer.close();
    }
    assert.equal(await readFile(path, "utf8"), "first\nsecond\n");
    if (!needs("modes")) assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(openFilesIn(folder), []);
  }));

test(
  "a mode may have the bits for a file's type, as in a status, and all above them",
  { skip: needs("modes") },
  () =>
    inFolder(async (folder) => {
      for (const options of [{ append: true }, { atomic: true }, {}]) {
        for (const mode of [0o100600, 2 ** 32 - 0o10000 + 0o600]) {
          const path = join(folder, `${mode} ${Object.keys(options)}`);
          await (await openFileWritable(path, { ...options, mode })).close();
          assert.equal((await stat(path)).mode & 0o7777, 0o600);
        }
      }
    }),
);

test("streams that append to one file write to its end in turn", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const writers = await Promise.all(
      [1, 2].map(async () => (await openFileWritable(path, { append: true })).getWriter()),
    );
    for (let i = 0; i < 50; i++) for (const [n, writer] of writers.entries()) await writer.write(`${n} ${i}\n`);
    await Promise.all(writers.map((writer) => writer.close()));
    const expected = Array.from({ length: 100 }, (_, i) => `${i % 2} ${Math.floor(i / 2)}\n`);
    assert.equal(await readFile(path, "utf8"), expected.join(""));
  }));

test("the event loop turns while a source that always has a chunk is appended", () =>
  inFolder(async (folder) => {
    const chunk = new Uint8Array(4096);
    const series = { directory: folder, name: "series.log", maxFileSize: 1e9, append: true };
    for (
      const file of [await openFileWritable(join(folder, "a.log"), { append: true }), new RotatingFileWritable(series)]
    ) {
      const end = performance.now() + 5000;
      const source = new globalThis.ReadableStream<Uint8Array>({
        pull(controller) {
          if (performance.now() > end) controller.close();
          else controller.enqueue(chunk);
        },
      });
      await assert.rejects(source.pipeTo(file, { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
    }
  }));

test("reopen() of an appended file leaves what another program has renamed, and makes the name again", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const log = await openFileWritable(path, { append: true });
    const writer = log.getWriter();
    void writer.write("1\n");
    await log.flush();
    await rename(path, `${path}.1`);
    void writer.write("2\n");
    const reopened = log.reopen();
    void writer.write("3\n");
    await reopened;
    await writer.close();
    assert.equal(await readFile(`${path}.1`, "utf8"), "1\n2\n");
    assert.equal(await readFile(path, "utf8"), "3\n");
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("a reopen() that fails rejects, and the stream goes on with the file that it has", {
  skip: process.platform === "win32" && "Windows renames no folder with a file that is open",
}, () =>
  inFolder(async (folder) => {
    const [logs, away] = [join(folder, "logs"), join(folder, "away")];
    await mkdir(logs);
    const log = await openFileWritable(join(logs, "app.log"), { append: true });
    const writer = log.getWriter();
    let expected = "";
    const write = (text: string): Promise<void> => (expected += text, writer.write(text));
    await write("before\n");
    await rename(logs, away);
    for (const isImmediate of [false, true, false]) {
      const results = [write("one\n"), log.reopen(), write("two\n"), log.reopen(), log.flush()];
      if (isImmediate) log.flushSync();
      const settled = await Promise.allSettled(results);
      assert.deepEqual(settled.map(({ status }) => status), [
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      assert.equal((settled[1] as PromiseRejectedResult).reason.code, "ENOENT");
    }
    await mkdir(logs);
    await log.reopen();
    await writer.write("after\n");
    await writer.close();
    assert.equal(await readFile(join(away, "app.log"), "utf8"), expected);
    assert.equal(await readFile(join(logs, "app.log"), "utf8"), "after\n");
    assert.deepEqual(openFilesIn(folder), []);
  }));

test(
  "reopen() waits for no reader of a pipe, and goes on with one that has a reader",
  { skip: needs("mkfifo") },
  () =>
    inFolder(async (folder) => {
      const [path, former] = [join(folder, "log"), join(folder, "former")];
      const log = await openFileWritable(path, { append: true });
      const writer = log.getWriter();
      await writer.write("before\n");
      await rename(path, former);
      execFileSync("mkfifo", [path]);
      for (const isImmediate of [false, true]) {
        const reopened = assert.rejects(log.reopen(), { code: "ENXIO" });
        if (isImmediate) log.flushSync();
        await reopened;
      }
      await writer.write("still\n");
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      await log.reopen();
      await writer.write("after\n");
      await writer.close();
      assert.equal(await readFile(former, "utf8"), "before\nstill\n");
      const read = new Uint8Array(100);
      assert.equal(new TextDecoder().decode(read.subarray(0, readSync(reader, read))), "after\n");
      closeSync(reader);
      assert.deepEqual(openFilesIn(folder), []);
    }),
);

test("a device that is opened again waits for its reader, as Deno does not tell how much it has taken otherwise", {
  skip: process.platform !== "linux" && "only Linux shows what a process has open",
}, async () => {
  const log = await openFileWritable("/dev/null", { append: true });
  const flags = (): number[] =>
    readdirSync("/proc/self/fd").flatMap((number) => {
      try {
        if (readlinkSync(`/proc/self/fd/${number}`) !== "/dev/null") return [];
        return parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))![1], 8);
      } catch {
        return []; // the descriptor of the listing
      }
    }).filter((each) => each & constants.O_APPEND);
  assert.equal(flags().length, 1);
  await log.reopen();
  await log.flush(); // closes the former one
  assert.ok(flags().length > 0);
  assert.deepEqual(flags().filter((each) => each & constants.O_NONBLOCK), []);
  await log.close();
});

test("reopen() of a device opens the one that it has looked at, whatever has the name by then", {
  skip: needs("mkfifo") || (process.platform !== "linux" && "only Linux has paths of what is open"),
}, (context) =>
  inFolder(async (folder) => {
    const [path, pipe] = [join(folder, "log"), join(folder, "pipe")];
    execFileSync("mkfifo", [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK); // so that no opening of the pipe waits
    symlinkSync("/dev/null", path);
    const log = await openFileWritable(path, { append: true });
    const { openSync: open } = fs;
    fs.openSync = ((...args: Parameters<typeof open>) => {
      const number = open(...args);
      if (args[0] === path) renameSync(pipe, path);
      return number;
    }) as never;
    syncBuiltinESMExports();
    try {
      if (files.openSync === open) return context.skip("imports of this runtime do not follow the module");
      await log.reopen();
    } finally {
      fs.openSync = open;
      syncBuiltinESMExports();
    }
    const writer = log.getWriter();
    await writer.write("text");
    assert.equal(readSync(reader, new Uint8Array(10)), 0);
    await writer.close();
    closeSync(reader);
    const device = await openFileWritable("/dev/null", { append: true, followLinks: false });
    await device.reopen();
    await device.close();
  }));

test("reopen(), and a series that goes on, wait for a file server that has a lease on the file", (context) =>
  inFolder(async (folder) => {
    const options = { directory: folder, name: "log", maxFileSize: 1000, append: true };
    const path = join(folder, "log-00001");
    const series = new RotatingFileWritable(options).getWriter();
    await series.write("first\n");
    await series.close();
    const log = await openFileWritable(path, { append: true });
    const { openSync } = fs;
    let refusals = 0;
    fs.openSync = ((...args: Parameters<typeof openSync>) => {
      if (args[0] !== path || refusals-- <= 0) return openSync(...args);
      throw Object.assign(new Error("EAGAIN: leased"), { code: "EAGAIN" });
    }) as never;
    syncBuiltinESMExports();
    try {
      if (files.openSync === openSync) return context.skip("imports of this runtime do not follow the module");
      refusals = 3;
      await log.reopen();
      assert.equal(refusals, -1);
      refusals = 3;
      const writer = new RotatingFileWritable(options).getWriter();
      await writer.write("second\n");
      await writer.close();
      assert.ok(refusals < 0);
    } finally {
      fs.openSync = openSync;
      syncBuiltinESMExports();
    }
    await log.close();
    assert.equal(readFileSync(path, "utf8"), "first\nsecond\n");
  }));

test("a pipe whose reader goes while it is opened is named, and no descriptor of it stays", {
  skip: process.platform !== "linux" && "only Linux shows what a process has open",
}, (context) =>
  inFolder(async (folder) => {
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const opening = openFileWritable(path, { append: true });
    const end = performance.now() + 2000;
    while (openFilesIn(folder).length < 2 && performance.now() < end); // another thread opens it
    const isOpen = openFilesIn(folder).length === 2;
    if (isOpen) closeSync(reader);
    const message = `Cannot open ${path}: the pipe has no reader, or the device is missing (ENXIO)`;
    if (isOpen) await assert.rejects(opening, { code: "ENXIO", message });
    else await (await opening).close();
    if (!isOpen) closeSync(reader);
    await atLast(() => openFilesIn(folder).length === 0);
    assert.deepEqual(openFilesIn(folder), []);
    if (!isOpen) context.skip("this runtime opens nothing beside a turn of the event loop");
  }));

test("flushSync() of an appended file has written everything when it returns, pairs of surrogates among it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const log = await openFileWritable(path, { append: true });
    const writer = log.getWriter();
    let expected = "";
    for (let i = 0; i < 4000; i++) {
      const line = `${i} \ud83d\ude00 ${"y".repeat(100)}\n`;
      expected += line;
      writer.write(line.slice(0, 6)).catch(() => {});
      writer.write(line.slice(6)).catch(() => {});
      if (i % 500 === 250) await new Promise((resolve) => setImmediate(resolve)); // a batch is being written
      if (i % 500 !== 300) continue;
      log.flushSync();
      assert.equal(await readFile(path, "utf8"), expected);
    }
    await writer.close();
    assert.equal(await readFile(path, "utf8"), expected);
  }));

test("what cannot be appended errors the stream", { skip: cannotMount }, () =>
  onSmallDisk(100, async (disk) => {
    const log = await openFileWritable(join(disk, "app.log"), { append: true });
    const writer = log.getWriter();
    const write = writer.write("z".repeat(200_000));
    await assert.rejects(write, { code: "ENOSPC", message: /^Cannot write .*app\.log: no space is left/ });
    await assert.rejects(log.flush(), { code: "ENOSPC" });
    await assert.rejects(writer.closed, { code: "ENOSPC" });
    assert.deepEqual(openFilesIn(disk), []);
  }));

test("flushSync() has nothing to do once a stream was closed or aborted", () =>
  inFolder(async (folder) => {
    for (const end of ["close", "abort"] as const) {
      const path = join(folder, end);
      const streams = [
        await openFileWritable(path, { append: true }),
        new RotatingFileWritable({ directory: path + "s", maxFileSize: 10, append: true }),
      ];
      for (const stream of streams) {
        const writer = stream.getWriter();
        await writer.write("text");
        await writer[end]();
        stream.flushSync();
      }
    }
    assert.equal(await readFile(join(folder, "close"), "utf8"), "text");
  }));

test("append refuses what it excludes, and its methods refuse files without it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    for (const options of [{ atomic: true }, { replace: false }, { temporary: "x" }]) {
      await assert.rejects(openFileWritable(path, { append: true, ...options }), TypeError);
    }
    await assert.rejects(openFileWritable(join(folder, "no/app.log"), { append: true }), {
      code: "ENOENT",
      message: /^Cannot open .*: the directory is missing \(ENOENT\)$/,
    });
    const defaults = { append: true, atomic: false, replace: true };
    await (await openFileWritable(path, defaults)).close();
    await writeFile(path, "old");
    const stream = await openFileWritable(path);
    assert.throws(() => stream.flushSync(), TypeError);
    await assert.rejects(stream.reopen(), TypeError);
    const writer = stream.getWriter();
    void writer.write("new");
    await stream.flush();
    assert.equal(await readFile(path, "utf8"), "new");
    await writer.close();
  }));

test("flushSync() writes large chunks to their end, whatever others append meanwhile", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const log = await openFileWritable(path, { append: true });
    const series = new RotatingFileWritable({ directory: folder, maxFileSize: 1e9, name: "of.log", append: true });
    for (const stream of [log, series]) {
      const writer = stream.getWriter();
      const file = stream === log ? path : join(folder, "of-00001.log");
      let expected = "";
      for (let i = 0; i < 10; i++) {
        for (let k = 0; k < 10; k++) {
          const line = `${i} ${k} `.padEnd(30_000, "x") + "\n";
          expected += line;
          void writer.write(line);
        }
        if (i > 0) await new Promise((resolve) => setImmediate(resolve)); // a batch is being written
        appendFileSync(path, `${"y".repeat(400_000)}\n`);
        expected += "last\n";
        void writer.write("last\n");
        stream.flushSync();
        assert.equal(readFileSync(file, "utf8").replace(/y+\n/g, ""), expected);
      }
      await writer.close();
      assert.equal(readFileSync(file, "utf8").replace(/y+\n/g, ""), expected);
    }
  }));

test("flushSync() writes each byte once and in order after a file was cut to nothing, be the threads busy, or lines alike", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const log = await openFileWritable(path, { append: true });
    const writer = log.getWriter();
    for (let round = 0; round < 30; round++) {
      const before = [100, 5000, 70_000][round % 3];
      const length = [before, 40, before * 2, 3_000_000][round % 4];
      await writer.write("x".repeat(before));
      const isCutBefore = round % 5 < 3;
      if (isCutBefore) truncateSync(path);
      const busy = round % 2 === 0
        ? Array.from({ length: 8 }, () => pbkdf2Async("password", "salt", 5000, 64, "sha512"))
        : [];
      void writer.write(`z${"y".repeat(length - 1)}`); // of bytes alike those behind them would count as another write's
      if (round % 3 > 0) await new Promise((resolve) => setImmediate(resolve));
      // Where the call has begun, what it wrote is cut off, too.
      const isCutLater = !isCutBefore && busy.length > 0 && length !== before;
      if (isCutLater) truncateSync(path);
      void writer.write("last words");
      log.flushSync();
      const text = readFileSync(path, "latin1");
      const [former, y, last] = /^(x*)(z?y*)(.*)$/.exec(text)!.slice(1).map((each) => each.length);
      assert.equal(last, 10, text.slice(-20));
      if (isCutLater) assert.ok(y <= length, `round ${round}: ${y} of ${length}`);
      else assert.deepEqual([former, y], [isCutBefore ? 0 : before, length], `round ${round}`);
      await Promise.all(busy);
      truncateSync(path);
    }
    await writer.close();
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("flushSync() of a pipe returns when the pipe has everything, in order, though a write to it is under way", {
  skip: needs("mkfifo", "proc"),
}, () =>
  inFolder(async (folder) => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const words = "deno" in process.versions ? ["run", "-A", "--no-check", writeThenDie] : [writeThenDie];
    const reading = output("sh", ["-c", 'exec <"$0"; sleep 0.2; cat', pipe], folder);
    const { stderr } = await run(process.execPath, [...words, pipe], folder);
    assert.equal(stderr, "");
    const read = await reading;
    assert.equal(read.length, 300_000);
    assert.match(read, /^a+b+$/);
  }));

test(
  "a pipe whose reader takes nothing ends flushSync() with an error after two seconds, without /proc, too",
  {
    skip: needs("mkfifo", "proc"),
  },
  () =>
    inFolder(async (folder) => {
      const pipe = join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      const reader = openSync(pipe, "r+");
      const message = `Cannot flush ${pipe}: its reader has taken nothing for 2000 ms`;
      const other = run(process.execPath, [...withoutProc(folder), writeThenDie, pipe], root);
      const stream = await openFileWritable(pipe, { append: true });
      const writer = stream.getWriter();
      const written = Promise.allSettled([writer.write(new Uint8Array(200_000)), writer.closed]);
      await new Promise((resolve) => setImmediate(resolve));
      assert.throws(() => stream.flushSync(), { message });
      assert.deepEqual((await written).map(({ status }) => status), ["rejected", "rejected"]);
      const { stderr } = await other;
      assert.ok(stderr.includes(message), stderr);
      closeSync(reader);
      assert.deepEqual(openFilesIn(folder), []);
    }),
);

test("flushSync() of a series writes what waits for room on a full disk, whatever others append meanwhile", {
  skip: cannotMount,
}, () =>
  onSmallDisk(800, async (disk) => {
    const [ballast, path] = [join(disk, "ballast"), join(disk, "a-00001.log")];
    for (const appendsOther of [false, true]) {
      writeFileSync(ballast, new Uint8Array(400_000));
      const { promise: warned, resolve: onWarning } = Promise.withResolvers<Error>();
      const stream = new RotatingFileWritable({
        directory: disk,
        maxFileSize: 1e6,
        name: "a.log",
        append: true,
        onWarning,
      });
      const writer = stream.getWriter();
      void writer.closed.catch(() => {});
      await writer.write("first\n");
      const text = numbered(500_000);
      const written = Promise.allSettled([writer.write(text), writer.write("last\n")]);
      assert.match((await warned).message, /no space is left/);
      assert.throws(() => stream.flushSync(), { code: "ENOSPC" });
      assert.ok(`first\n${text}`.startsWith(readFileSync(path, "utf8"))); // the part stays for the repetition
      rmSync(ballast);
      if (appendsOther) appendFileSync(path, "y".repeat(150_000));
      stream.flushSync();
      assert.ok(readFileSync(path, "utf8").replace(/y+/, "") === `first\n${text}last\n`);
      assert.deepEqual((await written).map(({ status }) => status), ["fulfilled", "fulfilled"]);
      await writer.close();
      for (const name of readdirSync(disk)) if (name !== "lost+found") rmSync(join(disk, name));
    }
  }));

test("flushSync() takes no write for whole that a full disk has cut short, however soon there is room again", {
  skip: cannotMount,
}, () =>
  onSmallDisk(1024, async (disk) => {
    const [ballast, path] = [join(disk, "ballast"), join(disk, "a.log")];
    for (let ticks = 0; ticks < 30; ticks++) {
      writeFileSync(ballast, new Uint8Array(400_000));
      const stream = await openFileWritable(path, { append: true });
      const writer = stream.getWriter();
      void writer.closed.catch(() => {});
      await writer.write("first\n");
      const written = writer.write(numbered(1e6)).then(() => true, () => false);
      for (let i = 0; i < ticks; i++) await Promise.resolve();
      const hasBegun = statSync(path).size > 6;
      rmSync(ballast);
      let isFlushed = true;
      try {
        stream.flushSync();
      } catch (error) {
        isFlushed = false;
        assert.equal((error as { code?: string }).code, "ENOSPC");
      }
      assert.equal(await written, isFlushed, `${ticks}`);
      if (hasBegun) assert.ok(!isFlushed, `${ticks}`);
      await writer.close().catch(() => {});
      rmSync(path);
    }
  }));

/** Returns a text that does not repeat itself. */
function numbered(length: number): string {
  return Array.from({ length: Math.ceil(length / 10) }, (_, i) => `${i}`.padStart(9, "x") + "\n").join("").slice(
    0,
    length,
  );
}

/** Appends to a file as another process does; returns how many bytes a disk took, NaN if it was full and that is not known. */
function appendNow(path: string, text: string): number {
  const file = openSync(path, "a");
  try {
    return writeSync(file, text);
  } catch {
    return NaN;
  } finally {
    closeSync(file);
  }
}

test(
  "what flushSync() acknowledges is in the file, and write() then, though others append before a call that a disk cuts short",
  {
    skip: cannotMount,
  },
  () =>
    onSmallDisk(1024, async (disk) => {
      const [path, ballast] = [join(disk, "a.log"), join(disk, "ballast")];
      let flushed = 0;
      for (let round = 0; round < 16; round++) {
        const [own, other] = round % 2 === 0 ? [numbered(400_000), "o"] : ["same\n".repeat(80_000), "same\n"];
        const others = other.repeat([0, 1, 20_000][round % 3]);
        const room = [100_000, 300_000, 600_000, 299_000][Math.floor(round / 4)];
        const log = await openFileWritable(path, { append: true });
        const writer = log.getWriter();
        writer.closed.catch(() => {});
        await writer.write("begin\n");
        writeFileSync(ballast, new Uint8Array(1_040_384 - Math.ceil((room + others.length) / 4096) * 4096));
        const busy = Array.from({ length: 8 }, () => pbkdf2Async("password", "salt", 2000, 64, "sha512"));
        const written = writer.write(own).then(() => true, () => false);
        await Promise.resolve();
        const added = others === "" ? 0 : appendNow(path, others);
        const isFull = (): boolean => statfsSync(disk).bavail === 0;
        for (const end = performance.now() + 2000; room < 400_000 && !isFull() && performance.now() < end;);
        if (round % 4 < 3) rmSync(ballast);
        let isFlushed = true;
        try {
          log.flushSync();
          flushed++;
        } catch {
          isFlushed = false;
        }
        const isWritten = await written;
        const text = readFileSync(path, "latin1");
        if (isFlushed) assert.ok(isWritten, `round ${round}`);
        if (isWritten && added >= 0) assert.equal(text.length, 6 + own.length + added, `round ${round}`);
        if (isWritten && other === "o") assert.ok(text.replaceAll("o", "") === `begin\n${own}`, `round ${round}`);
        await writer.close().catch(() => {});
        await Promise.all(busy);
        rmSync(path);
        rmSync(ballast, { force: true });
      }
      assert.ok(flushed > 3, `${flushed} have returned`);
    }),
);

test("appended files and series acknowledge what is written while a test's clock has replaced immediates", () =>
  inFolder(async (folder) => {
    const file = await openFileWritable(join(folder, "a.log"), { append: true });
    const series = new RotatingFileWritable({ directory: join(folder, "series"), maxFileSize: 1000, append: true });
    const writers = [file.getWriter(), series.getWriter()];
    for (const writer of writers) await writer.write("one\n");
    const { setImmediate } = globalThis;
    timers.setImmediate = globalThis.setImmediate = (() => ({})) as unknown as typeof setImmediate;
    try {
      for (const writer of writers) {
        for (const end = performance.now() + 6; performance.now() < end;); // the turn is over
        await within(writer.write("two\n"), "the write");
        await within(writer.close(), "the end");
      }
    } finally {
      timers.setImmediate = globalThis.setImmediate = setImmediate;
    }
    assert.equal(readFileSync(join(folder, "a.log"), "utf8"), "one\ntwo\n");
  }));
