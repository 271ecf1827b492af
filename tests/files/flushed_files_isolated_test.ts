import assert from "node:assert/strict";
import fs, {
  close as closeFile,
  fdatasync,
  fstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { copyFileAtomic, openFileWritable, RotatingFileWritable } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";

type Call = (descriptor: number, ...rest: unknown[]) => unknown;

const calls = ["fdatasync", "fdatasyncSync", "fsync", "fsyncSync"] as const;

/** Numbers that files and folders have in their file system, as of those that are on the disk. */
class SyncedFiles implements Disposable {
  readonly #own = calls.map((name) => fs[name] as unknown as Call);
  readonly #synced = new Set<number>();
  /** Called before each sync with the number of its file; an error it throws fails the sync. */
  onSync: (number: number) => void = () => {};

  constructor() {
    for (const [i, name] of calls.entries()) {
      const call: Call = (descriptor, ...rest) => {
        const { ino } = fstatSync(descriptor);
        try {
          this.onSync(ino);
        } catch (error) {
          const [done] = rest as ((error: unknown) => void)[];
          if (done === undefined) throw error;
          return void setImmediate(done, error);
        }
        this.#synced.add(ino);
        return this.#own[i]!(descriptor, ...rest);
      };
      Object.assign(fs, { [name]: call });
    }
    syncBuiltinESMExports();
  }

  /** Whether the library's calls come here: the modules of some runtimes stay as they were. */
  get isCalled(): boolean {
    return fdatasync === fs.fdatasync && fs.fdatasync !== this.#own[0] as unknown;
  }

  /** Checks that all these files are on the disk, and forgets that. */
  check(paths: readonly string[]): void {
    const missing = paths.filter((path) => !this.#synced.has(statSync(path).ino));
    assert.deepEqual(missing, []);
    this.#synced.clear();
  }

  get count(): number {
    return this.#synced.size;
  }

  [Symbol.dispose](): void {
    for (const [i, name] of calls.entries()) Object.assign(fs, { [name]: this.#own[i] });
    syncBuiltinESMExports();
  }
}

const withoutPatch = "the modules of this runtime keep their functions";

/** Returns the paths of the files in a folder that are not hidden, and of the folder. */
function allIn(folder: string): string[] {
  const names = process.platform === "win32" ? [] : [folder]; // Windows flushes no folder
  return [...names, ...readdirSync(folder).filter((name) => !name.startsWith(".")).map((name) => join(folder, name))];
}

for (const append of [true, false]) {
  for (const how of append ? ["flush()", "flushSync()"] as const : ["flush()"] as const) {
    test(`${how} of a series ${append ? "with" : "without"} append has every file and name since the last one on the disk`, (context) =>
      inFolder(async (directory) => {
        using synced = new SyncedFiles();
        if (!synced.isCalled) return context.skip(withoutPatch);
        const log = new RotatingFileWritable({ directory, name: "app.log", maxFileSize: 20, append });
        const flush = async (): Promise<void> => how === "flush()" ? await log.flush() : log.flushSync();
        const writer = log.getWriter();
        const since = new Set<string>();
        for (let round = 0; round < 6; round++) {
          const before = new Set(allIn(directory));
          for (let i = 0; i < round; i++) await writer.write(`line ${i} of ${round}....\n`);
          assert.ok(synced.count <= 1, "a file that is complete costs no sync");
          for (const path of allIn(directory)) if (!before.has(path)) since.add(path);
          if (since.size > 0) { for (const path of allIn(directory).slice(0, 1)) since.add(path); }
          if (round % 2 === 0) await log.rotate();
          await flush();
          synced.check([...since]);
          since.clear();
          await flush();
          assert.ok(synced.count <= 1, "another one has but the open file to flush");
          synced.check([]);
        }
        await writer.close();
      }));
  }
}

for (const how of ["flush()", "flushSync()", "close()"] as const) {
  for (const kind of ["file", "series"] as const) {
    test(`${how} has a ${kind} on the disk that another program has renamed, or fails`, (context) =>
      inFolder(async (directory) => {
        if (process.platform === "win32") return context.skip("Windows renames no file that is open");
        using synced = new SyncedFiles();
        if (!synced.isCalled) return context.skip(withoutPatch);
        for (const fails of [false, true]) {
          const log = kind === "file"
            ? await openFileWritable(join(directory, `${fails}.log`), { append: true })
            : new RotatingFileWritable({ directory, name: `${fails}.log`, maxFileSize: 1000, append: true });
          const writer = log.getWriter();
          await writer.write("before\n");
          const path = allIn(directory).find((path) => path.includes(`${fails}`))!;
          renameSync(path, `${path}.1`);
          const { ino } = statSync(`${path}.1`);
          synced.onSync = (number) => {
            if (fails && number === ino) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
          };
          await (log instanceof RotatingFileWritable ? log.rotate() : log.reopen());
          await writer.write("after\n");
          const flush = async (): Promise<void> => {
            if (how === "flushSync()") return log.flushSync();
            await (how === "flush()" ? log.flush() : writer.close());
          };
          if (fails) await assert.rejects(flush(), { code: "EIO" });
          else {
            await flush();
            synced.check([`${path}.1`]);
          }
          synced.onSync = () => {};
          await writer.close().catch(() => {});
        }
      }));
  }
}

for (const kind of ["file", "series"] as const) {
  for (const lost of kind === "file" ? ["file", "folder"] as const : ["file", "complete file", "folder"] as const) {
    test(`what a flushSync() could not bring to the disk is acknowledged by no later flush: the ${lost} of a ${kind}`, (context) =>
      inFolder(async (directory) => {
        if (process.platform === "win32" && lost === "folder") return context.skip("Windows flushes no folder");
        using synced = new SyncedFiles();
        if (!synced.isCalled) return context.skip(withoutPatch);
        for (const how of ["flushSync()", "flush()", "close()"] as const) {
          const name = `${how.slice(0, -2)}.log`;
          const folder = join(directory, how);
          mkdirSync(folder);
          const log = kind === "file"
            ? await openFileWritable(join(folder, name), { append: true, flush: true })
            : new RotatingFileWritable({ directory: folder, name, maxFileSize: 1000, append: true });
          const writer = log.getWriter();
          writer.closed.catch(() => {}); // reported by the flush
          await writer.write("before\n");
          const [written] = allIn(folder).filter((path) => path !== folder);
          const { ino } = statSync(lost === "folder" ? folder : written!);
          if (lost === "complete file") await (log as RotatingFileWritable).rotate();
          synced.onSync = (number) => {
            if (number === ino) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
          };
          assert.throws(() => log.flushSync(), { code: "EIO" });
          synced.onSync = () => {}; // the system has dropped what it could not write
          if (how === "flushSync()") assert.throws(() => log.flushSync(), { code: "EIO" });
          if (how === "flush()") await assert.rejects(log.flush(), { code: "EIO" });
          if (kind === "file" && how === "close()") await assert.rejects(writer.close(), { code: "EIO" });
          else await writer.close().catch(() => {});
        }
      }));
  }
}

test("a file of a series that is refused as late as it is closed fails flush() and close(), at a rotation too", (context) =>
  inFolder(async (directory) => {
    const { close } = fs;
    for (const how of ["flush()", "close()"]) {
      const name = `${how}.log`;
      const log = new RotatingFileWritable({ directory, name, maxFileSize: 1000, append: true });
      const writer = log.getWriter();
      writer.closed.catch(() => {});
      await writer.write("line\n");
      const { ino } = statSync(join(directory, `${how}-00001.log`));
      fs.close = ((number: number, done: (error?: Error) => void) => {
        const isRefused = fs.fstatSync(number).ino === ino;
        const refusal = Object.assign(new Error("EDQUOT: disk quota exceeded"), { code: "EDQUOT" });
        close(number, (error) => done(isRefused ? refusal : error ?? undefined));
      }) as never;
      syncBuiltinESMExports();
      try {
        if (closeFile === close) return context.skip(withoutPatch);
        await log.rotate();
        await assert.rejects(how === "flush()" ? log.flush() : writer.close(), { code: "EDQUOT" });
      } finally {
        fs.close = close;
        syncBuiltinESMExports();
      }
      await writer.close().catch(() => {});
    }
  }));

const singles: Readonly<Record<string, (path: string) => Promise<void>>> = {
  "flush() with append": async (path) => {
    const file = await openFileWritable(path, { append: true });
    await file.flush();
    await file.close();
  },
  "flushSync() with append": async (path) => {
    const file = await openFileWritable(path, { append: true });
    file.flushSync();
    await file.close();
  },
  "flush() behind a reopen()": async (path) => {
    const file = await openFileWritable(path, { append: true });
    await file.flush();
    renameSync(path, `${path}.1`);
    await file.reopen();
    await file.flush();
    await file.close();
  },
  "closing with append and flush": async (path) =>
    await (await openFileWritable(path, { append: true, flush: true })).close(),
  "flush()": async (path) => {
    const file = await openFileWritable(path);
    await file.flush();
    await file.close();
  },
  "closing with flush": async (path) => await (await openFileWritable(path, { flush: true })).close(),
  "an atomic file": async (path) => await (await openFileWritable(path, { atomic: true })).close(),
  "copyFileAtomic()": async (path) => await copyFileAtomic(import.meta.filename, path),
};

for (const [how, make] of Object.entries(singles)) {
  test(`${how} has a new file on the disk with its name, through a link, too`, (context) =>
    inFolder(async (folder) => {
      using synced = new SyncedFiles();
      if (!synced.isCalled) return context.skip(withoutPatch);
      if (process.platform === "win32") return context.skip("Windows flushes no folder");
      const [real, links] = [join(folder, "real"), join(folder, "links")];
      for (const path of [real, links]) mkdirSync(path);
      symlinkSync("../real/file", join(links, "link"));
      for (const path of [join(links, "new"), join(links, "link")]) {
        const expected = path.endsWith("new") ? links : how.includes("reopen") ? links : real;
        await make(path);
        synced.check([expected]);
      }
    }));
}

test("a file that was flushed once costs no sync of its folder", (context) =>
  inFolder(async (folder) => {
    using synced = new SyncedFiles();
    if (!synced.isCalled) return context.skip(withoutPatch);
    const file = await openFileWritable(join(folder, "file"), { append: true });
    await file.flush();
    synced.check([]);
    for (const flush of [() => file.flush(), () => file.flushSync()]) {
      await flush();
      assert.equal(synced.count, 1);
    }
    await file.close();
  }));
