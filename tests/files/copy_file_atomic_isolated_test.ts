import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, * as files from "node:fs";
import { chmodSync, existsSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import {
  appendFile,
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { copyToTemporary } from "../../lib/files/copy_file_atomic.ts";
import { copyFileAtomic, isTemporaryName, temporaryPath } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import type { Copy } from "./copies.ts";
import { openFilesIn } from "./written.ts";
import { needs } from "../support/needs.ts";

const notHere = needs("modes");
/** The superuser may write to every file, so that files are copied by another user. */
const NOBODY = 65534;

function copiedByOthers(folder: string, from: string, to: string, mtimeMs: number): Record<string, Copy> {
  const script = fileURLToPath(new URL("copies.ts", import.meta.url));
  const words = "deno" in process.versions ? ["run", "-A", "--no-check", script] : [script];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...words, from, to, String(mtimeMs)], {
    encoding: "utf8",
    env: { ...process.env, HOME: folder, DENO_DIR: join(folder, "deno") },
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test("copyFileAtomic() copies files that their owner may not write to, with their permission bits, new and again", {
  skip: notHere,
}, () =>
  inFolder(async (folder) => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    for (const path of [from, to, join(folder, "deno")]) await mkdir(path);
    for (const path of [folder, to, join(folder, "deno")]) await chmod(path, 0o777);
    const expected: Record<string, Copy> = {};
    for (const mode of [0o444, 0o404, 0o555, 0o644, 0o664]) {
      const name = mode.toString(8);
      await writeFile(join(from, name), `text ${name}`);
      await chmod(join(from, name), mode);
      expected[name] = { text: `text ${name}`, mode, mtimeMs: 1.7e12 };
    }
    for (let i = 0; i < 2; i++) assert.deepEqual(copiedByOthers(folder, from, to, 1.7e12), expected);
    assert.deepEqual((await readdir(to)).sort(), Object.keys(expected));
  }));

test("no copy runs with the rights of its original's owner, but by a mode that says so", {
  skip: needs("modes"),
}, () =>
  inFolder(async (folder) => {
    const [source, target] = [join(folder, "source"), join(folder, "target")];
    await writeFile(source, "text");
    await chmod(source, 0o6755);
    await copyFileAtomic(source, target);
    assert.equal((await stat(target)).mode & 0o7777, 0o755);
    await copyFileAtomic(source, target, { mode: 0o4755 });
    assert.equal((await stat(target)).mode & 0o7777, 0o4755);
  }));

test("copyFileAtomic() refuses a temporary file that is the source or the target, by whatever name", () =>
  inFolder(async (folder) => {
    const [source, target] = [join(folder, "source"), join(folder, "target")];
    for (const [what, path] of [["source", source], ["target", target]] as const) {
      const names = [path, `${folder}/./${what}`, join(folder, "hard link"), join(folder, "symbolic link")];
      for (const temporary of names.slice(0, needs("links") ? 3 : 4)) {
        await Promise.all([writeFile(source, "source"), writeFile(target, "target")]);
        if (temporary === names[2]) await link(path, temporary);
        if (temporary === names[3]) await symlink(path, temporary);
        const before = (await readdir(folder)).sort();
        await assert.rejects(copyFileAtomic(source, target, { temporary }), (error: Error) => {
          assert.ok(
            error instanceof TypeError && error.message.includes(`temporary ${temporary} is the ${what}`),
            String(error),
          );
          return true;
        });
        assert.deepEqual([await readFile(source, "utf8"), await readFile(target, "utf8")], ["source", "target"]);
        assert.deepEqual((await readdir(folder)).sort(), before);
        for (const name of names.slice(2)) await rm(name, { force: true });
      }
    }
    await rm(target);
    await assert.rejects(copyFileAtomic(source, target, { temporary: target }), TypeError);
    assert.deepEqual(await readdir(folder), ["source"]);
  }));

test("copyToTemporary() gives a copy of a read-only file the permission bits that are asked for", {
  skip: needs("modes"),
}, () =>
  inFolder(async (folder) => {
    const [source, other] = [join(folder, "source"), join(folder, "other")];
    await writeFile(source, "text");
    await chmod(source, 0o444);
    await writeFile(other, "");
    for (const mode of [0o400, 0o444, 0o640]) {
      await chmod(other, mode);
      const cases = [[{ mode }, undefined], [{ flush: false, mode }, undefined], [{}, {
        path: other,
        status: undefined,
      }]] as const;
      for (const [options, replaced] of cases) {
        const temporary = temporaryPath(source);
        await copyToTemporary(source, temporary, options, replaced);
        assert.equal((await stat(temporary)).mode & 0o777, mode);
        assert.equal(await readFile(temporary, "utf8"), "text");
      }
    }
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("copyFileAtomic() waits for a file server that has a lease on the source, which the system refuses meanwhile", (context) =>
  inFolder(async (folder) => {
    const source = join(folder, "source");
    await writeFile(source, "text");
    const { open } = fs;
    let refusals = 3;
    fs.open = ((...args: unknown[]) => {
      if (args[0] !== source || refusals-- <= 0) return Reflect.apply(open, fs, args);
      (args.at(-1) as (error: Error) => void)(Object.assign(new Error("EAGAIN: leased"), { code: "EAGAIN" }));
    }) as never;
    syncBuiltinESMExports();
    try {
      if (files.open === open) return context.skip("imports of this runtime do not follow the module");
      await copyFileAtomic(source, join(folder, "copy"));
      assert.equal(refusals, -1);
      assert.equal(await readFile(join(folder, "copy"), "utf8"), "text");
    } finally {
      fs.open = open;
      syncBuiltinESMExports();
    }
  }));

test("copyFileAtomic() has closed the source before the copy takes its name, as Windows replaces no open file", (context) =>
  inFolder(async (folder) => {
    const source = join(folder, "source");
    await writeFile(source, "text");
    const { rename } = fs.promises;
    const open: boolean[] = [];
    fs.promises.rename = (...args) => {
      open.push(openFilesIn(folder).includes(source));
      return rename(...args);
    };
    syncBuiltinESMExports();
    try {
      await copyFileAtomic(source, source);
      if (open.length === 0) return context.skip("imports of this runtime do not follow the module");
      assert.deepEqual(open, [false]);
    } finally {
      fs.promises.rename = rename;
      syncBuiltinESMExports();
    }
    assert.equal(await readFile(source, "utf8"), "text");
  }));

test("copyFileAtomic() leaves nothing of a copy that fails", () =>
  inFolder(async (folder) => {
    const source = join(folder, "source");
    await writeFile(source, "text");
    await chmod(source, 0o444);
    await mkdir(join(folder, "target"));
    await assert.rejects(copyFileAtomic(source, join(folder, "target")), { code: "EISDIR" });
    await assert.rejects(copyFileAtomic(source, join(folder, "none", "target")), { code: "ENOENT" });
    await assert.rejects(copyFileAtomic(source, join(folder, "copy"), { mtimeMs: NaN }));
    assert.deepEqual((await readdir(folder)).sort(), ["source", "target"]);
  }));

test("the target of copyFileAtomic() has all of a version of a file that is replaced meanwhile, and nothing else", {
  skip: needs("replacing"),
}, () =>
  inFolder(async (folder) => {
    const [source, target] = [join(folder, "source"), join(folder, "target")];
    const versions = Array.from({ length: 10 }, (_, i) => String(i).repeat(200_000 + i));
    await writeFile(source, versions[0]);
    const seen = new Set<string>();
    let isOver = false;
    const replacing = (async () => {
      for (let i = 1; !isOver; i++) {
        await writeFile(`${source}.next`, versions[i % 10]);
        await rename(`${source}.next`, source);
      }
    })();
    for (let i = 0; i < 40; i++) {
      await copyFileAtomic(source, target);
      const text = await readFile(target, "utf8");
      assert.ok(versions.includes(text), `${text.length} characters that begin with ${text[0]}`);
      seen.add(text);
    }
    isOver = true;
    await replacing;
    assert.deepEqual((await readdir(folder)).filter(isTemporaryName), []);
  }));

test("a copy of a file that grows has a beginning of it, no shorter than it was", () =>
  inFolder(async (folder) => {
    const [source, target] = [join(folder, "source"), join(folder, "target")];
    const text = Array.from({ length: 300_000 }, (_, i) => `${String(i).padStart(9, "0")}\n`).join("");
    const piece = text.length / 300;
    await writeFile(source, text.slice(0, piece));
    const growing = (async () => {
      for (let end = piece; end < text.length; end += piece) await appendFile(source, text.slice(end, end + piece));
    })();
    for (let i = 0; i < 20; i++) {
      const { size } = await stat(source);
      await copyFileAtomic(source, target);
      const copied = await readFile(target, "utf8");
      assert.ok(copied.length >= size);
      assert.ok(text.startsWith(copied));
    }
    await growing;
  }));

const SIZE = 24 * 1024 * 1024;

/** Changes to a file of SIZE bytes while it is copied. */
const changes: Readonly<Record<string, (path: string) => void>> = {
  "gets shorter than what was copied": (path) => truncateSync(path, 1000),
  "gets empty": (path) => truncateSync(path, 0),
  "loses its end": (path) => truncateSync(path, SIZE - 1),
  "is written over": (path) => writeFileSync(path, "new", { flag: "r+" }),
  "is written over, and gets back the time that it had": (path) => {
    writeFileSync(path, "new", { flag: "r+" });
    utimesSync(path, 1e9, 1e9);
  },
  "is emptied and filled again": (path) => {
    writeFileSync(path, "new");
    truncateSync(path, SIZE);
  },
  "grows and is written over": (path) => {
    truncateSync(path, SIZE + 1);
    writeFileSync(path, "new", { flag: "r+" });
  },
};

for (const [what, change] of Object.entries(changes)) {
  test(`copyFileAtomic() of a file that ${what} fails, and leaves what was there`, () =>
    inFolder(async (folder) => {
      const [source, target, temporary] = ["source", "target", "temporary"].map((name) => join(folder, name));
      await writeFile(source, "");
      truncateSync(source, SIZE);
      utimesSync(source, 1e9, 1e9);
      await writeFile(target, "old");
      const copying = assert.rejects(copyFileAtomic(source, target, { temporary }), {
        message: `Cannot copy ${source} to ${target}: it changed while it was copied: try again once it is at rest`,
      });
      while (!statSync(temporary, { throwIfNoEntry: false })?.size) await setImmediate();
      change(source);
      await copying;
      assert.equal(await readFile(target, "utf8"), "old");
      assert.deepEqual((await readdir(folder)).sort(), ["source", "target"]);
      assert.deepEqual(openFilesIn(folder), []);
    }));
}

test("copyFileAtomic() copies a file that gets other permission bits, names and times meanwhile", () =>
  inFolder(async (folder) => {
    const [source, target, temporary] = ["source", "target", "temporary"].map((name) => join(folder, name));
    await writeFile(source, "");
    truncateSync(source, SIZE);
    const copying = copyFileAtomic(source, target, { temporary });
    while (!statSync(temporary, { throwIfNoEntry: false })?.size) await setImmediate();
    utimesSync(source, 1e9, 1e9);
    chmodSync(source, 0o600);
    await link(source, join(folder, "link"));
    await copying;
    assert.equal((await stat(target)).size, SIZE);
  }));

const PAGE = 4096;
const MEBIBYTE = 256 * PAGE;

/** Fills a file from its beginning, as far as `length`, in place. */
function fill(path: string, letter: number, length: number): void {
  writeFileSync(path, new Uint8Array(length).fill(letter), { flag: "r+" });
}

test("a copy never has what came later behind what was there before, be the file empty at first, or its time set back", () =>
  inFolder(async (folder) => {
    const [source, target, temporary] = ["source", "target", "temporary"].map((name) => join(folder, name));
    let size = 0;
    let letter = 65;
    const acts: readonly (() => void)[] = [
      () => fill(source, ++letter, size),
      () => (truncateSync(source), size = 0),
      () => fill(source, ++letter, size = size + 2 * MEBIBYTE),
      () => chmodSync(source, 0o600 + letter % 8),
    ];
    for (let round = 0; round < 24; round++) {
      size = round % 2 * 4 * MEBIBYTE;
      letter = 65;
      await writeFile(source, new Uint8Array(size).fill(letter));
      utimesSync(source, 1e9, 1e9);
      await rm(temporary, { force: true });
      let isOver = false;
      const copying = copyFileAtomic(source, target, { temporary }).then(() => true, () => false).finally(() =>
        isOver = true
      );
      // The first fills an empty file after it was looked at; a later one writes over what was copied by then.
      let next = round % 2 === 0 ? -1 : (1 + round % 3) * MEBIBYTE;
      for (let act = round % 2 === 0 ? 2 : round % 4; !isOver; await setImmediate()) {
        if ((statSync(temporary, { throwIfNoEntry: false })?.size ?? -2) <= next) continue;
        acts[act]();
        utimesSync(source, 1e9, 1e9);
        act = (act * 5 + round) % 4;
        next = Math.max(next, 0) + MEBIBYTE;
      }
      if (!await copying) continue;
      const bytes = await readFile(target);
      for (let at = PAGE; at < bytes.length; at += PAGE) {
        assert.ok(bytes[at] <= bytes[at - PAGE], `round ${round}: ${bytes[at - PAGE]} before ${bytes[at]} at ${at}`);
      }
    }
  }));

test("copyFileAtomic() copies all of files whose size the system does not know", () =>
  inFolder(async (folder) => {
    const paths = ["/proc/version", "/proc/filesystems", "/sys/kernel/mm/transparent_hugepage/enabled"];
    for (const path of paths.filter((each) => existsSync(each))) {
      const copy = join(folder, "copy");
      await copyFileAtomic(path, copy);
      const [copied, original] = await Promise.all([copy, path].map((each) => readFile(each, "utf8")));
      assert.ok(
        copied !== "" && copied.length === original.length,
        `${copied.length} of ${original.length} of ${path}`,
      );
    }
  }));
