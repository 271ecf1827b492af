/**
 * The blocks of sh in the documentation. Those with a server run on each runtime that the server is for, the others once,
 * on Node, as they name their runtimes themselves.
 */
import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { noCurl } from "../e2e/same_tree/curl.ts";
import { realStores } from "../s3/real_stores.ts";
import { freePort } from "../support/ports.ts";
import { root, runtime } from "../support/runtime.ts";
import {
  documentationFiles,
  makeProject,
  type PeerServer,
  readShellBlocks,
  runShellBlock,
  type ShellBlock,
  startPeerServer,
} from "./blocks.ts";

/** The blocks that can't run here, by the start of their first command, and the reasons. */
const notRun: Readonly<Record<string, string>> = {
  "npm ci && npm run precompress": "it installs the packages of the repository anew",
  "npm ci && npm test": "it runs these tests",
  "node list_deltas.ts /srv/dist": "it is for the folders of a server",
  'curl "https://api.cloudflare.com/': "it needs an account of Cloudflare",
};

const reasonOf = ({ commands: [{ words }] }: ShellBlock): string | undefined => {
  return Object.entries(notRun).find(([beginning]) => words.startsWith(beginning))?.[1];
};

const all = readShellBlocks(documentationFiles(root), root);
const blocks = all.filter((block) => reasonOf(block) === undefined)
  .filter(({ server }) => server?.runtimes.includes(runtime) ?? runtime === "node");
const project = await makeProject(root);
let peer: PeerServer;
before(async () => {
  peer = await startPeerServer();
});
after(async () => {
  await peer.close();
  project.remove();
});

test("every block that is said not to run is there", () => {
  for (const beginning of Object.keys(notRun)) {
    assert.ok(all.some(({ commands }) => commands[0].words.startsWith(beginning)), beginning);
  }
});

test("the upload page's first block of sh runs against the server before it", () => {
  assert.ok(
    blocks.some(({ path, server }) => path === "lib/upload/README.md" && server?.code.includes("uploads.node")),
  );
});

for (const block of blocks) {
  const needs = (program: RegExp): boolean => block.commands.some(({ words }) => program.test(words));
  const skip = needs(/^curl /) && noCurl || needs(/\bversitygw\b/) && realStores.versitygw.skip;
  test(`${block.path}:${block.line} runs, and gets what it says`, { skip }, async () => {
    const { folder, pages } = project;
    const store = `http://127.0.0.1:${await freePort()}`;
    const options = { runtime, executable: process.execPath, project: folder, pages, origin: peer.origin, store, root };
    assert.equal((await runShellBlock(block, options)).join("\n"), "");
  });
}
