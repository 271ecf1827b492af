import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { Stats } from "node:fs";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import {
  AtomicFile,
  type AtomicFileOptions,
  copyFileAtomic,
  openFileWritable,
  RotatingFileWritable,
} from "../../lib/files/mod.ts";
import type { OpenFile } from "../../lib/files/open_file.ts";
import { keepAttributes } from "../../lib/files/place.ts";
import { inFolder } from "../support/folders.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { cannotMount } from "./written.ts";
import { needs } from "../support/needs.ts";

type Options = Pick<AtomicFileOptions, "mode" | "followLinks" | "temporary">;

/** Each way to put "new" in the place of a file. */
const ways: Readonly<
  Record<
    string,
    (path: string | URL, folder: string, options?: Options, meanwhile?: () => Promise<void>) => Promise<void>
  >
> = {
  AtomicFile: async (path, _, options, meanwhile) => {
    const file = await AtomicFile.open(path, options);
    await meanwhile?.();
    await file.write(new TextEncoder().encode("new"));
    await file.commit();
  },
  "openFileWritable() with atomic": async (path, _, options, meanwhile) => {
    const writer = (await openFileWritable(path, { atomic: true, ...options })).getWriter();
    await meanwhile?.();
    await writer.write("new");
    await writer.close();
  },
  "copyFileAtomic()": async (path, folder, options) => {
    await writeFile(join(folder, "source"), "new", { mode: 0o644 });
    await copyFileAtomic(join(folder, "source"), path, options);
  },
};

interface Attributes {
  uid: number;
  gid: number;
  mode: number;
}

/** Returns the bits that a user has of a file, as POSIX chooses them. */
function rights({ uid, gid, mode }: Attributes, user: { uid: number; groups: readonly number[] }): number {
  return mode >> (user.uid === uid ? 6 : user.groups.includes(gid) ? 3 : 0) & 7;
}

/** Returns a file of a process that has some groups, under the system's rules of giving files away. */
function fileOf(status: Attributes, groups: readonly number[]): OpenFile {
  const file = {
    status: () => ({ ...status }),
    chown(uid: number, gid: number) {
      const isAllowed = uid === status.uid && (gid === status.gid || groups.includes(gid));
      if (!isAllowed) throw Object.assign(new Error("not permitted"), { code: "EPERM" });
      Object.assign(status, { gid });
    },
    chmod(mode: number) {
      status.mode = mode;
    },
  };
  return file as unknown as OpenFile;
}

test("a replacement whose owner or group cannot be kept opens the file to no user, and has the group where it may", () => {
  const random = randomNumbers(34);
  for (let i = 0; i < 2000; i++) {
    const groups = [0, 1, 2].filter(() => random(2) === 0);
    const replaced = { uid: random(2), gid: random(3), mode: random(0o1000) };
    const status = { uid: 0, gid: groups[0] ?? 3, mode: 0o600 };
    keepAttributes(fileOf(status, [...groups, status.gid]), replaced as Stats);
    const hasGroup = groups.includes(replaced.gid) || status.gid === replaced.gid;
    if (hasGroup) assert.deepEqual([status.gid, status.mode], [replaced.gid, replaced.mode]);
    for (const uid of [1, 2]) { // except the process's own user, which has written the bytes
      for (let set = 0; set < 16; set++) {
        const user = { uid, groups: [0, 1, 2, 3].filter((group) => set & 1 << group) };
        if (uid === replaced.uid) continue; // an owner may take any right
        const gained = rights(status, user) & ~rights(replaced, user);
        assert.equal(gained, 0, `${JSON.stringify({ replaced, status, user })}`);
      }
    }
  }
});

const isSuperuser = process.getuid?.() === 0;

test("a file of a series that is compressed keeps its owner, its group and its permission bits", {
  skip: isSuperuser ? false : "only the superuser may give files away",
}, () =>
  inFolder(async (directory) => {
    const name = "a.log";
    const writer = new RotatingFileWritable({ directory, name, append: true, maxFileSize: 10, compress: "gzip" })
      .getWriter();
    await writer.write("line 1\n");
    await chown(join(directory, "a-00001.log"), 12345, 54321);
    await chmod(join(directory, "a-00001.log"), 0o660);
    await writer.write("line 2\n");
    await writer.close();
    const { uid, gid, mode } = await stat(join(directory, "a-00001.log.gz"));
    assert.deepEqual([uid, gid, mode & 0o777], [12345, 54321, 0o660]);
  }));

for (const [name, replace] of Object.entries(ways)) {
  test(`${name} keeps the permission bits of the file that it replaces, unless others are asked for`, {
    skip: needs("modes"),
  }, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      for (const mode of [0o600, 0o755, 0o666, 0o640]) {
        await writeFile(path, "old");
        await chmod(path, mode);
        await replace(path, folder);
        assert.equal(await readFile(path, "utf8"), "new");
        assert.equal(((await stat(path)).mode & 0o7777).toString(8), mode.toString(8));
      }
      await replace(path, folder, { mode: 0o604 });
      assert.equal((await stat(path)).mode & 0o7777, 0o604);
    }));

  test(`${name} keeps the permission bits that the file has when it is replaced, whatever they were before`, {
    skip: needs("modes") || name.startsWith("copy"), // nothing can happen for sure while it copies
  }, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      for (const [before, after] of [[0o644, 0o600], [0o600, 0o644], [0o640, 0o640], [undefined, 0o600]]) {
        await rm(path, { force: true });
        if (before !== undefined) await writeFile(path, "old", { mode: before });
        await replace(path, folder, {}, async () => {
          await writeFile(path, "old");
          await chmod(path, after!);
        });
        assert.equal(((await stat(path)).mode & 0o7777).toString(8), after!.toString(8));
      }
    }));

  test(`${name} opens what it writes to no group before the file's own is given`, {
    skip: needs("modes") || name.startsWith("copy"),
  }, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      await writeFile(path, "old");
      for (const options of [{}, { mode: 0o660 }]) {
        await chmod(path, 0o660);
        await replace(path, folder, options, async () => {
          const temporary = (await readdir(folder)).find((each) => each !== "file")!;
          assert.equal((await stat(join(folder, temporary))).mode & 0o777, 0o600);
        });
        assert.equal((await stat(path)).mode & 0o777, 0o660);
      }
    }));

  test(`${name} lends nobody's rights to other bytes`, { skip: needs("modes") }, () =>
    inFolder(async (folder) => {
      const [path, temporary, source] = ["program", "temporary", "source"].map((name) => join(folder, name));
      for (const [own, given] of [[0o6755, 0o644], [0o755, 0o6755], [0o6755, 0o6755]]) {
        for (const options of [{}, { temporary }]) {
          for (const [each, mode] of [[path, own], [temporary, given], [source, given]] as const) {
            await writeFile(each, "old");
            await chmod(each, mode);
          }
          await replace(path, folder, options);
          assert.equal((await stat(path)).mode & 0o7777, 0o755);
        }
      }
    }));

  test(`${name} keeps the owner and the group of the file that it replaces`, {
    skip: isSuperuser ? false : "only the superuser may give files away",
  }, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      await writeFile(path, "old");
      await chown(path, 12345, 54321);
      await replace(path, folder);
      const { uid, gid } = await stat(path);
      assert.deepEqual([uid, gid], [12345, 54321]);
    }));

  test(`${name} follows links to the file that is replaced, or made, and replaces the link if that is asked`, {
    skip: needs("links"),
  }, () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "a/b"), { recursive: true });
      await mkdir(join(folder, "links"));
      await writeFile(join(folder, "a/file"), "old", { mode: 0o600 });
      await symlink("../a/b", join(folder, "links/folder"));
      const links: Record<string, string> = {
        "links/one": "../a/file",
        "links/two": "one",
        "links/whole": join(folder, "a/file"),
        "links/up": "folder/../file", // above what the link to a folder leads to
      };
      for (const [path, target] of Object.entries(links)) {
        await symlink(target, join(folder, path));
        await writeFile(join(folder, "a/file"), "old");
        await replace(join(folder, path), folder);
        assert.equal(await readFile(join(folder, "a/file"), "utf8"), "new", path);
        assert.equal((await stat(join(folder, "a/file"))).mode & 0o777, 0o600);
        assert.equal(await readlink(join(folder, path)), target);
      }
      await symlink("folder/../made", join(folder, "links/dangling"));
      await replace(join(folder, "links/dangling"), folder);
      assert.equal(await readFile(join(folder, "a/made"), "utf8"), "new");
      assert.equal(await readlink(join(folder, "links/dangling")), "folder/../made");

      await writeFile(join(folder, "a/file"), "old");
      await replace(join(folder, "links/two"), folder, { followLinks: false });
      assert.ok((await lstat(join(folder, "links/two"))).isFile());
      assert.equal(await readFile(join(folder, "a/file"), "utf8"), "old");
      assert.deepEqual((await readdir(join(folder, "a"))).sort(), ["b", "file", "made"]);
    }));

  test(`${name} refuses links that lead in a circle`, { skip: needs("links") }, () =>
    inFolder(async (folder) => {
      await symlink("second", join(folder, "first"));
      await symlink("first", join(folder, "second"));
      await assert.rejects(replace(join(folder, "first"), folder), { code: "ELOOP" });
    }));

  test(
    `${name} never puts a file in the place of a pipe, a device or a folder`,
    { skip: needs("links", "mkfifo") },
    () =>
      inFolder(async (folder) => {
        execFileSync("mkfifo", [join(folder, "pipe")]);
        await symlink("/dev/null", join(folder, "null"));
        await mkdir(join(folder, "folder"));
        for (const [path, code] of [["pipe", "EINVAL"], ["null", "EINVAL"], ["folder", "EISDIR"]]) {
          await assert.rejects(replace(join(folder, path), folder), { code });
        }
        assert.ok((await lstat(join(folder, "pipe"))).isFIFO());
        assert.ok((await lstat("/dev/null")).isCharacterDevice());
        assert.deepEqual((await readdir(folder)).filter((name) => name !== "source").sort(), [
          "folder",
          "null",
          "pipe",
        ]);
      }),
  );

  if (name !== "copyFileAtomic()") {
    test(
      `${name} replaces nothing but a file, and no link that is to be followed, if the name was taken meanwhile`,
      { skip: needs("links", "mkfifo") },
      () =>
        inFolder(async (folder) => {
          await writeFile(join(folder, "real"), "old");
          const takers = {
            pipe: (path: string) => execFileSync("mkfifo", [path]),
            folder: (path: string) => mkdir(path),
            link: (path: string) => symlink("real", path),
          };
          for (const [kind, take] of Object.entries(takers)) {
            for (const before of ["file", "nothing"]) {
              const path = join(folder, `${kind} for ${before}`);
              if (before === "file") await writeFile(path, "old");
              const meanwhile = async (): Promise<void> => {
                await rm(path, { force: true });
                await take(path);
              };
              await assert.rejects(replace(path, folder, {}, meanwhile), { code: /^(?:EINVAL|EISDIR)$/ });
              const status = await lstat(path);
              assert.ok(
                kind === "pipe" ? status.isFIFO() : kind === "link" ? status.isSymbolicLink() : status.isDirectory(),
              );
            }
          }
          assert.equal(await readFile(join(folder, "real"), "utf8"), "old");
          const path = join(folder, "link that is not followed");
          await replace(path, folder, { followLinks: false }, () => symlink("real", path));
          assert.ok((await lstat(path)).isFile());
          assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith(".")), []);
        }),
    );
  }

  test(
    `${name} tells that a file is mounted alone, and leaves it as it is`,
    { skip: cannotMount },
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "file");
        await writeFile(join(folder, "other"), "mounted");
        await writeFile(path, "old");
        execFileSync("mount", ["--bind", join(folder, "other"), path], { stdio: "ignore" });
        try {
          await assert.rejects(replace(path, folder), {
            code: "EBUSY",
            message: /it is in use, or a mount point, which/,
          });
          assert.equal(await readFile(path, "utf8"), "mounted");
          assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith(".")), []);
        } finally {
          execFileSync("umount", [path]);
        }
      }),
  );

  test(`${name} takes a file: URL`, () =>
    inFolder(async (folder) => {
      await replace(pathToFileURL(join(folder, "a file")), folder);
      assert.equal(await readFile(join(folder, "a file"), "utf8"), "new");
      await assert.rejects(replace(new URL("https://example.com/file"), folder), {
        name: "TypeError",
        message: /must be a path or a file: URL, not "https:\/\/example\.com\/file"$/,
      });
      await assert.rejects(replace("", folder), { name: "TypeError", message: /not ""$/ });
    }));
}

test("a link that leads elsewhere when a file is complete refuses it, and what either led to stays as it was", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.json");
    const [one, two, next] = ["one/app.json", "two/app.json", "next"].map((name) => join(folder, name));
    for (const isDangling of [false, true]) {
      const changes: readonly (() => unknown)[] = [
        async () => (await symlink("two/app.json", next), await rename(next, path)),
        async () => (await writeFile(next, "another's"), await rename(next, path)),
        () => rm(path),
        () => {},
      ];
      for (const [i, change] of changes.entries()) {
        for (const each of [one, two]) {
          await mkdir(dirname(each), { recursive: true });
          await writeFile(each, "old");
        }
        await rm(path, { force: true });
        if (isDangling) await rm(one);
        await symlink("one/app.json", path);
        const file = await AtomicFile.open(path);
        await file.write(new TextEncoder().encode("new"));
        await change();
        const before = await readFile(path, "utf8").catch(() => undefined);
        if (i < 3) await assert.rejects(file.commit(), { code: "EINVAL", message: /leads elsewhere by now/ });
        else await file.commit();
        assert.equal(await readFile(path, "utf8").catch(() => undefined), i < 3 ? before : "new");
        const expected = i === 3 ? "new" : isDangling ? undefined : "old";
        assert.equal(await readFile(one, "utf8").catch(() => undefined), expected);
        assert.equal(await readFile(two, "utf8"), "old");
        assert.deepEqual(await readdir(dirname(one)), expected === undefined ? [] : ["app.json"]);
      }
    }
  }));

test(
  "a file whose folder's link is switched meanwhile is where its path leads by then, and leaves nothing where it led",
  {
    skip: needs("links"),
  },
  () =>
    inFolder(async (folder) => {
      const bytes = new TextEncoder().encode("new");
      for (const [i, how] of ["commit", "discard", "end, then commit", "fail"].entries()) {
        const [first, second, link] = [1, 2, "link"].map((name) => join(folder, `${i} ${name}`));
        for (const path of [first, second]) await mkdir(path);
        await symlink(first, link);
        await writeFile(join(second, "file"), "second's");
        const file = await AtomicFile.open(join(link, "file"), { replace: how !== "fail" });
        await file.write(bytes);
        if (how.startsWith("end")) await file.end();
        await rm(link);
        await symlink(second, link);
        if (how === "discard") await file.discard();
        else if (how === "fail") await assert.rejects(file.commit(), { code: "EEXIST" });
        else await file.commit();
        const isNamed = how.endsWith("commit");
        assert.equal(await readFile(join(link, "file"), "utf8"), isNamed ? "new" : "second's", how);
        assert.deepEqual([await readdir(first), await readdir(second)], [[], ["file"]], how);
      }
    }),
);

test("a commit() without its temporary file, or its directory, says so", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "directory");
    for (const isFolder of [false, true]) {
      await mkdir(directory);
      const path = join(directory, "file");
      const file = await AtomicFile.open(path);
      await file.end();
      for (const name of await readdir(directory)) await rm(join(directory, name));
      if (isFolder) await rm(directory, { recursive: true });
      const message = `Cannot complete ${path}: the directory, or the temporary file in it, is gone (ENOENT)`;
      await assert.rejects(file.commit(), { code: "ENOENT", message });
      await rm(directory, { recursive: true, force: true });
    }
  }));
