import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { hostileTargets } from "./hostile_targets.ts";
import { type HostileTree, makeHostileTree, PUBLIC, SECRET } from "./hostile_tree.ts";
import { serveFetch } from "./fetch_server.ts";
import { exchange, forEachOf, requestBytes } from "../support/raw_exchange.ts";
import { needs } from "../support/needs.ts";

/** The parts of a response that can do harm. */
interface Outcome {
  readonly status: number;
  readonly fields: Iterable<readonly [string, string]>;
  readonly body: Uint8Array;
}

const targets = hostileTargets(2_800, 5);
const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): number => unhandled.push(reason);
let folder = "";
let tree: HostileTree;
/** Handlers with different options for the same site. */
let plain: StaticHandler;
let streaming: StaticHandler;
let generous: StaticHandler;

const hidesWarnings: StaticHandlerOptions = { onWarning: () => {} };

before(async () => {
  process.on("unhandledRejection", noteUnhandled);
  folder = await mkdtemp(join(tmpdir(), "millrace-hostile-"));
  tree = await makeHostileTree(folder);
  plain = await createStaticHandler(tree.root, hidesWarnings);
  streaming = await createStaticHandler(tree.root, { ...hidesWarnings, memoryLimit: 0 });
  generous = await createStaticHandler(tree.root, {
    ...hidesWarnings,
    basePath: "/base",
    cleanUrls: true,
    fallback: "docs/index.html",
    previous: tree.previous,
  });
});

after(async () => {
  for (const handler of [plain, streaming, generous]) await handler?.close();
  await tree?.close();
  await rm(folder, { recursive: true, force: true });
  process.off("unhandledRejection", noteUnhandled);
});

/** @throws {AssertionError} if an answer gives something away, leads elsewhere, or shows a crash. */
function assertHarmless(target: string, { status, fields, body }: Outcome): void {
  const about = `${JSON.stringify(target.slice(0, 300))} was answered ${status}`;
  // If a target makes the request line invalid, the server refuses it: Bun's server with 505.
  assert.ok(status >= 200 && status < 500 || status === 505 && /[\0-\x20\x7f]/.test(target), about);
  const text = Buffer.from(body).toString("latin1");
  for (const [name, value] of fields) {
    assert.ok(!value.includes(SECRET), `${about} with a secret as its ${name}`);
    assert.notEqual(name.toLowerCase(), "set-cookie", `${about}, and with a field that the target made`);
    if (name.toLowerCase() === "location") assertStays(value, about);
  }
  assert.ok(!text.includes(SECRET), `${about} with a secret`);
  assert.doesNotMatch(text, /root:[^:]*:0:0:|(^|\0)PATH=\//, `${about} with a file of the system`);
  if (status === 200 || status === 206) assert.ok(text.includes(PUBLIC), `${about} with ${JSON.stringify(text)}`);
}

/** A redirect has to name a path, absolute or relative, and none that a browser takes for a host or a scheme. */
function assertStays(location: string, about: string): void {
  assert.match(location, /^\.?\/(?![/\\])[!-~\x80-\xff]*$/, `${about} and sent to ${location}`);
  const here = "http://127.0.0.1:8000/docs/deep/";
  assert.equal(new URL(location, here).origin, new URL(here).origin, `${about} and sent to ${location}`);
}

/**
 * Sends every target to a server, half of them with Accept-Encoding; returns the number of responses of each status.
 */
async function sendAll(port: number, all: readonly string[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  await forEachOf([...all.entries()], 8, async ([number, target]) => {
    const lines = number % 2 === 0 ? [] : ["Accept-Encoding: gzip, br, zstd"];
    const answer = await exchange(port, requestBytes("GET", target, lines));
    assert.ok(answer, `${JSON.stringify(target.slice(0, 300))} got no answer`);
    assertHarmless(target, answer);
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
  });
  return counts;
}

/** Passes every target that makes a valid request to `fetch`; returns the number of responses of each status. */
async function fetchAll(
  handler: StaticHandler,
  requests: Iterable<readonly [string, Request]>,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const [target, request] of requests) {
    const { status, headers, body } = await handler.fetch(request);
    const bytes = new Uint8Array(await new Response(body).arrayBuffer());
    assertHarmless(target, { status, fields: headers, body: bytes });
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

function* normalised(base: string): Generator<[string, Request]> {
  for (const target of targets) {
    const url = base + target;
    if (URL.canParse(url)) yield [target, new Request(url, { headers: { "accept-encoding": "gzip, br, zstd" } })];
    if (URL.canParse(target) && /^https?:/i.test(target) && !target.includes("@")) yield [target, new Request(target)];
  }
}

/** Yields requests with an unnormalized `url`, like those of servers that create requests without `new URL()`. */
function* asTheyCame(base: string): Generator<[string, Request]> {
  for (const target of targets) {
    yield [target, { method: "GET", url: base + target, headers: new Headers() } as Request];
  }
}

/** Requires a minimum of responses with each status, so that the run tests more than a parser's refusals. */
function assertVaried(counts: ReadonlyMap<number, number>, least: Readonly<Record<number, number>>): void {
  const seen = JSON.stringify(Object.fromEntries(counts));
  for (const [status, count] of Object.entries(least)) {
    assert.ok((counts.get(Number(status)) ?? 0) >= count, `fewer than ${count} answers of ${status}: ${seen}`);
  }
}

async function assertAlive(handler: StaticHandler, path: string): Promise<void> {
  const response = await handler.fetch(new Request(`http://127.0.0.1${path}`));
  assert.equal(response.status, 200);
  assert.ok((await response.text()).includes(PUBLIC));
  assert.deepEqual(unhandled, []);
}

async function withServer(handler: StaticHandler, visit: (port: number) => Promise<void>): Promise<void> {
  const server: Server = createServer(handler.node);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    await visit((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("there are 2,800 hostile targets, and the site has a file of every kind", () => {
  assert.ok(targets.length >= 2_800);
  if (process.platform === "linux") assert.deepEqual(tree.missing.filter((kind) => kind !== "device file"), []);
});

test("no target that a socket brings to node() leaves the folder", async () => {
  await withServer(plain, async (port) => {
    assertVaried(await sendAll(port, targets), { 200: 20, 301: 10, 400: 200, 404: 800 });
  });
  await assertAlive(plain, "/");
});

test("neither does one where every file is streamed", async () => {
  const some = targets.filter((_, number) => number % 4 === 0);
  await withServer(streaming, async (port) => {
    assertVaried(await sendAll(port, some), { 200: 5, 301: 2, 400: 50, 404: 100 });
  });
  await assertAlive(streaming, "/");
});

test("neither does one below a base path, with clean URLs, a fallback page and a former deploy", async () => {
  const below = targets.filter((_, number) => number % 4 === 1).map((target) => `/base${target}`);
  await withServer(generous, async (port) => {
    assertVaried(await sendAll(port, below), { 200: 20, 301: 2, 400: 20, 404: 50 });
  });
  await assertAlive(generous, "/base/");
});

test("fetch() answers every request that can be made of the targets without leaving the folder", async () => {
  for (const handler of [plain, streaming]) {
    assertVaried(await fetchAll(handler, normalised("http://site.example")), { 200: 20, 301: 10, 404: 800 });
  }
  assertVaried(await fetchAll(generous, normalised("http://site.example/base")), { 200: 20, 301: 5, 404: 100 });
  await assertAlive(plain, "/");
});

test("fetch() answers requests whose URL came as it was sent without leaving the folder", async () => {
  const counts = await fetchAll(plain, asTheyCame("http://site.example"));
  assertVaried(counts, { 200: 20, 301: 10, 400: 200, 404: 800 });
  assertVaried(await fetchAll(generous, asTheyCame("http://site.example/base")), {
    200: 20,
    301: 5,
    400: 50,
    404: 100,
  });
  await assertAlive(plain, "/");
});

test("no target that a socket brings to fetch() leaves the folder", async () => {
  const server = await serveFetch(plain.fetch);
  try {
    const some = targets.filter((_, number) => number % 2 === 1);
    assertVaried(await sendAll(server.port, some), { 200: 10, 301: 5, 404: 400 });
  } finally {
    await server.close();
  }
  await assertAlive(plain, "/");
});

test("no path that HTTP/2 brings to node() leaves the folder", async () => {
  const server = createHttp2Server();
  server.on("request", (req, res) => plain.node(req as unknown as IncomingMessage, res as unknown as ServerResponse));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const counts = new Map<number, number>();
  try {
    // Paths begin with a slash there (RFC 9113, section 8.3.1): servers close connections that bring others.
    const paths = targets.filter((target, number) => number % 2 === 0 && /^\/[!-~]{0,4000}$/.test(target));
    await forEachOf(paths, 8, async (target) => {
      const outcome = await askHttp2(session, target);
      assertHarmless(target, outcome);
      counts.set(outcome.status, (counts.get(outcome.status) ?? 0) + 1);
    });
  } finally {
    session.destroy();
    server.close();
  }
  assertVaried(counts, { 200: 10, 301: 2, 400: 20, 404: 100 });
  await assertAlive(plain, "/");
});

function askHttp2(session: ClientHttp2Session, path: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": path });
    const chunks: Uint8Array[] = [];
    let fields: [string, string][] = [];
    stream.on("response", (headers) => {
      fields = Object.entries(headers).map(([name, value]) => [name, String(value)]);
    });
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () => {
      const status = Number(fields.find(([name]) => name === ":status")?.[1]);
      resolve({ status, fields, body: Buffer.concat(chunks) });
    });
    stream.end();
  });
}

test("links that stay in the folder may be followed, and what they lead to is what they give", async () => {
  for (const path of ["/inside.html", "/inside-folder/", "/inside-absolute.html"]) {
    const response = await plain.fetch(new Request(`http://site.example${path}`));
    const text = await response.text();
    assert.ok(response.status === 404 || text.includes(PUBLIC), `${path}: ${response.status} ${text}`);
  }
});

test("a folder that is itself a link is served as the folder it leads to", { skip: needs("links") }, async () => {
  const link = join(folder, "current");
  await symlink(tree.root, link);
  const handler = await createStaticHandler(link, hidesWarnings);
  await assertAlive(handler, "/");
  const response = await handler.fetch(new Request("http://site.example/link.txt"));
  assert.equal(response.status, 404);
  await handler.close();
});
