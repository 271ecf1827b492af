import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";
import { isLong } from "../support/long_run.ts";
import { root, runtime } from "../support/runtime.ts";
import {
  checkBlocks,
  denoCheckBlocks,
  documentationFiles,
  makeProject,
  type PeerServer,
  readBlocks,
  runBlocks,
  startPeerServer,
} from "./blocks.ts";

const all = readBlocks(documentationFiles(root), root);
/** Examples in doc comments run on one runtime, in a long run on all: each shows one name, where pages show whole tasks. */
const blocks = all.filter(({ path, runtimes }) =>
  runtimes.includes(runtime) && (isLong || path.endsWith(".md") || runtime === "node" || !runtimes.includes("node"))
);
const project = await makeProject(root);
let peer: PeerServer | undefined;
let outcomes: Promise<Promise<string[]>[]> | undefined;

/** Begins to run all blocks when the first outcome is awaited. */
function start(): Promise<Promise<string[]>[]> {
  return outcomes ??= startPeerServer().then((started) => {
    peer = started;
    const { origin } = started;
    return runBlocks(blocks, { runtime, executable: process.execPath, project: project.folder, origin });
  });
}

after(async () => {
  await peer?.close();
  project.remove();
});

test("README.md, the pages and the sources hold blocks", () => {
  for (const kind of [/^README\.md$/, /^lib\/.*\.md$/, /^lib\/.*\.ts$/]) {
    assert.ok(all.some(({ path }) => kind.test(path)), `none in ${kind}`);
  }
});

const isUnchecked = runtime === "bun"
  ? "Bun checks no types"
  : !isLong && runtime === "deno" && "tsc checks them, under Node";

test("every block is right in a user's strict project", { skip: isUnchecked }, () => {
  const complaints = runtime === "deno"
    ? denoCheckBlocks(blocks, project.folder, process.execPath)
    : checkBlocks(isLong ? all : blocks, project.folder);
  assert.equal(complaints.join("\n"), "");
});

blocks.forEach(({ path, line }, i) => {
  test(`${path}:${line} runs and prints what it says`, async () => {
    const problems = await (await start())[i];
    assert.equal(problems.join("\n"), "");
  });
});
