import assert from "node:assert/strict";
import test from "node:test";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";

const LARGE = 3_000_000;

/** Returns the status that `match()` gives for requests; undefined where it gives none. */
async function matched(options: StaticHandlerOptions, requests: readonly [string, RequestInit?][]): Promise<unknown[]> {
  let statuses: unknown[] = [];
  await inFolder(async (folder) => {
    await writeTree(folder, { "index.html": "<p>", "docs/index.html": "<p>", "404.html": "<p>", "a.txt": "text" });
    await using site = await createStaticHandler(folder, options);
    const { match } = site; // bound
    const responses = requests.map(([path, init]) => match(new Request(`http://site.example${path}`, init)));
    statuses = (await Promise.all(responses)).map((response) => response?.status);
  });
  return statuses;
}

test("match() answers as fetch() does where there is a file, and gives nothing where there is none", async () => {
  const statuses = await matched({}, [
    ["/"],
    ["/a.txt", { method: "HEAD" }],
    ["/docs"],
    ["/a.txt", { headers: { range: "bytes=9-" } }],
    ["/missing"],
    ["/missing.txt", { method: "HEAD" }],
    ["/a.txt", { method: "POST" }],
    ["/a.txt", { method: "OPTIONS" }],
    ["/%zz"],
  ]);
  assert.deepEqual(statuses, [200, 200, 301, 416, undefined, undefined, undefined, undefined, 400]);
});

test("match() gives the fallback for pages only, and answers preflights for files with cors", async () => {
  const preflight = { origin: "http://other.example", "access-control-request-method": "GET" };
  const statuses = await matched({ fallback: "index.html", cors: true }, [
    ["/users/7", { headers: { accept: "text/html" } }],
    ["/users/7", { headers: { accept: "application/json" } }],
    ["/users/7.png", { headers: { accept: "text/html" } }],
    ["/a.txt", { method: "OPTIONS", headers: preflight }],
    ["/missing", { method: "OPTIONS", headers: preflight }],
  ]);
  assert.deepEqual(statuses, [200, undefined, undefined, 204, undefined]);
});

test("match() streams large files, and answers 503 once the handler is closed", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "large.bin": new Uint8Array(LARGE) });
    const site = await createStaticHandler(folder);
    const request = new Request("http://site.example/large.bin");
    assert.equal((await (await site.match(request))!.arrayBuffer()).byteLength, LARGE);
    await site.close();
    assert.equal((await site.match(request))?.status, 503);
  }));
