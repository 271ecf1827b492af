import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { type FileProof, proofOfComplete, provenFile, SeriesRecord } from "../../../lib/files/series/series_record.ts";
import { inFolder } from "../../support/folders.ts";

function recordIn(directory: string, isLost = false): SeriesRecord {
  return new SeriesRecord(directory, ".app.log.millrace", { isLost });
}

test("the numbers of files are recorded exactly, however large they are", () =>
  inFolder(async (directory) => {
    const record = recordIn(directory);
    const numbers = [1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, (198n << 48n) | 0x12341n, 2n ** 64n - 1n];
    const entries = numbers.map((ino, i) => {
      const file: FileProof = { ino, birth: 1.7e12 + 0.25, size: 5, mtime: 1.7e12 + i };
      return { number: i + 1, opened: i, file };
    });
    for (const { number, ...entry } of entries) record.note(number, entry);
    for (let i = 0; i < 2; i++) {
      const read = recordIn(directory);
      read.load();
      assert.deepEqual(read.entries, entries);
      read.rewrite();
    }
    assert.deepEqual(await readdir(directory), [".app.log.millrace"]);
    // As versions before wrote them, which read no others.
    const [first] = (await readFile(join(directory, ".app.log.millrace"), "utf8")).split("\n");
    assert.deepEqual(JSON.parse(first).file, { ino: 1, birth: 1.7e12 + 0.25, size: 5, mtime: 1.7e12 });
  }));

test("a number that is no file's is no proof, whatever it is written as", () =>
  inFolder(async (directory) => {
    for (const ino of ["1", "x", "", "9007199254740993.5", "--9007199254740993", "-1", 1.5, null, true, [], {}]) {
      const line = JSON.stringify({ number: 1, opened: 1, file: { ino, birth: 1, size: 1, mtime: 1 } });
      await writeFile(join(directory, ".app.log.millrace"), `${line}\n`);
      const record = recordIn(directory);
      record.load();
      assert.deepEqual(record.entries, [], JSON.stringify(ino));
    }
  }));

test("a file of a neighbouring number is not the one of a proof, though doubles are the same", () =>
  inFolder(async (directory) => {
    const path = join(directory, "app-00001.log");
    await writeFile(path, "text");
    const status = await stat(path, { bigint: true });
    const proof = proofOfComplete(status);
    assert.equal(provenFile(path, proof)?.ino, status.ino);
    assert.equal(provenFile(path, { ...proof, ino: proof.ino + 1n, mtime: 1 }), undefined);
    const { size: _size, mtime: _mtime, ...open } = proof;
    assert.equal(provenFile(path, open)?.ino, status.ino);
    assert.equal(provenFile(path, { ...open, ino: open.ino + 1n }), undefined);
    assert.equal(provenFile(path, { ...open, birth: open.birth + 5 }), undefined);
  }));

test("a file that a stream has left is its own by its times, whatever number it has since", () =>
  inFolder(async (directory) => {
    const path = join(directory, "app-00001.log");
    await writeFile(path, "text");
    const { size: _size, ...left } = proofOfComplete(await stat(path, { bigint: true }));
    const other = left.ino + 1n;
    assert.equal(provenFile(path, { ...left, ino: other }) !== undefined, left.birth > 0);
    assert.equal(provenFile(path, { ...left, ino: other, mtime: left.mtime + 5 }), undefined);
    assert.equal(provenFile(path, { ...left, ino: other, birth: left.birth + 5 }), undefined);
    assert.equal(provenFile(path, { ...left, ino: other, birth: 0 }), undefined);
  }));

test("a record that cannot be written leaves no temporary file", () =>
  inFolder(async (directory) => {
    assert.throws(() => recordIn(directory, true).rewrite(), /another stream has taken the series over/);
    const gone = recordIn(join(directory, "gone"));
    assert.throws(() => gone.rewrite(), { code: "ENOENT" });
    assert.deepEqual(await readdir(directory), []);
  }));
