import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rename, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { writeTree } from "../support/folders.ts";
import { PUBLIC, SECRET } from "./hostile_tree.ts";
import { needs } from "../support/needs.ts";

const hidesWarnings = { onWarning: () => {} };
/** Neither is kept in memory; the second is too large to be read before its answer begins. */
const sizes: Readonly<Record<string, number>> = { "large.txt": 140_000, "huge.txt": 1_400_000 };

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-swapped-"));
});

after(() => rm(folder, { recursive: true, force: true }));

function request(path: string): Request {
  return new Request(`http://site.example/${path}`);
}

/** Writes files full of `word`, all last changed at the same time. */
async function writeFull(directory: string, word: string, paths: readonly string[]): Promise<void> {
  const text = (path: string): string => `${word}\n`.repeat(sizes[path.split("/").at(-1)!] / (word.length + 1));
  await writeTree(directory, Object.fromEntries(paths.map((path) => [path, text(path)])));
  for (const path of paths) await utimes(join(directory, path), 1.7e9, 1.7e9);
}

test("a file, or a folder, that becomes a link out of the folder after the scan is not followed", {
  skip: needs("links"),
}, async () => {
  const [inside, beside] = [join(folder, "swapped"), join(folder, "swapped-secret")];
  const paths = Object.keys(sizes).flatMap((name) => [name, `below/${name}`]);
  await writeFull(inside, PUBLIC, paths);
  await writeFull(beside, SECRET.slice(0, PUBLIC.length), paths);
  const handler = await createStaticHandler(inside, hidesWarnings);
  for (const name of [...Object.keys(sizes), "below"]) {
    await rename(join(inside, name), join(folder, name));
    await symlink(join(beside, name), join(inside, name));
  }
  for (const path of paths) {
    const response = await handler.fetch(request(path));
    assert.equal(response.status, 503, path);
    assert.ok(!(await response.text()).includes("SECRET"), path);
  }
  await handler.reload();
  for (const path of paths) assert.equal((await handler.fetch(request(path))).status, 404, path);
  await handler.close();
});

test("a large file that becomes a pipe after the scan keeps nobody waiting", {
  skip: needs("mkfifo"),
}, async () => {
  const directory = join(folder, "piped");
  await writeFull(directory, PUBLIC, ["large.txt", "huge.txt", "other/huge.txt"]);
  const handler = await createStaticHandler(directory, hidesWarnings);
  for (const name of Object.keys(sizes)) {
    await rm(join(directory, name));
    assert.equal(spawnSync("mkfifo", [join(directory, name)]).status, 0);
  }
  // As many as a pool of threads has would keep all others from the file system.
  const paths = Array.from({ length: 16 }, (_, number) => Object.keys(sizes)[number % 2]);
  const responses = await Promise.all(paths.map((path) => handler.fetch(request(path))));
  for (const { status } of responses) assert.ok(status === 503 || status === 404, String(status));
  const other = await handler.fetch(request("other/huge.txt"));
  assert.equal((await other.text()).length, sizes["huge.txt"]);
  await handler.close();
});
