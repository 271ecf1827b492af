import assert from "node:assert/strict";
import { appendFileSync, chmodSync, linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import {
  CreatedFile,
  type FileIdentity,
  identityOf,
  isSameFile,
  removeIfSame,
  type Undoable,
  undoAll,
  type Undone,
} from "../../lib/files/created_file.ts";
import { commitFile } from "../../lib/files/atomic_file.ts";
import { AtomicFile, temporaryPath } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { needs } from "../support/needs.ts";

/** Waits until files that are written get another time than those before: the file system's clock goes in ticks. */
async function tick(folder: string): Promise<void> {
  const probe = join(folder, ".probe");
  const at = async (): Promise<bigint> => {
    await writeFile(probe, "");
    await utimes(probe, new Date(), new Date()); // Deno may leave an empty file as it is
    await writeFile(probe, "x");
    return (await lstat(probe, { bigint: true })).mtimeNs / 1_000_000n;
  };
  const first = await at();
  while (await at() <= first);
}

/** Returns the contents of a folder by name, without the probe file. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const name of (await readdir(folder)).sort()) {
    if (name !== ".probe") contents[name] = await readFile(join(folder, name), "utf8");
  }
  return contents;
}

/** The expected contents of a folder, and the names of the created file. */
interface Model {
  readonly files: Map<string, string>;
  /** The names of the created file, as long as it is unchanged. */
  readonly ours: Set<string>;
}

const NAME = "file";
/** Content as long as the created file's. */
const OTHER = "theirs";
const OURS = "made-1";

/** Changes a name on the disk and in the model; returns `false` if the change is impossible now. */
type Act = (folder: string, model: Model, fresh: () => string) => boolean;

const acts: Readonly<Record<string, Act>> = {
  "bytes are appended": (folder, { files, ours }) => {
    if (!files.has(NAME)) return false;
    appendFileSync(join(folder, NAME), "+");
    writeThrough(files, ours, `${files.get(NAME)}+`);
    return true;
  },
  "bytes are written over others": (folder, { files, ours }) => {
    if (!files.has(NAME)) return false;
    const text = "x".repeat(files.get(NAME)!.length);
    writeFileSync(join(folder, NAME), text);
    writeThrough(files, ours, text);
    return true;
  },
  "the name is removed": (folder, { files, ours }) => {
    if (!files.has(NAME)) return false;
    unlinkSync(join(folder, NAME));
    files.delete(NAME);
    ours.delete(NAME);
    return true;
  },
  "another file gets the name that is free": (folder, { files }) => {
    if (files.has(NAME)) return false;
    writeFileSync(join(folder, NAME), OTHER);
    files.set(NAME, OTHER);
    return true;
  },
  "another file is renamed over it": (folder, { files, ours }, fresh) => {
    const name = fresh();
    writeFileSync(join(folder, name), OTHER);
    renameSync(join(folder, name), join(folder, NAME));
    files.set(NAME, OTHER);
    ours.delete(NAME);
    return true;
  },
  "it gets another name as well": (folder, { files, ours }, fresh) => {
    if (!files.has(NAME)) return false;
    const name = fresh();
    linkSync(join(folder, NAME), join(folder, name));
    files.set(name, files.get(NAME)!);
    if (ours.has(NAME)) ours.add(name);
    return true;
  },
  "it is moved away": (folder, { files, ours }, fresh) => {
    if (!files.has(NAME)) return false;
    const name = fresh();
    renameSync(join(folder, NAME), join(folder, name));
    files.set(name, files.get(NAME)!);
    files.delete(NAME);
    if (ours.delete(NAME)) ours.add(name);
    return true;
  },
  "it is moved back": (folder, { files, ours }) => {
    const [name] = [...ours].filter((name) => name !== NAME);
    if (name === undefined || ours.has(NAME)) return false; // renaming one name of a file to another does nothing
    renameSync(join(folder, name), join(folder, NAME));
    files.set(NAME, files.get(name)!);
    files.delete(name);
    ours.delete(name);
    ours.add(NAME);
    return true;
  },
  "its permissions change": (folder, { files }) => {
    if (!files.has(NAME)) return false;
    chmodSync(join(folder, NAME), 0o600);
    return true;
  },
};

/** Writes `text` under all names of the file; a written file no longer counts as the created one. */
function writeThrough(files: Map<string, string>, ours: Set<string>, text: string): void {
  const names = ours.has(NAME) ? [...ours] : [NAME];
  for (const name of names) files.set(name, text);
  if (ours.has(NAME)) ours.clear();
}

/** Puts a file under the name, and records its undo. */
type Take = (folder: string, replace: boolean, made: Undoable[]) => Promise<void>;

const takes: Readonly<Record<string, Take>> = {
  "CreatedFile.take()": async (folder, replace, made) => {
    const temporary = temporaryPath(join(folder, NAME));
    await writeFile(temporary, OURS);
    await CreatedFile.take(temporary, join(folder, NAME), { replace, atOnce: false }, made);
  },
  "CreatedFile.take() at once": async (folder, replace, made) => {
    const temporary = temporaryPath(join(folder, NAME));
    await writeFile(temporary, OURS);
    await CreatedFile.take(temporary, join(folder, NAME), { replace, atOnce: true }, made);
  },
  "an AtomicFile": async (folder, replace, made) => {
    const file = await AtomicFile.open(join(folder, NAME), { replace, flush: false });
    try {
      await file.write(new TextEncoder().encode(OURS));
      await commitFile(file, { made });
    } finally {
      await file.discard();
    }
  },
};

for (const [way, take] of Object.entries(takes)) {
  test(`the undo of ${way} removes what was created if it is there unchanged, and nothing else, whatever happened`, async () => {
    for (let seed = 1; seed <= 40; seed++) {
      await inFolder(async (folder) => {
        const random = randomNumbers(seed * 7919);
        const names = Object.keys(acts);
        const told: string[] = [`seed ${seed}`];
        let count = 0;
        const fresh = (): string => `other-${++count}`;
        const model: Model = { files: new Map(), ours: new Set() };
        if (random(3) === 0) {
          await writeFile(join(folder, NAME), OTHER);
          model.files.set(NAME, OTHER);
          told.push("there is one");
        }
        const isThere = model.files.has(NAME);
        const replace = random(2) === 0;
        const made: Undoable[] = [];
        const failure = await take(folder, replace, made).then(() => undefined, (error) => error);
        assert.equal((failure as { code?: string } | undefined)?.code, isThere && !replace ? "EEXIST" : undefined);
        if (failure === undefined) {
          model.files.set(NAME, OURS);
          model.ours.add(NAME);
        }
        await tick(folder);
        for (let i = random(4); i > 0; i--) {
          const name = names[random(names.length)];
          if (acts[name](folder, model, fresh)) told.push(name);
        }
        const isOurs = model.ours.has(NAME);
        const expected: Undone = isOurs ? isThere ? "kept" : "undone" : model.files.has(NAME) ? "changed" : "missing";
        if (expected === "undone") model.files.delete(NAME);
        const outcomes: Undone[] = [];
        for (const each of made) outcomes.push(await each.undo());
        assert.deepEqual(
          outcomes.filter((outcome) => outcome === "undone").length > 0,
          expected === "undone",
          told.join(", "),
        );
        if (failure === undefined) assert.deepEqual(outcomes, [expected], told.join(", "));
        const left = await contentsOf(folder);
        for (const name of Object.keys(left)) if (name.startsWith(".millrace-")) delete left[name]; // of the one that failed
        assert.deepEqual(left, Object.fromEntries([...model.files].sort()), told.join(", "));
        for (const each of made) assert.notEqual(await each.undo(), "undone", "what is undone once is not twice");
      });
    }
  });

  test(`${way} knows of a file that comes at the very moment, so that its undo loses none`, {
    skip: needs("replacing"),
  }, async () => {
    for (let i = 0; i < 60; i++) {
      await inFolder(async (folder) => {
        const path = join(folder, NAME);
        await writeFile(join(folder, "other"), OTHER);
        const made: Undoable[] = [];
        const renaming = (async () => {
          for (let turns = i % 12; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
          await rename(join(folder, "other"), path);
        })();
        await Promise.all([take(folder, true, made), renaming]);
        await undoAll(made);
        // Theirs, or ours in its place.
        assert.ok([OTHER, OURS].includes(await readFile(path, "utf8")));
      });
    }
  });
}

test("an inode that is used again is another file: its birth, its size or its last write tells", () => {
  const file: FileIdentity = { dev: 1n, ino: 2n ** 60n + 1n, birthtimeNs: 5n, size: 7n, mtimeNs: 9n };
  assert.ok(isSameFile(file, { ...file }));
  for (const name of ["dev", "ino", "birthtimeNs", "size", "mtimeNs"] as const) {
    assert.ok(!isSameFile(file, { ...file, [name]: file[name] + 1n }), name);
  }
  // A file system that knows no births.
  const unborn = { ...file, birthtimeNs: 0n };
  assert.ok(isSameFile(file, unborn) && isSameFile(unborn, file) && isSameFile(unborn, unborn));
  assert.ok(!isSameFile(unborn, { ...unborn, mtimeNs: 10n }));
  assert.ok(!isSameFile(unborn, { ...unborn, size: 8n }));
});

test("removeIfSame() removes a file that is the same, tells of others, and says what the system refuses", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "text");
    const identity = (await identityOf(path))!;
    assert.equal(await removeIfSame(join(folder, "none"), identity), "missing");
    assert.equal(await removeIfSame(join(path, "below"), identity), "missing");
    if (!needs("links")) {
      await symlink(path, join(folder, "link"));
      assert.equal(await removeIfSame(join(folder, "link"), identity), "changed");
      await unlink(join(folder, "link"));
    }
    await truncate(path, 2);
    assert.equal(await removeIfSame(path, identity), "changed");
    assert.equal(await removeIfSame(path, (await identityOf(path))!), "undone");
    assert.equal(await identityOf(path), undefined);
    await mkdir(path);
    await mkdir(join(path, "below")); // Deno's unlink() removes folders that are empty
    await assert.rejects(removeIfSame(path, (await identityOf(path))!));
    assert.deepEqual(await readdir(folder), ["file"]);
  }));

test("undoAll() undoes the newest first, all of them, whatever each comes to", async () => {
  const undone: number[] = [];
  const outcomes: readonly Undone[] = ["undone", "kept", "changed", "missing"];
  await undoAll(outcomes.map((outcome, i) => ({
    undo: () => {
      undone.push(i);
      return Promise.resolve(outcome);
    },
  })));
  assert.deepEqual(undone, [3, 2, 1, 0]);
});

test("the undo of a replacement that failed does not report the object that stays as the created file", () =>
  inFolder(async (folder) => {
    const [path, temporary] = [join(folder, NAME), temporaryPath(join(folder, NAME))];
    await writeFile(temporary, OURS);
    await mkdir(path);
    const made: Undoable[] = [];
    await assert.rejects(CreatedFile.take(temporary, path, { replace: true, atOnce: false }, made));
    assert.deepEqual(await undoAll(made), ["changed"]);
  }));

test("an undo that the system refuses leaves the file, and never rejects", () =>
  inFolder(async (folder) => {
    const temporary = temporaryPath(join(folder, NAME));
    await writeFile(temporary, OURS);
    const made: Undoable[] = [];
    await CreatedFile.take(temporary, join(folder, NAME), { replace: false, atOnce: false }, made);
    // A folder that has become a file.
    const moved = `${folder}-moved`;
    await rename(folder, moved);
    try {
      await writeFile(folder, "");
      assert.equal(await made[0].undo(), "missing");
      assert.equal(readFileSync(join(moved, NAME), "utf8"), OURS);
    } finally {
      unlinkSync(folder);
      await rename(moved, folder);
    }
    assert.equal(await made[0].undo(), "undone");
  }));
