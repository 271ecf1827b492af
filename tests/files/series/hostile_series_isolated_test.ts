import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, * as files from "node:fs";
import { existsSync, fstatSync, linkSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import {
  AtomicFile,
  isTemporaryName,
  NumberFileWriter,
  RotatingFileWritable,
  type RotationOptions,
} from "../../../lib/files/mod.ts";
import { SeriesRecord } from "../../../lib/files/series/series_record.ts";
import { inFolder } from "../../support/folders.ts";
import { atLast, LIMIT, pause, turn, until, within } from "../../support/waits.ts";
import { cannotMount, onDiskOfFewFiles, openFilesIn } from "../written.ts";
import { shown, textsOf } from "./written_series.ts";
import { needs } from "../../support/needs.ts";

const RECORD = ".app.log.millrace";

function wordsOf(program: string): string[] {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return process.versions.deno ? ["run", "-A", "--no-check", path] : [path];
}

function open(directory: string, options: Partial<RotationOptions> = {}): RotatingFileWritable {
  return new RotatingFileWritable({ directory, name: "app.log", maxFileSize: 10, append: true, ...options });
}

async function written(directory: string, items: readonly string[], options: Partial<RotationOptions> = {}) {
  const writer = open(directory, options).getWriter();
  for (const item of items) void writer.write(item);
  await writer.close();
  return [...(await textsOf(directory)).values()].join("");
}

/** Functions that give a path to a link, another name of the file `other`, and a pipe. */
function makersOfOthers(other: string): readonly ((path: string) => unknown)[] {
  return [
    (path) => symlinkSync(other, path),
    (path) => linkSync(other, path),
    (path) => execFileSync("mkfifo", [path]),
  ];
}

test(
  "a series writes through no link that has the name of one of its files",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      for (const name of [RECORD, `${RECORD}-new`, `${RECORD}-next`, "app-00001.log"]) {
        const directory = join(folder, name);
        const other = join(folder, `other${name}`);
        await mkdir(directory);
        await writeFile(other, "another's\n");
        await symlink(other, join(directory, name));
        await written(directory, ["one\n", "two\n", "three45\n"]);
        await written(directory, ["four\n"]);
        assert.equal(await readFile(other, "utf8"), "another's\n", name);
      }
    }),
);

test("a series appends to no link, and waits for no pipe, that takes its record's name at any time", {
  skip: needs("links", "mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const other = join(folder, "other");
    await writeFile(other, "another's\n");
    for (const [kind, make] of makersOfOthers(other).entries()) {
      const directory = join(folder, String(kind));
      await mkdir(directory);
      make(join(directory, RECORD));
      const stream = open(directory);
      const writer = stream.getWriter();
      for (let i = 0; i < 3; i++) {
        await writer.write("text\n");
        rmSync(join(directory, RECORD));
        make(join(directory, RECORD));
        await stream.rotate();
      }
      await writer.close();
      assert.equal(stream.files.length, 3);
      assert.equal(await readFile(other, "utf8"), "another's\n");
      assert.equal(await written(directory, ["text\n"]), "text\n".repeat(4));
    }
  }));

test("a compression opens no link, no other file and no pipe that takes the name of its file or of its temporary one", {
  skip: needs("links", "mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const other = join(folder, "other");
    await writeFile(other, "another's\n", { mode: 0o600 });
    for (const [kind, make] of makersOfOthers(other).entries()) {
      for (const isTemporary of [false, true]) {
        const directory = join(folder, `${kind} ${isTemporary}`);
        const warnings: string[] = [];
        const onWarning = ({ message }: Error): void => void warnings.push(message);
        const log = open(directory, { compress: "gzip", onWarning });
        const writer = log.getWriter();
        await writer.write("one45678\n");
        await log.rotate();
        const isPacked = (): boolean => shown(directory).includes("app-00001.log.gz");
        const temporary = (): string | undefined => readdirSync(directory).find(isTemporaryName);
        while (temporary() === undefined && !isPacked()) await turn();
        const path = join(directory, isTemporary ? temporary() ?? "late" : "app-00001.log");
        rmSync(path, { force: true });
        make(path); // before the worker has begun, unless the machine is busy
        await within(writer.close(), "close()");
        if (isPacked()) assert.equal((await textsOf(directory)).get("app-00001.log.gz"), "one45678\n");
        else assert.match(String(warnings), /^Cannot compress .*app-00001\.log: /);
        assert.equal(await readFile(other, "utf8"), "another's\n");
        assert.equal((await stat(other)).mode & 0o777, 0o600);
      }
    }
  }));

test("a record that others have written to proves nothing, and stops nothing", () =>
  inFolder(async (directory) => {
    await writeFile(join(directory, "app-00007.log"), "another's\n");
    const { ino, birthtimeMs: birth, size, mtimeMs: mtime } = await stat(join(directory, "app-00007.log"));
    const file = { ino: 1, birth, size, mtime: 1 };
    const lines = [
      { number: 1, file: null },
      { number: 2, file: 5 },
      { number: 3, file: { ino: "x" } },
      { number: 4, file, packed: { ...file, extension: "gz" } },
      { number: 5, file, isPacked: true },
      { number: 7, file: { ...file, ino: String(ino), mtime } },
      { number: 8, opened: "now", file },
      ...[2 ** 53, 2 ** 53 - 1, 2 ** 52 + 1].map((number) => ({ number, isGone: true })),
      null,
      [],
      '{"number":9,"fi',
    ];
    await writeFile(join(directory, RECORD), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const warnings: Error[] = [];
    const onWarning = (error: Error) => void warnings.push(error);
    const options = { maxFiles: 2, compress: "gzip", onWarning } as const;
    await written(directory, ["one45678\n", "two45678\n", "three678\n"], options);
    assert.equal(await written(directory, ["four\n"], options), "another's\nthree678\nfour\n");
    assert.deepEqual(warnings, []);
  }));

test("a file with the largest of all numbers does not keep a series from going on", () =>
  inFolder(async (directory) => {
    for (const number of [2 ** 53 - 1, 2 ** 52]) await writeFile(join(directory, `app-${number}.log`), "");
    for (const text of ["one45678\n", "two45678\n"]) await written(directory, [text, text]);
    assert.equal(shown(directory).length, 6);
  }));

test("flushSync() writes nothing into a series of which it is not known whose it is", () =>
  inFolder(async (directory) => {
    await written(directory, ["theirs\n"]);
    const record = await readFile(join(directory, RECORD), "utf8");
    const lock = join(directory, `${RECORD}-lock-00000000.1.0.0-01234567`);
    await writeFile(lock, "");
    const beats = setInterval(() => utimes(lock, new Date(), new Date()).catch(() => {}), 100);
    try {
      const log = open(directory);
      const writer = log.getWriter();
      const write = assert.rejects(writer.write("mine\n"), { code: "EBUSY" });
      assert.throws(() => log.flushSync(), { code: "EBUSY", message: /not known yet whether another process writes/ });
      await within(assert.rejects(writer.closed, { code: "EBUSY" }), "the end of the stream");
      await write;
      assert.equal(await readFile(join(directory, RECORD), "utf8"), record);
      assert.deepEqual(shown(directory), ["app-00001.log"]);
      assert.deepEqual(openFilesIn(directory), []);
    } finally {
      clearInterval(beats);
    }
  }));

test("flushSync() begins a file again that was removed, or its folder", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    const log = open(directory, { maxFileSize: 100 });
    const writer = log.getWriter();
    await writer.write("1\n");
    await rm(join(directory, "app-00001.log"));
    void writer.write("2\n");
    log.flushSync();
    assert.deepEqual([...(await textsOf(directory)).values()], ["2\n"]);
    await rm(directory, { recursive: true });
    void writer.write("3\n");
    log.flushSync();
    assert.deepEqual([...(await textsOf(directory)).values()], ["3\n"]);
    await writer.close();
    assert.deepEqual((await readdir(directory)).length, 2);
  }));

test("flushSync() in the pause before a retry writes what is to be tried again, once", () =>
  inFolder(async (folder) => {
    for (const delay of [1, 1_000_000]) {
      const directory = join(folder, String(delay));
      const log = open(directory, { retry: { attempts: 1_000_000, delay } });
      const writer = log.getWriter();
      await writer.ready;
      await mkdir(join(directory, RECORD));
      const write = writer.write("one\n");
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.throws(() => log.flushSync());
      await rm(join(directory, RECORD), { recursive: true });
      log.flushSync();
      assert.deepEqual([...(await textsOf(directory)).values()], ["one\n"]);
      await within(write, "the write");
      await writer.close();
      assert.deepEqual([...(await textsOf(directory)).values()], ["one\n"]);
    }
  }));

test("a failure that passes at any step between two files of a series is retried, by default", (context) =>
  inFolder(async (folder) => {
    const originals = { lstatSync: fs.lstatSync, openSync: fs.openSync, linkSync: fs.linkSync };
    const failing = new Map<string, { readonly code: string; readonly end: number }>();
    for (const [name, original] of Object.entries(originals) as [string, (...args: unknown[]) => never][]) {
      fs[name as "openSync"] = ((path: string, ...others: unknown[]) => {
        const failure = failing.get(`${name} ${dirname(path)}`);
        if (failure === undefined || performance.now() >= failure.end) return original(path, ...others);
        throw Object.assign(new Error(`${failure.code}: ${name}`), { code: failure.code });
      }) as never;
    }
    syncBuiltinESMExports();
    try {
      if (files.lstatSync === originals.lstatSync) {
        return context.skip("imports of this runtime do not follow the module");
      }
      const codes = ["EAGAIN", "EBUSY", "EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "ESTALE"];
      await Promise.all(codes.flatMap((code) =>
        Object.keys(originals).map(async (name) => {
          const directory = join(folder, `${code} ${name}`);
          const log = open(directory, { onWarning() {} });
          const writer = log.getWriter();
          await writer.write("one\n");
          failing.set(`${name} ${directory}`, { code, end: performance.now() + 700 });
          await within(Promise.all([writer.write("two4567\n"), log.rotate(), writer.write("three\n")]), directory);
          await writer.close();
          assert.deepEqual([...(await textsOf(directory)).values()], ["one\n", "two4567\n", "three\n"], directory);
        })
      ));
    } finally {
      Object.assign(fs, originals);
      syncBuiltinESMExports();
    }
  }));

test("flushSync() that failed in any call, and was called again, has written each line once", (context) =>
  inFolder(async (folder) => {
    const names = ["lstatSync", "fstatSync", "openSync", "writeSync", "writevSync", "linkSync"] as const;
    const lines = Array.from({ length: 6 }, (_, i) => `line ${i}\n`);
    for (const name of names) {
      const original = fs[name] as (...args: unknown[]) => unknown;
      for (let failing = 0, hasFailed = true; hasFailed; failing++) {
        const directory = join(folder, `${name} ${failing}`);
        const log = open(directory, { maxFileSize: 14 });
        const writer = log.getWriter();
        await writer.write("begin\n");
        for (const line of lines) void writer.write(line).catch(() => {});
        let [calls, isFlushed] = [0, true];
        fs[name] = ((...args: unknown[]) => {
          if (calls++ === failing) throw Object.assign(new Error(`EIO: ${name}`), { code: "EIO" });
          return original(...args);
        }) as never;
        syncBuiltinESMExports();
        try {
          if (files[name] === original) return context.skip("imports of this runtime do not follow the module");
          log.flushSync();
        } catch (error) {
          assert.match(String(error), /EIO/);
          isFlushed = !/Cannot flush/.test(String(error));
        } finally {
          fs[name] = original as never;
          syncBuiltinESMExports();
        }
        hasFailed = calls > failing;
        if (isFlushed) log.flushSync();
        await writer.close().catch(() => assert.ok(!isFlushed));
        assert.equal([...(await textsOf(directory)).values()].join(""), `begin\n${lines.join("")}`, directory);
      }
    }
  }));

test("a series whose lock was removed goes on if it is free, and fails if another stream has it", () =>
  inFolder(async (directory) => {
    const log = open(directory, { maxFileSize: 100 });
    const writer = log.getWriter();
    await writer.write("1\n");
    const removeLock = async () => {
      const [lock] = (await readdir(directory)).filter((name) => name.includes("-lock-"));
      await rm(join(directory, lock));
      await new Promise((resolve) => setTimeout(resolve, 1000)); // until the loss is noticed
    };
    await removeLock();
    await writer.write("2\n");
    await removeLock();
    assert.equal(await written(directory, ["of another\n"], { maxFileSize: 100 }), "1\n2\nof another\n");
    await writer.write("3\n");
    await removeLock();
    const other = open(directory, { maxFileSize: 100 });
    await other.flush();
    await assert.rejects(writer.write("4\n"), { code: "EBUSY" });
    await other.close();
    assert.equal([...(await textsOf(directory)).values()].join(""), "1\n2\nof another\n3\n");
    assert.deepEqual(openFilesIn(directory), []);
  }));

test(
  "with retry a series waits until a file can be made, too",
  { skip: cannotMount },
  () =>
    onDiskOfFewFiles(12, async (disk) => {
      const directory = join(disk, "logs");
      const log = open(directory, { retry: { attempts: 1000, delay: 10 } });
      const writer = log.getWriter();
      await writer.write("one45678\n");
      let fillers = 0;
      for (;; fillers++) if (!await writeFile(join(disk, String(fillers)), "").then(() => true, () => false)) break;
      const write = writer.write("two45678\n");
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual(openFilesIn(directory).filter((path) => !path.includes("-lock-")), []);
      for (let i = 0; i < fillers; i++) await rm(join(disk, String(i)));
      await within(write, "the write");
      await writer.close();
      assert.deepEqual([...(await textsOf(directory)).values()], ["one45678\n", "two45678\n"]);
    }),
);

test("a series writes each line once where no links are counted, as on sshfs, and notices removed files there, too", (context) =>
  inFolder(async (directory) => {
    const own = fs.fstatSync;
    const withoutLinks = (...args: Parameters<typeof own>): unknown => {
      const status = own(...args) as unknown as { nlink: number | bigint };
      status.nlink = typeof status.nlink === "bigint" ? 0n : 0;
      return status;
    };
    Object.assign(fs, { fstatSync: withoutLinks });
    syncBuiltinESMExports();
    try {
      if (fstatSync === own) return context.skip("the modules of this runtime keep their functions");
      const log = open(directory, { maxFileSize: 1000 });
      const writer = log.getWriter();
      for (const line of ["one\n", "two\n"]) await writer.write(line);
      assert.deepEqual([...(await textsOf(directory))], [["app-00001.log", "one\ntwo\n"]]);
      rmSync(join(directory, "app-00001.log"));
      await writer.write("three\n");
      log.flushSync();
      await writer.close();
      assert.deepEqual([...(await textsOf(directory))], [["app-00002.log", "three\n"]]);
    } finally {
      Object.assign(fs, { fstatSync: own });
      syncBuiltinESMExports();
    }
  }));

test("an abort of a NumberFileWriter does not wait for its retries", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    const retry = { attempts: 1000, delay: 1_000_000 };
    const writer = new NumberFileWriter({ directory, maxFileSize: 10, append: true, retry }).getWriter();
    await writer.ready;
    await mkdir(join(directory, ".numbers.txt.millrace"));
    const write = writer.write(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([assert.rejects(write), within(writer.abort(new Error("enough")), "abort()")]);
  }));

test(
  "a series belongs to a process that is blocked while that lives, and is free at once when it was killed",
  { skip: needs("proc") },
  () =>
    inFolder(async (directory) => {
      const child = spawn(process.execPath, [...wordsOf("blocked_process.ts"), directory], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await within(once(child.stdout!, "data"), "the process");
      const [lock] = (await readdir(directory)).filter((name) => name.includes("-lock-"));
      await utimes(join(directory, lock), new Date(0), new Date(0)); // it has been blocked for long
      const refused = open(directory).getWriter();
      await assert.rejects(refused.closed, { code: "EBUSY", message: RegExp(`the process ${child.pid} writes`) });
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      await writeFile(join(directory, lock), "");
      const log = open(directory);
      const writer = log.getWriter();
      void writer.write("2\n");
      log.flushSync(); // nothing is waited for
      await writer.close();
      assert.deepEqual([...(await textsOf(directory)).values()], ["1\n2\n"]);
    }),
);

/** Lets the system refuse to remove some files until the end of a test; undefined if imports do not follow the module. */
function unremovable(isStuck: (path: string) => boolean): Disposable | undefined {
  const { unlinkSync } = fs;
  const set = (unlink: typeof unlinkSync): void => {
    fs.unlinkSync = unlink;
    syncBuiltinESMExports();
  };
  set((path) => {
    if (isStuck(String(path))) throw Object.assign(new Error("EROFS: read-only"), { code: "EROFS" });
    unlinkSync(path);
  });
  if (files.unlinkSync !== unlinkSync) return { [Symbol.dispose]: () => set(unlinkSync) };
  set(unlinkSync);
  return undefined;
}

test("an onWarning that throws ends neither the removal of files nor the stream", (context) =>
  inFolder(async (directory) => {
    await written(directory, ["one45678\n", "two45678\n"]);
    let isStuck = true;
    using stuck = unremovable((path) => isStuck && path.endsWith("app-00001.log"));
    if (stuck === undefined) return context.skip("imports of this runtime do not follow the module");
    const warnings: unknown[] = [];
    const onProcessWarning = (error: Error): void => void warnings.push(error.message);
    process.on("warning", onProcessWarning);
    try {
      let calls = 0;
      const onWarning = (): never => {
        throw new Error(`a fault in onWarning ${++calls}`);
      };
      const writer = open(directory, { maxFiles: 2, onWarning }).getWriter();
      await writer.write("three678\n");
      await until(() => warnings.includes("a fault in onWarning 1"), "a warning");
      isStuck = false;
      await writer.write("four5678\n");
      await within(writer.close(), "close()");
    } finally {
      process.off("warning", onProcessWarning);
    }
    assert.deepEqual([...(await textsOf(directory)).values()], ["three678\n", "four5678\n"]);
  }));

test("a file that cannot be removed or compressed keeps no other file waiting, and is warned of once", (context) =>
  inFolder(async (folder) => {
    for (const options of [{ maxFiles: 3 }, { maxFiles: 5, compress: "gzip" }] as const) {
      for (const stuck of [[1], [2, 5]]) {
        const directory = join(folder, `${JSON.stringify(options).replace(/\W/g, "")}-${stuck}`);
        await mkdir(directory);
        await written(directory, Array.from({ length: 6 }, (_, i) => `${i + 1}2345678\n`));
        using isPatched = unremovable((path) => stuck.some((number) => path.endsWith(`app-0000${number}.log`)));
        if (isPatched === undefined) return context.skip("imports of this runtime do not follow the module");
        const warnings: string[] = [];
        const writer = open(directory, { ...options, onWarning: ({ message }) => void warnings.push(message) })
          .getWriter();
        const { maxFiles, compress } = { compress: undefined, ...options };
        for (let last = 7; last <= 8; last++) {
          await writer.write(`${last}2345678\n`);
          const left = Array.from({ length: last }, (_, i) => i + 1).flatMap((number) => {
            const name = `app-0000${number}.log`;
            const isLimited = number <= last - maxFiles;
            const plain = stuck.includes(number) || !isLimited && (!compress || number === last) ? [name] : [];
            return compress && number < last && !isLimited ? [...plain, `${name}.gz`] : plain;
          });
          await atLast(() => isDeepStrictEqual(shown(directory), left));
          assert.deepEqual(shown(directory), left, `${directory}: ${warnings}`);
        }
        await writer.close();
        assert.ok(warnings.length > 0 && warnings.length <= 2 * stuck.length, String(warnings)); // one of each step
      }
    }
  }));

test("a series and an atomic file stay in their folder when the process goes elsewhere, and leave nothing beside", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "elsewhere"));
    const before = process.cwd();
    process.chdir(folder);
    try {
      for (const append of [true, false]) {
        const log = open(`logs-${append}`, { append });
        const writer = log.getWriter();
        await writer.write("one45678\n");
        process.chdir("elsewhere");
        await writer.write("two45678\n");
        await writer.close();
        process.chdir(folder);
        assert.deepEqual([...(await textsOf(`logs-${append}`)).values()], ["one45678\n", "two45678\n"]);
        assert.deepEqual((await readdir(`logs-${append}`)).filter((name) => name.includes("-lock-")), []);
        for (const path of log.files) assert.ok(existsSync(path), path);
      }
      const file = await AtomicFile.open("file");
      process.chdir("elsewhere");
      await file.commit();
      process.chdir(folder);
      assert.deepEqual((await readdir(".")).sort(), ["elsewhere", "file", "logs-false", "logs-true"]);
      assert.deepEqual(await readdir("elsewhere"), []);
    } finally {
      process.chdir(before);
    }
  }));

test("a series has a name that leaves room for those of its hidden files", () =>
  inFolder(async (directory) => {
    const name = (length: number) => `${"ü".repeat(length / 2 - 2)}.log`;
    const writer = open(directory, { name: name(180), compress: "gzip" }).getWriter();
    for (const text of ["one45678\n", "two45678\n"]) await writer.write(text);
    await writer.close();
    assert.throws(() => open(directory, { name: name(182) }), {
      name: "RangeError",
      message: "name has 182 bytes: with append it may have 180, as the names of the hidden files beside it are longer",
    });
  }));

test("a process that leaves a compressed series open ends when all is done", () =>
  inFolder(async (directory) => {
    const child = spawn(process.execPath, [...wordsOf("idle_process.ts"), directory], { stdio: "inherit" });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT);
    assert.deepEqual(await once(child, "close"), [0, null]);
    clearTimeout(timer);
    assert.deepEqual(shown(directory), ["app-00001.log.gz", "app-00002.log.gz", "app-00003.log"]);
    assert.equal(await written(directory, ["more\n"]), "the line 0\nthe line 1\nthe line 2\nmore\n");
  }));

test("what fails at the start of a series is tried again as writes are, and ended by abort()", () =>
  inFolder(async (folder) => {
    for (const isAborted of [false, true]) {
      const directory = join(folder, `logs ${isAborted}`);
      await writeFile(directory, "a file has the name");
      const { promise: warned, resolve: onWarning } = Promise.withResolvers<Error>();
      const retry = { attempts: Infinity, delay: 1 };
      const log = open(directory, { retry, onWarning });
      const writer = log.getWriter();
      const written = writer.write("a line\n");
      assert.match((await within(warned, "the warning")).message, /^Cannot .*it is tried again/);
      assert.throws(() => log.flushSync(), /^Error: Cannot make the directory/);
      if (isAborted) {
        await Promise.all([assert.rejects(within(written, "the write")), within(writer.abort(), "abort()")]);
      } else {
        await rm(directory);
        await within(written, "the write");
        await writer.close();
        assert.equal(await readFile(join(directory, "app-00001.log"), "utf8"), "a line\n");
      }
    }
  }));

test("a file that cannot be recorded takes no number, however often that is tried", () =>
  inFolder(async (directory) => {
    const record = join(directory, RECORD);
    await mkdir(join(record, "a folder has the name"), { recursive: true });
    const { promise: warned, resolve: onWarning } = Promise.withResolvers<Error>();
    const retry = { attempts: Infinity, delay: 0 };
    const writer = open(directory, { retry, onWarning }).getWriter();
    const written = writer.write("a line\n");
    assert.match((await within(warned, "the warning")).message, /app-00001\.log/);
    await pause(50); // for more attempts
    await rm(record, { recursive: true });
    await within(written, "the write");
    await writer.close();
    assert.equal(await readFile(join(directory, "app-00001.log"), "utf8"), "a line\n");
  }));

/** Lets a function of the system fail until the end of a test; undefined if imports do not follow the module. */
function failing(name: "closeSync" | "fstatSync", code: string, isDue: () => boolean): Disposable | undefined {
  const own = fs[name] as (...args: unknown[]) => unknown;
  const set = (call: unknown): void => {
    Object.assign(fs, { [name]: call });
    syncBuiltinESMExports();
  };
  set((...args: unknown[]) => {
    const isFailing = isDue();
    const result = isFailing && name === "fstatSync" ? undefined : own(...args);
    if (isFailing) throw Object.assign(new Error(`${code}: ${name}`), { code });
    return result;
  });
  if (files[name] !== own) return { [Symbol.dispose]: () => set(own) };
  set(own);
  return undefined;
}

test("a record whose bytes a server refuses at its close replaces no other", (context) =>
  inFolder(async (directory) => {
    await written(directory, ["one\n"]);
    const before = await readFile(join(directory, RECORD), "utf8");
    const record = new SeriesRecord(directory, RECORD, { isLost: false });
    record.load();
    record.reserve(9);
    using failed = failing("closeSync", "EDQUOT", () => true);
    if (failed === undefined) return context.skip("imports of this runtime do not follow the module");
    assert.throws(() => record.rewrite(), { code: "EDQUOT" });
    assert.deepEqual([await readFile(join(directory, RECORD), "utf8"), openFilesIn(directory)], [before, []]);
    assert.deepEqual((await readdir(directory)).sort(), [RECORD, "app-00001.log"]);
  }));

for (const how of ["close", "abort"] as const) {
  test(`${how}() leaves a series whose open file a server has forgotten`, (context) =>
    inFolder(async (directory) => {
      let isStale = false;
      using failed = failing("fstatSync", "ESTALE", () => isStale);
      if (failed === undefined) return context.skip("imports of this runtime do not follow the module");
      const writer = open(directory).getWriter();
      await writer.write("one\n");
      isStale = true;
      await writer[how]().finally(() => isStale = false);
      assert.deepEqual(openFilesIn(directory), []);
      assert.equal(await written(directory, ["two\n"]), "one\ntwo\n");
    }));
}
