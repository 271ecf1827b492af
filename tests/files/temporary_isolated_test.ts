import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, { readFileSync } from "node:fs";
import {
  chmod,
  chown,
  mkdir,
  readdir,
  rename as renames,
  rm,
  stat,
  symlink,
  unlink as removes,
  utimes,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import {
  AtomicFile,
  isAbandonedTemporary,
  isTemporaryName,
  removeAbandonedTemporaries,
  temporaryPath,
} from "../../lib/files/mod.ts";
import { removeIfPossible } from "../../lib/files/rename.ts";
import { openUnnamed, removeTemporary, temporaryDirectory } from "../../lib/files/temporary.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { pause, until, within } from "../support/waits.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "./written.ts";
import { needs } from "../support/needs.ts";

const dead = spawnSync(process.execPath, ["--version"]).pid;

/** Returns a temporary path of the process with that id and start; by default of one whose start is unknown. */
function pathOf(id: number, folder: string, start = "0"): string {
  return temporaryPath(join(folder, "file")).replace(/\.\d+-\d+-(?=.{36}\.tmp$)/, `.${id}-${start}-`);
}

/** Returns a path as a process that has ended gave it here. */
function abandonedIn(folder: string): string {
  return pathOf(dead, folder);
}

/** Makes a folder such as a process that has ended made here. */
async function abandonedFolderIn(folder: string): Promise<string> {
  const path = abandonedIn(folder);
  await mkdir(path, { mode: 0o700 });
  await writeTree(path, { "a": "", "b/c": "" });
  return path;
}

/** Runs `work` with the clock set to another day, since a file's change time can't be set. */
async function daysLater<T>(days: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  Date.now = () => now() + days * 86_400_000;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

/** Names that earlier versions gave temporary files, without the number of the process. */
const former: readonly string[] = [
  ".millrace-part-0f6b5f0a-6d7c-4a52-9e0a-2f2b7c1d9e11",
  ".app.log.millrace-new",
  ".app.log.millrace-next",
  ".a b.millrace-next",
];

/** Names that only resemble those of temporary files. */
const ordinary: readonly string[] = [
  "app.js",
  ".millrace.json",
  ".millrace-journal",
  ".millrace-uploads",
  ".millrace-1-x.tmp.js",
  "a.millrace-1-1.tmp",
  ".millrace-x.tmp",
  ".millrace-0000.tmp",
  ".millrace-part-",
  ".millrace-part-notes",
  "millrace-part-0f6b5f0a-6d7c-4a52-9e0a-2f2b7c1d9e11",
  ".app.log.millrace",
  ".app.log.millrace-lock-00000000.1.0.0-01234567",
  "app.log.millrace-next",
  ".millrace-next",
  "millrace-cache-backup",
];

test("temporaryPath() gives ever new names in the same folder that isTemporaryName() knows", () => {
  const paths = new Set(Array.from({ length: 1000 }, () => temporaryPath("/site/app.js")));
  assert.equal(paths.size, 1000);
  for (const path of paths) {
    assert.equal(dirname(path), "/site");
    assert.ok(isTemporaryName(basename(path)), path);
  }
});

test("what makes, judges and removes temporary files takes a path or its file: URL, and nothing else", () =>
  inFolder(async (folder) => {
    const url = pathToFileURL(join(folder, "a file"));
    assert.equal(dirname(temporaryPath(url)), folder);
    assert.equal(dirname(temporaryPath("a/b")), "a");
    const abandoned = join(folder, former[0]!);
    await writeFile(abandoned, "");
    await daysLater(2, async () => {
      assert.equal(await isAbandonedTemporary(pathToFileURL(abandoned)), true);
      assert.equal(await removeAbandonedTemporaries(pathToFileURL(folder)), 1);
    });
    const refusal = { name: "TypeError", message: /must be a path or a file: URL, not / };
    for (const other of [new URL("https://example.com/a"), undefined, 1] as URL[]) {
      assert.throws(() => temporaryPath(other), refusal);
      await assert.rejects(isAbandonedTemporary(other), refusal);
      await assert.rejects(removeAbandonedTemporaries(other), refusal);
    }
  }));

test("isTemporaryName() knows the names of earlier versions, and no other name", () => {
  for (const name of former) assert.ok(isTemporaryName(name), name);
  for (const name of ordinary) assert.ok(!isTemporaryName(name), name);
});

test("isTemporaryName() takes no name for a temporary one that lacks a part of it, or has more", () => {
  const random = randomNumbers(7);
  const characters = "abcxyz019.-_ /~";
  for (let i = 0; i < 2000; i++) {
    const name = basename(temporaryPath("/site/app.js"));
    const cut = name.indexOf("-", 10) + 1; // the part behind may be any hexadecimal digits
    const at = random(cut);
    const changed = random(2) === 0
      ? name.slice(0, at) + name.slice(at + 1)
      : `${name}${characters[random(characters.length)]}`;
    if (/^\.millrace-(?:[0-9a-f]{8}\.)?\d+-[0-9a-f-]+\.tmp$/.test(changed)) continue; // a digit less of a process id
    assert.ok(!isTemporaryName(changed), changed);
  }
});

test("what makes a temporary file or folder gives it a name that isTemporaryName() knows", () =>
  inFolder(async (folder) => {
    await using directory = await temporaryDirectory(folder);
    assert.deepEqual(await readdir(folder), [basename(directory.path)]);
    assert.ok(isTemporaryName(basename(directory.path)));
    assert.equal((await stat(directory.path)).mode & 0o777, 0o700);
  }));

test("temporaryDirectory() removes its folder with all that is in it when it is disposed of, and never fails", () =>
  inFolder(async (folder) => {
    const directory = await temporaryDirectory(folder);
    await writeTree(directory.path, { "a": "1", "b/c": "2" });
    await directory[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(folder), []);
    await directory[Symbol.asyncDispose]();
    const path = join(folder, "none");
    await assert.rejects(temporaryDirectory(path), (error: Error & { code: string }) => {
      assert.equal(error.code, "ENOENT");
      assert.ok(error.message.startsWith(`Cannot make the directory ${path}`), error.message);
      return true;
    });
  }));

test("openUnnamed() gives a file without a name, which takes no space once it is closed", () =>
  inFolder(async (folder) => {
    const file = await openUnnamed(folder);
    assert.deepEqual(await readdir(folder), []);
    await file.write(new TextEncoder().encode("some bytes"), 0, 10);
    const bytes = new Uint8Array(20);
    assert.equal(await file.read(bytes, 5), 5);
    assert.equal(file.status().mode & 0o777, 0o600);
    await file.close();
    await until(() => openFilesIn(folder).length === 0, "the end of the file, and of the sweep of its folder");
    await assert.rejects(openUnnamed(join(folder, "none")), { code: "ENOENT" });
  }));

test("removeTemporary() removes a file, tells whether it is gone, and never fails", () =>
  inFolder(async (folder) => {
    const path = temporaryPath(join(folder, "file"));
    await writeFile(path, "");
    assert.equal(await removeTemporary(path), true);
    assert.equal(await removeTemporary(path), true);
    await writeTree(folder, { [`${basename(path)}/inside`]: "" });
    assert.equal(await removeTemporary(path), false);
    removeIfPossible(path);
    assert.deepEqual(await readdir(path), ["inside"]);
    await rm(path, { recursive: true });
    await writeFile(path, "");
    removeIfPossible(path);
    removeIfPossible(path);
    assert.deepEqual(await readdir(folder), []);
  }));

test("a temporary file that cannot be removed for a moment is removed a moment later, or by a sweep, by its process", (context) =>
  inFolder(async (folder) => {
    const { unlinkSync, promises: { unlink } } = fs;
    const refuse = () => {
      throw Object.assign(new Error("EACCES: refused"), { code: "EACCES" });
    };
    const count = async () => (await readdir(folder)).filter(isTemporaryName).length;
    for (const isSwept of [false, true]) {
      const file = await AtomicFile.open(join(folder, "file"));
      const other = abandonedIn(folder);
      await writeFile(other, "");
      fs.promises.unlink = () => Promise.resolve().then(refuse);
      if (isSwept) fs.unlinkSync = refuse;
      syncBuiltinESMExports();
      try {
        if (removes === unlink) return context.skip("imports of this runtime do not follow the module");
        await file.discard();
        assert.equal(await removeTemporary(other), false);
        assert.equal(await count(), 2);
        if (isSwept) await pause(150); // the first retry is refused, too
      } finally {
        fs.promises.unlink = unlink;
        fs.unlinkSync = unlinkSync;
        syncBuiltinESMExports();
      }
      if (isSwept) assert.equal(await removeAbandonedTemporaries(folder), 1);
      else await until(async () => await count() === 1, "the file of this process is gone, and no other");
      if (isSwept) assert.equal(await count(), 0);
      else await rm(other);
    }
  }));

test("isAbandonedTemporary() spares files of processes that run", () =>
  inFolder(async (folder) => {
    for (const path of [temporaryPath(join(folder, "file")), pathOf(process.ppid, folder)]) {
      await writeFile(path, "");
      assert.equal(await isAbandonedTemporary(path), false);
    }
    assert.equal(await isAbandonedTemporary(join(folder, "file.tmp")), false);
  }));

test("isAbandonedTemporary() tells a process that runs from those that had its id before, however long ago", {
  skip: process.platform === "linux" ? false : "only Linux tells when a process was started",
}, () =>
  inFolder(async (folder) => {
    const startOf = (id: number) => /(?<=.*\) (?:\S+ ){19})\d+/.exec(readFileSync(`/proc/${id}/stat`, "latin1"))![0];
    for (const id of [process.pid, process.ppid]) {
      for (const [start, isAbandoned] of [[startOf(id), false], ["123", true]] as const) {
        const path = pathOf(id, folder, start);
        await writeFile(path, "");
        for (const days of [0, 1.01, 400, -400]) {
          assert.equal(await daysLater(days, () => isAbandonedTemporary(path)), isAbandoned, `${path} ${days}`);
        }
      }
    }
  }));

test("isAbandonedTemporary() sees files of processes that ended, also if another has their id now", () =>
  inFolder(async (folder) => {
    const path = abandonedIn(folder);
    await writeFile(path, "");
    assert.equal(await isAbandonedTemporary(path), true);
    // This process's id, but older than this process.
    const reused = pathOf(process.pid, folder);
    await writeFile(reused, "");
    const { timeOrigin } = performance;
    Object.defineProperty(performance, "timeOrigin", { value: timeOrigin + 1.01 * 86_400_000, configurable: true });
    try {
      assert.equal(await daysLater(1.01, () => isAbandonedTemporary(reused)), true);
    } finally {
      Object.defineProperty(performance, "timeOrigin", { value: timeOrigin, configurable: true });
    }
  }));

test("a sweep takes no file of its own process, however the clock was set since that began", () =>
  inFolder(async (folder) => {
    const file = await AtomicFile.open(join(folder, "file"));
    for (const days of [0.01, 1.01, 400, -0.01, -400]) {
      assert.equal(await daysLater(days, () => removeAbandonedTemporaries(folder)), 0, `${days} days later`);
    }
    await file.commit();
    assert.deepEqual(await readdir(folder), ["file"]);
  }));

test(
  "isAbandonedTemporary() asks a link itself, not what it leads to",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const path = temporaryPath(join(folder, "file"));
      await symlink(process.execPath, path); // which is older than this process
      assert.equal(await isAbandonedTemporary(path), false);
    }),
);

test("isAbandonedTemporary() believes no process id of another machine or container, but a day of silence", () =>
  inFolder(async (folder) => {
    for (const name of [`.millrace-00c0ffee.${dead}-1.tmp`, `.millrace-${dead}-1.tmp`, ...former]) {
      const path = join(folder, name);
      assert.ok(isTemporaryName(name));
      await writeFile(path, "");
      for (const time of [1, 4e9]) { // the time of the content is often an original's
        await utimes(path, time, time);
        assert.equal(await isAbandonedTemporary(path), false);
        assert.equal(await daysLater(1.01, () => isAbandonedTemporary(path)), true);
      }
      await rm(path);
      assert.equal(await daysLater(1.01, () => isAbandonedTemporary(path)), false);
    }
  }));

test("isAbandonedTemporary() counts the days of a folder from the last change of anything in it", () =>
  inFolder(async (folder) => {
    const path = join(folder, `.millrace-00c0ffee.${dead}-1.tmp`);
    await writeTree(path, { "a/b": "" });
    assert.equal(await isAbandonedTemporary(path), false);
    assert.equal(await daysLater(1.01, () => isAbandonedTemporary(path)), true);
  }));

test("removeAbandonedTemporaries() removes what ended processes left in a folder, and nothing else", () =>
  inFolder(async (folder) => {
    const below = join(folder, "below");
    await mkdir(below);
    const kept = [...ordinary, ...former, `.millrace-${dead}-1.tmp`, basename(temporaryPath(join(folder, "x")))];
    for (const name of kept) await writeFile(join(folder, name), "");
    await writeFile(abandonedIn(below), "");
    for (let i = 0; i < 600; i++) await writeFile(abandonedIn(folder), "");
    await abandonedFolderIn(folder);
    if (!needs("links")) await symlink(below, abandonedIn(folder)); // which is removed itself
    assert.equal(await removeAbandonedTemporaries(folder), needs("links") ? 601 : 602);
    assert.deepEqual((await readdir(folder)).sort(), [...kept, "below"].sort());
    assert.equal((await readdir(below)).length, 1);
    assert.equal(await removeAbandonedTemporaries(folder), 0);
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("removeAbandonedTemporaries() removes what earlier versions left once nothing has touched it for a day", () =>
  inFolder(async (folder) => {
    for (const name of [...former, ...ordinary]) await writeFile(join(folder, name), "");
    assert.equal(await daysLater(1.01, () => removeAbandonedTemporaries(folder)), former.length);
    assert.deepEqual((await readdir(folder)).sort(), [...ordinary].sort());
  }));

test("removeAbandonedTemporaries() counts each file and folder once, whoever else removes them", () =>
  inFolder(async (folder) => {
    for (let i = 0; i < 300; i++) await writeFile(abandonedIn(folder), "");
    for (let i = 0; i < 20; i++) await abandonedFolderIn(folder);
    const counts = await Promise.all(Array.from({ length: 5 }, () => removeAbandonedTemporaries(folder)));
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 320);
    assert.deepEqual(await readdir(folder), []);
  }));

test("a sweep closes folders to other users, and leaves those of another user, or where others may rename folders", {
  skip: needs("modes", "proc"),
}, () =>
  inFolder(async (folder) => {
    const other = 65534;
    const inner = (path: string): string => join(path, "inner", "most");
    const changes: [removes: boolean, change: (path: string) => Promise<void>][] = [
      [true, () => Promise.resolve()],
      [true, () => chmod(folder, 0o1777)],
      [false, () => chmod(folder, 0o777)],
      [false, () => chmod(folder, 0o775)],
      [true, (path) => chmod(path, 0o777)],
      [true, (path) => chmod(inner(path), 0o777)],
    ];
    if (process.getuid?.() === 0) {
      changes.push([false, () => chown(folder, other, other)]);
      changes.push([false, (path) => chown(path, other, other)], [false, (path) => chown(inner(path), other, other)]);
    }
    await mkdir(join(folder, "outside"));
    for (const [removes, change] of changes) {
      const path = await abandonedFolderIn(folder);
      await mkdir(inner(path), { recursive: true });
      await writeFile(join(inner(path), "file"), "");
      await symlink("../../../outside", join(inner(path), "link"));
      await change(path);
      const modes = (): Promise<number[]> =>
        Promise.all([path, inner(path)].map(async (each) => (await stat(each)).mode));
      const before = await modes();
      assert.equal(await removeAbandonedTemporaries(folder), removes ? 1 : 0, String(change));
      assert.deepEqual((await readdir(folder)).sort(), removes ? ["outside"] : [basename(path), "outside"]);
      if (!removes) assert.deepEqual(await modes(), before); // another user may have given it the name
      await chown(folder, process.getuid!(), process.getgid!());
      await chmod(folder, 0o700);
      await rm(path, { recursive: true, force: true });
    }
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("a sweep removes folders that cannot be renamed, as those of an image's layer on overlayfs", (context) =>
  inFolder(async (folder) => {
    const { rename } = fs.promises;
    fs.promises.rename = (from) => {
      const error = new Error(`EXDEV: cross-device link not permitted, rename '${from}'`);
      return Promise.reject(Object.assign(error, { code: "EXDEV" }));
    };
    syncBuiltinESMExports();
    try {
      if (renames === rename) return context.skip("imports of this runtime do not follow the module");
      await abandonedFolderIn(folder);
      assert.equal(await removeAbandonedTemporaries(folder), 1);
      assert.deepEqual(await readdir(folder), []);
    } finally {
      fs.promises.rename = rename;
      syncBuiltinESMExports();
    }
  }));

test("a sweep removes folders also where there is no /proc", {
  skip: "Bun" in globalThis || "Deno" in globalThis ? "this runtime does not start without /proc" : cannotMount,
}, () =>
  inFolder(async (folder) => {
    await writeFile(join(await abandonedFolderIn(folder), "file"), "");
    const name = JSON.stringify(new URL("../../lib/files/mod.ts", import.meta.url).href);
    const program = `import { removeAbandonedTemporaries } from ${name};
      Date.now = () => ${Date.now() + 2 * 86_400_000}; // it knows no other process, but days of silence
      process.stdout.write(String(await removeAbandonedTemporaries(${JSON.stringify(folder)})));`;
    const shell = ["-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"];
    const words = [...shell, process.execPath, "--input-type=module", "--eval", program];
    const { stdout, stderr } = spawnSync("unshare", words, { encoding: "utf8" });
    assert.equal(stdout, "1", stderr);
    assert.deepEqual(await readdir(folder), []);
  }));

test("removeAbandonedTemporaries() names a folder that it cannot read", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), "");
    for (const [name, code] of [["none", "ENOENT"], ["file", "ENOTDIR"]]) {
      const path = join(folder, name);
      await assert.rejects(removeAbandonedTemporaries(path), (error: Error & { code: string }) => {
        assert.equal(error.code, code);
        assert.ok(error.message.startsWith(`Cannot read the directory ${path}: `), error.message);
        return true;
      });
    }
  }));

test(
  "removeAbandonedTemporaries() names a file that it may not remove",
  { skip: cannotMount },
  () =>
    onSmallDisk(100, async (folder) => {
      const path = abandonedIn(folder);
      await writeFile(path, "");
      spawnSync("mount", ["-o", "remount,ro", folder]);
      await assert.rejects(removeAbandonedTemporaries(folder), {
        code: "EROFS",
        message: `Cannot remove ${path}: the file system is read-only (EROFS)`,
      });
    }),
);

test("a thread that sweeps a folder takes no file of its process for abandoned, however young it is itself", () =>
  inFolder(async (folder) => {
    const path = temporaryPath(join(folder, "file"));
    await writeFile(path, "");
    const lib = new URL("../../lib/files/temporary.ts", import.meta.url).href;
    const thread = join(folder, "thread.mjs");
    await writeFile(
      thread,
      `import { parentPort } from "node:worker_threads";
       const { now } = Date;
       Date.now = () => now() + 3_600_000;
       const { removeAbandonedTemporaries } = await import(${JSON.stringify(lib)});
       parentPort.postMessage(await removeAbandonedTemporaries(${JSON.stringify(folder)}));`,
    );
    const worker = new Worker(pathToFileURL(thread));
    try {
      const [removed] = await within(once(worker, "message"), "the sweep");
      assert.equal(removed, 0);
      assert.ok((await readdir(folder)).includes(basename(path)));
    } finally {
      await worker.terminate();
    }
  }));

test("a process that is killed while it writes leaves a temporary file, which is removed later", () =>
  inFolder(async (folder) => {
    const program = fileURLToPath(new URL("write_without_end.ts", import.meta.url));
    const words = "deno" in process.versions ? ["run", "-A", "--no-check", program] : [program];
    const child = spawn(process.execPath, [...words, join(folder, "file")], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("close", resolve));
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      assert.equal((await readdir(folder)).length, 1);
      for (const days of [0, 1.01]) {
        assert.equal(await daysLater(days, () => removeAbandonedTemporaries(folder)), 0, "it is still written to");
      }
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
    assert.equal((await readdir(folder)).length, 1);
    assert.equal(await removeAbandonedTemporaries(folder), 1);
    assert.deepEqual(await readdir(folder), []);
  }));
