import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { TreeMemory } from "../../../lib/static/scan/memory.ts";
import type { Representation } from "../../../lib/static/scan/representation.ts";
import { scanTree } from "../../../lib/static/scan/scan_tree.ts";
import type { Tree } from "../../../lib/static/scan/tree.ts";
import { inFolder, writeTree } from "../../support/folders.ts";
import { all } from "./scanned.ts";

/** Creates a tree of files of these sizes, each filled with its own letter. */
async function treeOf(folder: string, sizes: readonly number[]): Promise<Tree> {
  const files = sizes.map((
    size,
    i,
  ) => [`${String.fromCharCode(97 + i)}.txt`, String.fromCharCode(97 + i).repeat(size)]);
  await writeTree(folder, Object.fromEntries(files));
  return scanTree(folder, () => {}, { dotfiles: false });
}

/** Returns the representations of a tree's files, in the order of their paths. */
function representations(tree: Tree): Representation[] {
  return [...tree].sort((a, b) => a.path < b.path ? -1 : 1).flatMap(all);
}

const isSent = (): boolean => true;

test("TreeMemory keeps the smallest files up to its limit, none of more than 64 KiB", () =>
  inFolder(async (folder) => {
    const tree = await treeOf(folder, [0, 10, 300, 20, 65_536, 65_537, 40]);
    const kept = (limit: number): number[] => {
      const memory = new TreeMemory(tree, limit, isSent);
      return representations(tree).filter(({ index }) => memory.keeps(index)).map(({ size }) => size);
    };
    assert.deepEqual(kept(0), [0]);
    assert.deepEqual(kept(29), [0, 10]);
    assert.deepEqual(kept(30), [0, 10, 20]);
    assert.deepEqual(kept(369), [0, 10, 20, 40]);
    assert.deepEqual(kept(370), [0, 10, 300, 20, 40]);
    assert.deepEqual(kept(1e9), [0, 10, 300, 20, 65_536, 40]);
  }));

test("TreeMemory keeps as many of equal size as fit", () =>
  inFolder(async (folder) => {
    const tree = await treeOf(folder, [100, 100, 100, 50, 200]);
    const memory = new TreeMemory(tree, 299, isSent);
    const kept = representations(tree).filter(({ index }) => memory.keeps(index)).map(({ size }) => size);
    assert.deepEqual(kept.sort(), [100, 100, 50]);
  }));

test("TreeMemory keeps nothing in codings that are not sent", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.js": "x".repeat(500), "a.js.br": "any" });
    const tree = await scanTree(folder, () => {}, { dotfiles: false });
    const memory = new TreeMemory(tree, 1e6, (coding) => coding !== "br");
    assert.deepEqual(representations(tree).map(({ coding, index }) => [coding, memory.keeps(index)]), [
      ["identity", true],
      ["br", false],
    ]);
  }));

test("TreeMemory gives each file its own bytes, over many pieces of memory", () =>
  inFolder(async (folder) => {
    const files = Array.from({ length: 150 }, (_, i) => [`${i}.bin`, new Uint8Array(65_536 - i).fill(i)] as const);
    await writeTree(folder, Object.fromEntries(files));
    const tree = await scanTree(folder, () => {}, { dotfiles: false });
    const memory = new TreeMemory(tree, 1e8, isSent);
    assert.equal(memory.size, 0);
    for (let round = 0; round < 2; round++) {
      for (const { path, identity } of tree) {
        const number = Number(path.slice(0, -4));
        assert.deepEqual(Buffer.from(memory.read(identity)!), Buffer.alloc(65_536 - number, number));
      }
      assert.equal(memory.size, files.reduce((sum, [, { length }]) => sum + length, 0));
    }
  }));

test("TreeMemory reads a file once, and nothing that has changed since the scan", () =>
  inFolder(async (folder) => {
    const tree = await treeOf(folder, [5, 5]);
    const memory = new TreeMemory(tree, 1e6, isSent);
    const [a, b] = representations(tree);
    const bytes = memory.read(a)!;
    await writeFile(join(folder, "a.txt"), "other");
    await writeFile(join(folder, "b.txt"), "other");
    assert.equal(memory.read(a)!.buffer, bytes.buffer);
    assert.equal(new TextDecoder().decode(memory.read(a)), "aaaaa");
    assert.equal(memory.read(b), undefined);
    assert.equal(memory.size, 5);
  }));
