import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { isLong } from "../support/long_run.ts";
import { type RealStore, realStores, startStore } from "../s3/real_stores.ts";
import { root, runtime } from "../support/runtime.ts";
import {
  checkBlocks,
  denoCheckBlocks,
  documentationFiles,
  makeProject,
  needsDatabase,
  type PeerServer,
  readBlocks,
  runBlock,
  runBlocks,
  type RunOptions,
  startPeerServer,
} from "./blocks.ts";
import { fencesOfFile } from "./read_blocks.ts";
import { installLinesOf } from "./setup.ts";

const all = readBlocks(documentationFiles(root), root);
/** The marks of examples that meet a runtime: its modules and names, and servers. */
const ofRuntime = /"node:|\b(?:process|Deno|Bun|fetch|serve)\b/;
/**
 * Examples run on Node, in a long run on each runtime that they are for. In a short one the others have those that are for
 * them alone, those of README.md, and those of pages that meet a runtime: the rest is what tests of the parts run there.
 */
const blocks = all.filter(({ path, code, runtimes }) => {
  const isHere = isLong || runtime === "node" || !runtimes.includes("node") || path === "README.md";
  return runtimes.includes(runtime) && (isHere || path.endsWith(".md") && ofRuntime.test(code));
});
const project = await makeProject(root);
let peer: PeerServer | undefined;
let store: RealStore | undefined;
let outcomes: Promise<Promise<string[]>[]> | undefined;

/** Begins to run all blocks when the first outcome is awaited. */
function start(): Promise<Promise<string[]>[]> {
  return outcomes ??= startServers().then((options) => runBlocks(blocks, options));
}

/** Starts what blocks talk to: a server in the place of public hosts, and a real store, if there is one here. */
async function startServers(): Promise<RunOptions> {
  peer = await startPeerServer();
  if (realStores.versitygw.skip === false) store = await startStore("versitygw");
  const { folder, pages } = project;
  const { origin } = peer;
  return { runtime, executable: process.execPath, project: folder, pages, origin, store: store?.endpoints[0] };
}

after(async () => {
  await peer?.close();
  await store?.stop();
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

test("blocks of pages run where nothing is but what their page says, but for these", async () => {
  const notRun = blocks.filter(needsDatabase);
  assert.deepEqual(notRun.map(({ path }) => path), ["lib/batch/sinks.md"]); // a server of Postgres is wanted
  const options = { runtime, executable: process.execPath, project: project.folder, pages: project.pages, origin: "" };
  assert.match((await runBlock(notRun[0], options)).join("\n"), /ECONNREFUSED/);
  assert.deepEqual(all.filter(({ path, setup }) => path.endsWith(".md") !== (setup !== undefined)), []);
});

test("lines that install the same for several runtimes name the same packages", () => {
  for (const path of documentationFiles(root).filter((path) => path.endsWith(".md"))) {
    const lines = installLinesOf(fencesOfFile(path, readFileSync(join(root, path), "utf8")));
    assert.equal(lines[0]?.packages[0] ?? "@millrace/streams", "@millrace/streams", path);
    for (const [i, { line, by, packages }] of lines.entries()) {
      if (by !== "npm i") assert.deepEqual(packages, lines[i - 1].packages, `${path}:${line}`);
    }
  }
});

blocks.forEach(({ path, line }, i) => {
  test(`${path}:${line} runs and prints what it says`, async () => {
    const problems = await (await start())[i];
    assert.equal(problems.join("\n"), "");
  });
});
