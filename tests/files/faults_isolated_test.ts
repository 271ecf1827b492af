import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import fc from "fast-check";
import { NumberFileWriter, openFileWritable, RotatingFileWritable } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import { cannotMount, contents, expectedFiles, onSmallDisk, openFilesIn, Outcomes, turns } from "./written.ts";
import { tries } from "../support/long_run.ts";
import { needs } from "../support/needs.ts";

interface Options {
  directory: string;
  maxFileSize: number;
  atomic?: boolean;
  overwrite?: boolean;
  append?: boolean;
}

/** A stream and the chunks written to it. */
interface Kind {
  readonly name: string;
  make(options: Options): WritableStream;
  item(index: number): unknown;
  /** Returns the bytes of an item, one character each. */
  text(index: number): string;
}

const kinds: readonly Kind[] = [{
  name: "NumberFileWriter",
  make: (options) => new NumberFileWriter(options),
  item: (index) => index * index,
  text: (index) => `${index * index}\n`,
}, {
  name: "RotatingFileWritable of short texts",
  make: (options) => new RotatingFileWritable(options),
  item: (index) => `line ${index}\n`,
  text: (index) => `line ${index}\n`,
}, {
  name: "RotatingFileWritable of pieces that are not copied",
  make: (options) => new RotatingFileWritable(options),
  item: (index) => new Uint8Array(17_000).fill(65 + index % 26),
  text: (index) => String.fromCharCode(65 + index % 26).repeat(17_000),
}];

/** Writes until the stream fails, at the pace that it asks for. */
async function writeUntilItFails(stream: WritableStream, kind: Kind, most: number): Promise<Outcomes> {
  const writer = stream.getWriter();
  const outcomes = new Outcomes();
  writer.closed.catch(() => {});
  for (let i = 0; i < most; i++) {
    outcomes.add(writer.write(kind.item(i)));
    try {
      if (writer.desiredSize! <= 0) await writer.ready;
    } catch {
      break;
    }
  }
  await writer.close().catch(() => {});
  return await outcomes.settled();
}

/**
 * Checks that the files hold the items from the first on: all acknowledged ones, none twice, and only the last one may
 * be incomplete. Atomic files are complete, except the last of the series.
 */
function checkFiles(files: readonly string[], kind: Kind, outcomes: Outcomes, options: Options): void {
  const written = outcomes.acknowledged + outcomes.errors.length;
  const texts = Array.from({ length: written }, (_, i) => kind.text(i));
  const expected = expectedFiles(texts, options.maxFileSize);
  if (options.atomic) {
    assert.deepEqual(files, expected.slice(0, files.length));
    return;
  }
  const acknowledged = texts.slice(0, outcomes.acknowledged).join("");
  const found = files.join("");
  assert.ok(found.startsWith(acknowledged), `${found.length} bytes for ${acknowledged.length} that were acknowledged`);
  assert.ok(texts.join("").startsWith(found), "what was not acknowledged is there in part, in order, or not");
  assert.deepEqual(files.slice(0, -1), expected.slice(0, Math.max(0, files.length - 1)));
}

function checkErrors(outcomes: Outcomes, code: string, words: RegExp): void {
  assert.ok(outcomes.errors.length > 0);
  const [first] = outcomes.errors as (Error & { code?: string })[];
  for (const error of outcomes.errors) assert.equal(error, first);
  assert.equal(first.code, code);
  assert.match(first.message, words);
  assert.ok(first.cause instanceof Error);
}

for (const kind of kinds) {
  for (const atomic of [false, true]) {
    const title = `${kind.name}${atomic ? " with atomic" : ""}`;

    test(
      `${title} on a disk that is full rejects what it has not acknowledged`,
      { skip: cannotMount },
      () =>
        onSmallDisk(400, async (disk) => {
          const options = { directory: join(disk, "out"), maxFileSize: 120_000, atomic };
          const outcomes = await writeUntilItFails(kind.make(options), kind, 500_000);
          checkErrors(outcomes, "ENOSPC", /^Cannot write .*-0000\d\.txt: no space is left on the device \(ENOSPC\)$/);
          assert.ok(outcomes.acknowledged > 0);
          const files = contents(options.directory);
          assert.equal(Object.keys(files).filter((name) => !/^\w+-\d+\.txt$/.test(name)).length, 0);
          assert.equal(Object.keys(files).length, atomic ? 3 : 4);
          checkFiles(Object.values(files), kind, outcomes, options);
          assert.deepEqual(openFilesIn(disk), []);
        }),
    );

    test(`${title} in a directory that vanishes rejects what it has not acknowledged`, () =>
      inFolder(async (folder) => {
        const options = { directory: join(folder, "out"), maxFileSize: 100_000, atomic };
        const writer = kind.make(options).getWriter();
        writer.closed.catch(() => {});
        await writer.write(kind.item(0));
        await rm(options.directory, { recursive: true });
        const outcomes = new Outcomes();
        for (let i = 1; i < 150_000 / kind.text(i).length; i++) outcomes.add(writer.write(kind.item(i)));
        await outcomes.settled();
        checkErrors(
          outcomes,
          "ENOENT",
          /-0000\d\.txt: the directory(?: is missing|, or .* in it, is gone) \(ENOENT\)$/,
        );
        assert.deepEqual(await readdir(folder), []);
        assert.deepEqual(openFilesIn(folder), []);
      }));
  }
}

const ending = fc.record({
  writes: fc.array(fc.constantFrom(0, 0, 0, 0.5, 1, 2), { maxLength: 40 }),
  end: fc.constantFrom("close" as const, "abort" as const),
  atomic: fc.nat(4).map((n) => n === 0), // seldom: each atomic file waits for the disk
  maxFileSize: fc.constantFrom(17_000, 60_000, 1e6),
});

for (const kind of kinds) {
  test(`${kind.name} ends at any point with what it acknowledged written, and no file open`, () =>
    fc.assert(
      fc.asyncProperty(ending, ({ writes, end, ...how }) =>
        inFolder(async (directory) => {
          const options = { directory, ...how };
          const writer = kind.make(options).getWriter();
          writer.closed.catch(() => {});
          const outcomes = new Outcomes();
          for (const [i, pause] of writes.entries()) {
            outcomes.add(writer.write(kind.item(i)));
            await turns(pause);
          }
          const reason = new Error("enough");
          await (end === "close" ? writer.close() : writer.abort(reason));
          await outcomes.settled();
          assert.equal(outcomes.acknowledged + outcomes.errors.length, writes.length);
          if (end === "close") assert.equal(outcomes.errors.length, 0);
          for (const error of outcomes.errors) assert.equal(error, reason);
          const files = Object.values(contents(directory));
          checkFiles(files, kind, outcomes, options);
          if (end === "close") assert.equal(files.join("").length, writes.map((_, i) => kind.text(i)).join("").length);
          assert.deepEqual(openFilesIn(directory), []);
        })),
      { numRuns: tries(100) },
    ));
}

const cannotFill = needs("proc");

test(
  "openFileWritable() rejects what it cannot write, names the file, and lets go of it",
  { skip: cannotFill },
  async () => {
    const writer = (await openFileWritable("/dev/full")).getWriter();
    writer.closed.catch(() => {});
    const outcomes = new Outcomes();
    for (let i = 0; i < 100; i++) outcomes.add(writer.write(new Uint8Array(i * 400)));
    await outcomes.settled();
    assert.equal(outcomes.acknowledged, 0);
    checkErrors(outcomes, "ENOSPC", /^Cannot write \/dev\/full: no space is left on the device \(ENOSPC\)$/);
    assert.deepEqual(openFilesIn("/dev/full"), []);
  },
);

test(
  "openFileWritable() on a disk that fills up rejects what it has not acknowledged",
  { skip: cannotMount },
  () =>
    onSmallDisk(1000, async (disk) => {
      for (const atomic of [false, true]) {
        const [, , kind] = kinds;
        const stream = await openFileWritable(join(disk, "file"), { atomic });
        const outcomes = await writeUntilItFails(stream, kind, 1000);
        checkErrors(outcomes, "ENOSPC", /^Cannot write .*file: no space/);
        assert.ok(outcomes.acknowledged > 0);
        if (atomic) assert.deepEqual(await readdir(disk), []);
        else checkFiles(Object.values(contents(disk)), kind, outcomes, { directory: disk, maxFileSize: Infinity });
        assert.deepEqual(openFilesIn(disk), []);
        await rm(join(disk, "file"), { force: true });
      }
    }),
);

test("a directory that cannot be made is named before anything is written", () =>
  inFolder(async (folder) => {
    const file = join(folder, "file");
    await writeFile(file, "");
    for (const kind of kinds) {
      for (const directory of [file, join(file, "below"), join(file, "far/below")]) {
        const outcomes = await writeUntilItFails(kind.make({ directory, maxFileSize: 17_000 }), kind, 10);
        assert.equal(outcomes.acknowledged, 0);
        checkErrors(outcomes, "EEXIST", /^Cannot make the directory .*file: there is a file of that name already \(E/);
      }
    }
    assert.deepEqual(contents(folder), { file: "" });
  }));

test("directories are made as far as they are missing", () =>
  inFolder(async (folder) => {
    const [kind] = kinds;
    for (const directory of [folder, join(folder, "a/b/c"), join(folder, "a/b"), join(folder, "a/d")]) {
      const outcomes = await writeUntilItFails(kind.make({ directory, maxFileSize: 9 }), kind, 1);
      assert.equal(outcomes.acknowledged, 1);
      assert.equal(contents(directory)["numbers-00001.txt"], "0\n");
    }
  }));

test(
  "a directory that cannot be written to is named with the file",
  { skip: cannotMount },
  () =>
    onSmallDisk(64, async (disk) => {
      await mkdir(join(disk, "there"));
      execFileSync("mount", ["-o", "remount,ro", disk], { stdio: "ignore" });
      for (const kind of kinds) {
        for (
          const [directory, words] of [["there", /^Cannot create .*00001\.txt: /], [
            "new",
            /^Cannot make the directory /,
          ]] as const
        ) {
          const stream = kind.make({ directory: join(disk, directory), maxFileSize: 17_000 });
          const outcomes = await writeUntilItFails(stream, kind, 10);
          checkErrors(outcomes, "EROFS", words);
          checkErrors(outcomes, "EROFS", /: the file system is read-only \(EROFS\)$/);
        }
        const series = kind.make({ directory: join(disk, "new", "below"), maxFileSize: 17_000, append: true });
        const path = join(disk, "new");
        const outcomes = await writeUntilItFails(series, kind, 10);
        checkErrors(outcomes, "EROFS", new RegExp(`^Cannot make the directory ${path}: the file system is read-only `));
      }
    }),
);
