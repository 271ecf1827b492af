import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { hostileTargets } from "./hostile_targets.ts";
import { makeHostileTree } from "./hostile_tree.ts";
import { type KnownSite, makeKnownSite } from "./known_site.ts";
import { exchange, forEachOf, requestBytes } from "../support/raw_exchange.ts";
import { between, cannotTrace, isAboutFile, TracedServer } from "./strace.ts";
import { isLong } from "../support/long_run.ts";

let folder = "";
let site: KnownSite;

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-traced-")));
  if (!cannotTrace) site = await makeKnownSite(folder);
});

after(() => rm(folder, { recursive: true, force: true }));

/** A request and the status that it must get. */
type Case = readonly [status: number, method: string, target: string, ...lines: string[]];

/** Requests of every kind that memory alone can answer, for each representation of each small file. */
function casesFromMemory(): Case[] {
  const cases: Case[] = [[404, "GET", "/nothing.js"], [404, "GET", "/../secret"], [405, "POST", "/"]];
  cases.push([301, "GET", "/docs"], [204, "OPTIONS", "/"], [
    406,
    "GET",
    "/tiny.txt",
    "Accept-Encoding: identity;q=0",
  ]);
  for (const [path, known] of site.files) {
    for (const { coding, bytes, tag } of known) {
      if (bytes.length > 64 * 1024) continue;
      const dictionary = coding.startsWith("dc") ? [`Available-Dictionary: ${site.dictionary}`] : [];
      const lines = [`Accept-Encoding: ${coding}`, ...dictionary];
      cases.push([200, "GET", path, ...lines], [200, "HEAD", path, ...lines]);
      cases.push([304, "GET", path, ...lines, `If-None-Match: ${tag}`], [412, "GET", path, ...lines, `If-Match: "x"`]);
      if (bytes.length > 10) cases.push([206, "GET", path, ...lines, "Range: bytes=2-7"]);
      if (bytes.length > 10) cases.push([206, "GET", path, ...lines, "Range: bytes=1-2,5-6"]);
      cases.push([416, "GET", path, ...lines, "Range: bytes=999999-"]);
    }
  }
  return cases;
}

async function send(port: number, cases: readonly Case[]): Promise<void> {
  await forEachOf(cases, 8, async ([status, method, target, ...lines]) => {
    const answer = await exchange(port, requestBytes(method, target, lines), method);
    assert.equal(answer?.status, status, `${method} ${target} ${lines.join(", ")}`);
  });
}

for (const entry of ["node", "fetch"] as const) {
  test(`answers that ${entry}() gives from memory take no system call on files`, { skip: cannotTrace }, async () => {
    const calls = await tracedCalls(site.directory, entry, 64 * 1024 * 1024, async (server) => {
      const cases = casesFromMemory().filter((_, number) => isLong || number % 4 === 0);
      await send(server.port, cases);
      await server.mark("warm");
      await send(server.port, Array.from({ length: isLong ? 1000 : 300 }, (_, number) => cases[number % cases.length]));
      await server.mark("end");
      await send(server.port, [[200, "GET", "/large.bin"]]);
      await server.mark("after");
    });
    assert.deepEqual(between(calls, "warm", "end").filter(isAboutFile), []);
    // The log does show what a file that is too large for memory takes.
    assert.ok(between(calls, "end", "after").filter(isAboutFile).some((call) => call.includes("/large.bin")));
  });

  test(`hostile targets make ${entry}() open nothing outside the folder`, { skip: cannotTrace }, async () => {
    const around = join(folder, `around-${entry}`);
    const tree = await makeHostileTree(around);
    const calls = await tracedCalls(tree.root, entry, 0, async (server) => {
      await send(server.port, [[200, "GET", "/"], [301, "GET", "/docs"], [404, "GET", "/no"], [400, "GET", "/%"]]);
      await server.mark("start");
      const some = hostileTargets(2_800, 7).filter((_, number) => number % (isLong ? 2 : 8) === 0);
      await forEachOf(some, 8, async (target) => {
        await exchange(server.port, requestBytes("GET", target));
      });
      await send(server.port, [[200, "GET", "/docs/"]]);
      await server.mark("end");
    });
    await tree.close();
    const answering = between(calls, "start", "end").filter(isAboutFile);
    assert.deepEqual(answering.filter((call) => !call.includes(`${tree.root}/`)), []);
    assert.ok(answering.some((call) => call.includes(`"${tree.root}/docs/index.html"`)), "nothing was streamed");
    // Nor did the scan: what a call results in shows where it led.
    assert.deepEqual(calls.filter((call) => leadsOut(call, around, tree.root)), []);
  });
}

/** Returns the system calls of a server while `visit` asks it for things. */
async function tracedCalls(
  directory: string,
  entry: "node" | "fetch",
  memoryLimit: number,
  visit: (server: TracedServer) => Promise<void>,
): Promise<string[]> {
  const server = await TracedServer.start(directory, entry, memoryLimit, folder);
  try {
    await visit(server);
    return await server.calls();
  } finally {
    await server.stop();
  }
}

/** Whether a call opened something that the tree has links to, but must not give away. */
function leadsOut(call: string, around: string, root: string): boolean {
  const [, path] = /^open.* = \d+<([^>]*)>$/.exec(call.trim()) ?? [];
  // Bun resolves links by O_PATH, which opens nothing that can be read.
  if (path === undefined || call.includes("O_PATH")) return false;
  if (["/dev/zero", "/etc/passwd"].includes(path) || /^\/proc\/\w+\/environ$/.test(path)) return true;
  return path.startsWith(`${around}/`) && !`${path}/`.startsWith(`${root}/`);
}
