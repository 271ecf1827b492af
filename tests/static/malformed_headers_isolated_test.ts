import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import fc from "fast-check";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { assertConsistent, type GivenAnswer } from "./consistent_answer.ts";
import { countedSteps } from "./counted_steps.ts";
import { type KnownSite, makeKnownSite } from "./known_site.ts";
import { serveFetch } from "./fetch_server.ts";
import { type OddRequest, oddRequest } from "./odd_fields.ts";
import { exchange, requestBytes } from "../support/raw_exchange.ts";
import { isLong, tries } from "../support/long_run.ts";

const MEGABYTE = 1_000_000;
/** A parser that goes over a field once looks at each character a few times. */
const STEPS_A_CHARACTER = 40;

let folder = "";
let site: KnownSite;
let handler: StaticHandler;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-headers-"));
  site = await makeKnownSite(folder);
  handler = await createStaticHandler(site.directory);
});

after(async () => {
  await handler?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the response of `fetch()`; undefined if `Headers` refuses the fields. */
async function fetched({ method, path, fields }: OddRequest): Promise<GivenAnswer | undefined> {
  const headers = new Headers();
  try {
    for (const [name, value] of fields) headers.append(name, value);
  } catch {
    return undefined;
  }
  const response = await handler.fetch(new Request(`http://site.example${path}`, { method, headers }));
  return {
    status: response.status,
    field: (name) => response.headers.get(name) ?? undefined,
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

/** Returns the response of a server; undefined if it refuses the request with 400. */
async function sent(port: number, { method, path, fields }: OddRequest): Promise<GivenAnswer | undefined> {
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  const answer = await exchange(port, requestBytes(method, path, lines), method);
  assert.ok(answer, "no answer at all");
  if (answer.status === 400) return undefined;
  const answered = new Map(answer.fields);
  // Bun's server says the length of no stream, whatever the response's fields are: its chunks do.
  if (answered.get("transfer-encoding") === "chunked") answered.set("content-length", String(answer.body.length));
  return { status: answer.status, field: (name) => answered.get(name), body: answer.body };
}

/** The number of answers of each status, deltas apart. */
type Counts = Map<number | "delta", number>;

/** Sends many random requests, and requires consistent responses. */
async function askAll(
  runs: number,
  ask: (request: OddRequest) => Promise<GivenAnswer | undefined>,
): Promise<Counts> {
  const counts: Counts = new Map();
  const property = fc.asyncProperty(oddRequest(site), async (request) => {
    const answer = await ask(request);
    const kind = answer?.field("content-encoding")?.startsWith("dc") ? "delta" : answer?.status ?? 400;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (answer) assertConsistent(site.files.get(request.path)!, request.method, answer);
  });
  await fc.assert(property, { numRuns: runs });
  return counts;
}

function assertVaried(counts: Counts): void {
  const seen = JSON.stringify(Object.fromEntries(counts));
  for (const kind of [200, 206, 304, 412, "delta"] as const) {
    assert.ok(counts.has(kind), `never answered ${kind}: ${seen}`);
  }
  assert.ok((counts.get(400) ?? 0) < (counts.get(200) ?? 0), `mostly refused: ${seen}`);
}

async function withServer(visit: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(handler.node);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    await visit((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("fetch() answers whatever the fields say with what its own fields say", async () => {
  assertVaried(await askAll(isLong ? 1_500 : 600, fetched));
});

test("node() answers whatever the fields say with what its own fields say", async () => {
  await withServer(async (port) => assertVaried(await askAll(isLong ? 800 : 600, (request) => sent(port, request))));
});

test("a server for fetch() answers whatever the fields say with what its own fields say", async () => {
  const server = await serveFetch(handler.fetch);
  try {
    assertVaried(await askAll(600, (request) => sent(server.port, request)));
  } finally {
    await server.close();
  }
});

test("HEAD is answered with the fields of GET, whatever else is asked", async () => {
  const property = fc.asyncProperty(oddRequest(site), async (request) => {
    const fields = request.fields.filter(([name]) => !/^(?:Range|Available-Dictionary)$/.test(name));
    const get = await fetched({ ...request, fields, method: "GET" });
    const head = await fetched({ ...request, fields, method: "HEAD" });
    assert.equal(head?.status, get?.status);
    for (const name of ["content-length", "content-encoding", "content-type", "etag", "last-modified", "vary"]) {
      assert.equal(head?.field(name), get?.field(name), name);
    }
  });
  await fc.assert(property, { numRuns: tries(300) });
});

/** A megabyte of what a careless parser would go over again and again. */
const megabytes: Readonly<Record<string, readonly string[]>> = {
  "accept-encoding": [
    filled("", "a,", ""),
    filled("", ",", "br"),
    filled("", "br;q=0.", ""),
    filled("br;q=1", ";", ""),
    filled("gzip", " ", ";q=1"),
    filled("a", " ,\t", "x"),
    filled('a;x="', '\\"', ""),
    filled("", "gzip;q=0.5, ", "br"),
    filled("br;q=0.", "0", ""),
    filled("", "x", ""),
  ],
  "if-none-match": [
    filled("", 'W/"a", ', ""),
    filled('"', "a", ""),
    filled("", '"a" ', ""),
    filled("", '"', ""),
    filled("", ",", '"a"'),
    filled("x", " ", "x"),
    filled("", "W/", ""),
    filled("", "*,", ""),
    filled("", 'W/"', ""),
  ],
  "if-match": [filled("", 'W/"a", ', ""), filled("", '"a" ', ""), filled("", '"', "x"), filled("", "W/", "")],
  "range": [
    filled("bytes=", "0-0,", "1-1"),
    filled("bytes=", "1", "-"),
    filled("bytes=0-", "9", ""),
    filled("bytes=", ",", "0-0"),
    filled("bytes=0-0", " ", ",1-1"),
    filled("bytes=", "-", ""),
    filled("bytes=", "0-,", ""),
    filled("", "bytes=", ""),
    filled("", "x", "=0-0"),
  ],
  "if-range": [filled('"', "a", ""), filled("W/", " ", "x"), filled("Sun, ", " ", "06 Nov 1994 08:49:37 GMT")],
  "if-modified-since": [filled("Sun, 06 Nov 1994 08:49:37", " ", "GMT"), filled("", "0", ""), filled("", "Sun, ", "")],
  "if-unmodified-since": [
    filled("Sunday, ", "0", "6-Nov-94 08:49:37 GMT"),
    filled("", ":", ""),
    filled("Sun Nov", " ", "6"),
  ],
  "available-dictionary": [
    filled(":", "A", ":"),
    filled(":", "=", ":"),
    filled("", ":", ""),
    filled(":AAAA:", ";a", ""),
    filled(":AAAA:", " ", ";a"),
    filled(':AAAA:;a="', "\\\\", '"'),
  ],
  "sec-fetch-mode": [filled("", "cors", ""), filled("cors", " ", "x")],
};

function filled(start: string, piece: string, end: string): string {
  return start + piece.repeat(Math.floor((MEGABYTE - start.length - end.length) / piece.length)) + end;
}

for (const [name, values] of Object.entries(megabytes)) {
  test(`a megabyte of ${name} is gone over a few times, not once for each of its characters`, async () => {
    for (const value of values) {
      const companions: Record<string, string> = { "accept-encoding": "br, dcb, gzip", "sec-fetch-mode": "cors" };
      if (name === "if-range") companions.range = "bytes=0-5";
      const headers = new Headers({ ...companions, [name]: value });
      const request = new Request("http://site.example/assets/app.4f3a9c1e.js", { headers });
      let response: Response | undefined;
      const steps = await countedSteps(async () => {
        response = await handler.fetch(request);
      });
      const shown = `${name}: ${value.slice(0, 30)}...${value.slice(-10)}`;
      assert.ok(steps <= STEPS_A_CHARACTER * MEGABYTE, `${shown} took ${steps} steps`);
      assert.ok(response!.status < 500, shown);
      const body = new Uint8Array(await response!.arrayBuffer());
      const field = (of: string): string | undefined => response!.headers.get(of) ?? undefined;
      assertConsistent(site.files.get("/assets/app.4f3a9c1e.js")!, "GET", { status: response!.status, field, body });
    }
  });
}
