import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  closeSync,
  existsSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import {
  AtomicFile,
  copyFileAtomic,
  NumberFileWriter,
  openFileReadable,
  openFileWritable,
  RotatingFileWritable,
} from "../../lib/files/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { DiskSessions } from "../../lib/upload/session/disk_sessions.ts";
import type { SessionRecord } from "../../lib/upload/session/session_storage.ts";
import { HeldFolder } from "../../lib/files/folders.ts";
import { OpenFile } from "../../lib/files/open_file.ts";
import { ProcessLock } from "../../lib/files/process_lock.ts";
import { noise } from "../support/bytes.ts";
import { inFolder } from "../support/folders.ts";
import { cannotListOpenFiles, cannotMount, onSmallDisk, openFilesIn } from "./written.ts";
import { atLast, pause } from "../support/waits.ts";
import { needs } from "../support/needs.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test(
  "AtomicFile cannot be committed after a write that failed",
  { skip: cannotMount },
  () =>
    onSmallDisk(1000, async (disk) => {
      const path = join(disk, "file");
      await writeFile(path, "old");
      for (const atOnce of [false, true]) {
        const file = await AtomicFile.open(path, { atOnce });
        await file.write(noise(500_000, 1));
        await assert.rejects(file.write(noise(700_000, 2)), ({ cause, code, message }) => {
          assert.deepEqual([code, (cause as { code?: unknown }).code], ["ENOSPC", "ENOSPC"]);
          assert.equal(message, `Cannot write ${path}: no space is left on the device (ENOSPC)`);
          return true;
        });
        await assert.rejects(file.write(bytes("x")), { code: "ENOSPC" });
        await assert.rejects(file.commit(), {
          code: "ENOSPC",
          message: `Cannot complete ${path}: no space is left on the device (ENOSPC)`,
        });
        assert.equal(await readFile(path, "utf8"), "old");
        assert.deepEqual(await readdir(disk), ["file"]);
        await assert.rejects(file.commit(), /committed or discarded/);
      }
    }),
);

test("a name that replaces nothing is given back if it cannot be flushed, and one that another file has stays", (context) =>
  inFolder(async (folder) => {
    const { fsync: sync } = fs;
    const path = join(folder, "lock");
    const options = { replace: false, mode: 0o600 };
    const failing = ((_number: number, done: (error: Error) => void) =>
      setImmediate(done, Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" }))) as never;
    for (const isTaken of [false, true]) {
      const file = await AtomicFile.open(path, options);
      if (isTaken) {
        await writeFile(path, "theirs");
      }
      fs.fsync = failing;
      syncBuiltinESMExports();
      try {
        if (fsync === sync) {
          return context.skip("imports of this runtime do not follow the module");
        }
        await assert.rejects(file.commit(), { code: isTaken ? "EEXIST" : "EIO" });
      } finally {
        fs.fsync = sync;
        syncBuiltinESMExports();
        await file.discard();
      }
      assert.deepEqual(await readdir(folder), isTaken ? ["lock"] : []);
    }
    assert.equal(await readFile(path, "utf8"), "theirs");
  }));

test("a series' record keeps its bytes if a file server reports a full disk as late as the new one is closed", (context) =>
  inFolder(async (folder) => {
    const { closeSync: close, openSync: open } = fs;
    const options = { directory: folder, name: "app.log", maxFileSize: 10, append: true, retry: { attempts: 0 } };
    const path = join(folder, ".app.log.millrace");
    const first = new RotatingFileWritable(options).getWriter();
    await first.write("first\n");
    await first.close();
    const record = readFileSync(path, "utf8");
    const full = new Set<number>();
    fs.openSync = (name, ...others) => {
      const number = open(name, ...others);
      if (/[/\\]\.millrace-.*\.tmp$/.test(String(name))) full.add(number);
      return number;
    };
    fs.closeSync = (number) => {
      close(number);
      if (full.delete(number)) throw Object.assign(new Error("EDQUOT: disk quota exceeded"), { code: "EDQUOT" });
    };
    syncBuiltinESMExports();
    try {
      if (closeSync === close) return context.skip("imports of this runtime do not follow the module");
      const writer = new RotatingFileWritable(options).getWriter();
      writer.closed.catch(() => {});
      await assert.rejects(writer.write("the second\n"), { code: "EDQUOT" });
    } finally {
      [fs.closeSync, fs.openSync] = [close, open];
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(path, "utf8"), record);
  }));

test("AtomicFile cannot be committed after a stream that failed, nor while nobody looks at what fails", {
  skip: cannotMount,
}, () =>
  onSmallDisk(1000, async (disk) => {
    const path = join(disk, "file");
    const broken = new ReadableStream<Uint8Array>({
      start(controller): void {
        controller.enqueue(bytes("half"));
      },
      pull(controller): void {
        controller.error(new Error("the template failed"));
      },
    });
    const streamed = await AtomicFile.open(path);
    await assert.rejects(streamed.writeStream(broken), /the template failed/);
    await assert.rejects(streamed.commit(), /^Error: Cannot complete .*file: the template failed$/);

    const unwatched = await AtomicFile.open(path);
    unwatched.write(noise(2_000_000, 1)).catch(() => {});
    await assert.rejects(unwatched.commit(), { code: "ENOSPC" });
    assert.deepEqual(await readdir(disk), []);
  }));

/** The reason why the descriptors of this process cannot be limited; false if they can. */
const cannotLimit = cannotListOpenFiles || (existsSync("/usr/bin/prlimit") ? false : "there is no prlimit");

/** Runs `work` while the process can open only `free` more files. */
async function withDescriptors(free: number, work: () => Promise<void>): Promise<void> {
  const limit = (most: string) => execFileSync("prlimit", [`--nofile=${most}:`, `--pid=${process.pid}`]);
  const [former] = /(?<=^Max open files +)\d+/m.exec(readFileSync("/proc/self/limits", "latin1"))!;
  const numbers: number[] = [];
  limit(String(Math.max(...readdirSync("/proc/self/fd").map(Number)) + 20));
  try {
    for (;;) numbers.push(openSync("/dev/null", "r"));
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, "EMFILE");
    for (const number of numbers.splice(0, free)) closeSync(number);
    await work();
  } finally {
    for (const number of numbers) closeSync(number);
    limit(former);
  }
}

const commits: Readonly<Record<string, (path: string) => Promise<() => Promise<unknown>>>> = {
  "AtomicFile": async (path) => {
    const file = await AtomicFile.open(path);
    await file.write(bytes("new"));
    await file.end();
    return () => file.commit();
  },
  "AtomicFile without replace": async (path) => {
    await rm(path);
    const file = await AtomicFile.open(path, { replace: false });
    await file.write(bytes("new"));
    await file.end();
    return () => file.commit();
  },
  "an upload that was completed in a session": async (path) => {
    const sessions = new DiskSessions(dirname(path), { flush: true });
    const hold = await sessions.create(crypto.randomUUID().replaceAll("-", ""), {} as SessionRecord, () => {});
    await hold.append([bytes("new")]);
    await hold.settle();
    return () => hold.store(basename(path), { overwrite: true }).finally(() => hold.release());
  },
};

for (const [name, begin] of Object.entries(commits)) {
  test(`${name} has its name if and only if its commit is fulfilled, with however few descriptors`, {
    skip: cannotLimit,
  }, () =>
    inFolder(async (folder) => {
      for (const free of [0, 1, 2]) {
        const path = join(folder, "file");
        await writeFile(path, "old");
        const commit = await begin(path);
        let failure: Error | undefined;
        await withDescriptors(free, async () => {
          await commit().catch((error) => failure = error);
        });
        assert.equal((await readFile(path, "utf8").catch(() => "")) === "new", failure === undefined);
        if (failure) assert.match(failure.message, /^Cannot .*: .*\(EMFILE\)$/);
      }
    }));
}

test("a strategy with a size() is refused by what counts by itself", () => {
  const options = { directory: "/nowhere", maxFileSize: 100 };
  for (const type of [RotatingFileWritable, NumberFileWriter]) {
    assert.throws(() => new type(options, new ByteLengthQueuingStrategy({ highWaterMark: 10 })), {
      name: "TypeError",
      message: "the strategy has a size(), which has no effect here: pass { highWaterMark } alone",
    });
  }
});

test(
  "a pipe that is read is cancelled though nobody writes there",
  { skip: needs("mkfifo") },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "pipe");
      execFileSync("mkfifo", [path]);
      const writer = spawn("sh", ["-c", 'exec 3>"$0"; printf x >&3; read line', path], {
        stdio: ["pipe", "ignore", "inherit"],
      });
      const closed = once(writer, "close");
      try {
        const reader = (await openFileReadable(path)).getReader();
        assert.equal((await reader.read()).value?.length, 1);
        const reading = reader.read();
        await new Promise((resolve) => setTimeout(resolve, 100)); // until the system reads
        await reader.cancel();
        assert.equal((await reading).done, true);
      } finally {
        writer.stdin!.end(); // which ends the pending read
        await closed;
      }
      await atLast(() => openFilesIn(folder).length === 0);
      assert.deepEqual(openFilesIn(folder), []);
    }),
);

test(
  "flush waits for files, and has nothing to wait for of a pipe",
  { skip: needs("mkfifo") },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "pipe");
      execFileSync("mkfifo", [path]);
      const reader = promisify(execFile)("cat", [path]);
      const writer = (await openFileWritable(path, { flush: true })).getWriter();
      await writer.write("through");
      await writer.close();
      assert.equal((await reader).stdout, "through");
    }),
);

test("a character that two strings share is written as one, whatever comes between", () =>
  inFolder(async (folder) => {
    const [first, second] = ["\ud83d", "\ude00"]; // of a smiley
    const cases: [readonly (string | Uint8Array)[], string][] = [
      [[first, second], "😀"],
      [[`a${first}`, "", `${second}b`], "a😀b"],
      [[first, first, second, second], "\ufffd😀\ufffd"],
      [[first, bytes("-"), second], "\ufffd-\ufffd"],
      [["end", first], "end\ufffd"],
      [
        [`${"x".repeat(20_000)}${first}`, `${second}${"y".repeat(20_000)}`],
        `${"x".repeat(20_000)}😀${"y".repeat(20_000)}`,
      ],
    ];
    for (const atomic of [false, true]) {
      for (const [chunks, expected] of cases) {
        for (const waits of [false, true]) {
          const path = pathToFileURL(join(folder, "text"));
          const writer = (await openFileWritable(path, { atomic })).getWriter();
          for (const chunk of chunks) {
            const written = writer.write(chunk);
            if (waits) await written;
          }
          await writer.close();
          assert.equal(await readFile(path, "utf8"), expected);
        }
      }
    }
  }));

test("what is no path is refused, whoever takes it", async () => {
  const takers: Record<string, (path: never) => unknown> = {
    openFileReadable,
    openFileWritable,
    series: (path) => new RotatingFileWritable({ directory: path, maxFileSize: 1 }),
  };
  for (const [name, take] of Object.entries(takers)) {
    for (const path of ["", 3, null, undefined, new URL("data:,x")]) {
      await assert.rejects(async () => await take(path as never), { name: "TypeError" }, `${name} of ${path}`);
    }
  }
});

test("a stack tells where the user's code was, before anything of ours", async () => {
  async function usersOwn(): Promise<void> {
    await openFileReadable("/nowhere/file");
  }
  const stack = await usersOwn().then(() => "", (error) => error.stack as string);
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  assert.ok(frames.length > 0, stack);
  assert.ok(frames.filter((line) => line.includes("lib/files")).length <= 2, stack);
});

test(
  "copyFileAtomic() of a pipe, or of what is not there, is refused at once",
  { skip: needs("mkfifo") },
  () =>
    inFolder(async (folder) => {
      execFileSync("mkfifo", [join(folder, "pipe")]);
      await assert.rejects(copyFileAtomic(join(folder, "pipe"), join(folder, "copy")), { code: "EINVAL" });
      await assert.rejects(copyFileAtomic(join(folder, "none"), join(folder, "copy")), {
        code: "ENOENT",
        message: `Cannot read ${join(folder, "none")}: there is no such file (ENOENT)`,
      });
      assert.deepEqual(await readdir(folder), ["pipe"]);
    }),
);

test("what a flushSync() or write() acknowledges is there once and in order, whatever failed before on a full disk", {
  skip: cannotMount,
}, () =>
  onSmallDisk(1000, async (disk) => {
    for (let round = 0; round < 24; round++) {
      const isSeries = round % 2 === 1;
      const directory = join(disk, `of-${round}`);
      mkdirSync(directory);
      const path = join(directory, isSeries ? "a-00001.log" : "a.log");
      const options = { directory, name: "a.log", maxFileSize: 1e9, append: true, retry: { attempts: 3, delay: 5 } };
      const stream = isSeries
        ? new RotatingFileWritable({ ...options, onWarning: () => {} })
        : await openFileWritable(path, { append: true });
      const writer = stream.getWriter();
      writer.closed.catch(() => {});
      await writer.write("start\n");
      let all = "start\n";
      let acknowledged = all;
      const writes: Promise<unknown>[] = [];
      const write = (line: string): void => {
        all += line;
        writes.push(writer.write(line).then(() => acknowledged += line, () => {}));
      };
      const ballast = join(disk, "ballast");
      const room = [50, 90, 130][round % 3] * 4096;
      writeFileSync(ballast, new Uint8Array(statfsSync(disk).bavail * statfsSync(disk).bsize - room));
      const filler = ["x", "\u8a9e", "y"][Math.floor(round / 2) % 3];
      for (let i = 0; i < 80; i++) write(`${i} `.padEnd(2999, filler) + "\n");
      if (round % 4 > 1) await new Promise((resolve) => setImmediate(resolve));
      for (let attempt = 0; attempt < 3; attempt++) {
        let isWhole = true;
        try {
          stream.flushSync();
        } catch {
          isWhole = false;
        }
        if (isWhole) assert.equal(readFileSync(path, "utf8"), all, `round ${round}, attempt ${attempt}`);
        if (attempt === round % 3) rmSync(ballast);
        write(`behind attempt ${attempt}\n`);
        if (round % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await writer.close().catch(() => {});
      await Promise.all(writes);
      const text = readFileSync(path); // whose last character may be cut
      assert.deepEqual(text, Buffer.from(all).subarray(0, text.length), `round ${round}`);
      assert.ok(text.includes(acknowledged), `round ${round}: ${acknowledged.length} are acknowledged`);
      rmSync(ballast, { force: true });
      rmSync(directory, { recursive: true });
    }
  }));

test(
  "a failed close of a file whose bytes concern no caller ends no process",
  { skip: needs("proc") },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      await writeFile(path, "one");
      const { close, closeSync } = fs;
      const failures: unknown[] = [];
      const note = (error: unknown): void => void failures.push(error);
      const refuse = (name: string): Error => Object.assign(new Error(`EDQUOT: ${name}`), { code: "EDQUOT" });
      fs.close = ((number: number, done: (error: Error) => void) =>
        close(number, () => done(refuse("close")))) as never;
      fs.closeSync = (number) => {
        closeSync(number);
        throw refuse("closeSync");
      };
      syncBuiltinESMExports();
      process.on("unhandledRejection", note);
      try {
        assert.throws(() => OpenFile.openSame(path, fs.constants.O_RDONLY, { dev: 0n, ino: 0n }), /another file/);
        OpenFile.openWithoutWaits("/dev/null", fs.constants.O_WRONLY).withoutWaits("/dev/null");
        const folders = [HeldFolder.open(folder), HeldFolder.open(folder)];
        for (const each of folders) each?.release();
        const lock = new ProcessLock({ directory: folder, subject: "the folder", busy: () => new Error("busy") });
        await lock.take();
        lock.release();
        await pause(20);
        assert.deepEqual(failures, []);
      } finally {
        process.off("unhandledRejection", note);
        Object.assign(fs, { close, closeSync });
        syncBuiltinESMExports();
      }
    }),
);
