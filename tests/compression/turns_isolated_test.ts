/**
 * In one turn of the event loop all codecs together compute for 10 ms and a step, whatever drives them: by a clock that
 * each look moves on by 1 ms.
 *
 * @module
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test, { after, before, mock } from "node:test";
import { compress, CompressionStream, compressSync, DecompressionStream, ready } from "../../lib/codecs/mod.ts";
import { CompressionStream as GzipStream } from "../../lib/codecs/gzip.ts";
import { createCompression } from "../../lib/compression/mod.ts";
import { decodedBody } from "../../lib/http/response/decoded_body.ts";
import { createResponse } from "../../lib/http/response/http_response.ts";
import { ResponseBody } from "../../lib/http/response/response_body.ts";
import { decodedBody as decodedUpload } from "../../lib/upload/body/decoded_body.ts";
import { concatenated } from "../support/bytes.ts";
import { bodyOf, readAll } from "../upload/manual_body.ts";
import { asking, textOf } from "./responses.ts";
import { closeAll, get, protocols, textOfGot } from "./served.ts";

/** The number of streams of a kind at once, and that of the chunks of each, which are less than a step takes. */
const MANY = 10;
const CHUNKS = 30;
const CHUNK = 20_000;
/** Every unit has 1 to 4 bytes, and pieces are cut anywhere. */
const text = (textOf(997) + "räder 水車 🎡").repeat(CHUNKS * CHUNK / 1000);
const bytes = new TextEncoder().encode(text);
const compression = createCompression();
let packed: Uint8Array<ArrayBuffer>;
/** Members without content. */
let nothing: Uint8Array<ArrayBuffer>;

before(async () => {
  await Promise.all([ready(), compression.ready()]);
  packed = compressSync(bytes, { format: "gzip", level: 1 });
  const member = compressSync(new Uint8Array(0), { format: "gzip" });
  nothing = concatenated(new Array(20_000).fill(member));
});
after(closeAll);

function chunked<T extends Uint8Array | string>(all: T, size = CHUNK): ReadableStream<T> {
  let at = 0;
  return new ReadableStream({
    pull(controller): void {
      if (at < all.length) controller.enqueue(all.slice(at, at += size) as T);
      else controller.close();
    },
  }, { highWaterMark: 0 });
}

const html = { headers: { "content-type": "text/html" } };

async function drained(stream: unknown): Promise<void> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  while (!(await reader.read()).done);
}

/** Each kind of encoding and decoding, once; the tests run several at a time. */
const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
  "a CompressionStream": () =>
    drained(chunked(bytes).pipeThrough(new CompressionStream("gzip", { level: 1 }) as never)),
  "a CompressionStream of an entry": () => drained(chunked(bytes).pipeThrough(new GzipStream() as never)),
  "a DecompressionStream": () => drained(chunked(packed, 500).pipeThrough(new DecompressionStream("gzip") as never)),
  "compress()": () => compress(bytes, { format: "brotli", level: 2 }),
  "respond() with chunks": () => drained(compression.respond(asking("br"), new Response(chunked(bytes), html)).body),
  "respond() with texts": () =>
    drained(compression.respond(asking("zstd"), new Response(chunked(text) as unknown as BodyInit, html)).body),
  "fetch() with a text": async () =>
    drained((await compression.fetch(() => new Response(text, html))(asking("gzip"))).body),
  "an upload": () => readAll(decodedUpload(bodyOf([packed]), "gzip", Infinity)),
  "an upload of nothing": () => readAll(decodedUpload(bodyOf([nothing]), "gzip", Infinity)),
  "a response of the client": async () => {
    const body = new ResponseBody({ consumed() {}, cancel() {} });
    const url = { url: "http://a/", redirected: false };
    const response = createResponse(
      { status: 200, statusText: "", headers: [] },
      decodedBody(body, "gzip", "http://a"),
      url,
    );
    body.push(packed);
    body.end();
    await response.bytes();
  },
};

/** Returns the longest time that passed in a turn of the event loop, until all of `work` was done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = mock.method(performance, "now", () => now += 1);
  let [longest, last, isOver] = [0, 0, false];
  const turn = (): void => {
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    isOver = true;
    clock.mock.restore();
  }
  assert.ok(now > 50, `it is not timed: ${now} ms`);
  return longest;
}

for (const [name, run] of Object.entries(kinds)) {
  test(`many at once of ${name} leave the event loop to others after 10 ms`, async () => {
    await run();
    const longest = await longestTurn(() => Promise.all(Array.from({ length: MANY }, run)));
    assert.ok(longest < 40, `${longest} ms`);
  });
}

test("node() leaves the event loop to others after 10 ms, and sends all of a text, in one write and in many", async () => {
  const served = await protocols["http/1.1"]((req, res) => {
    compression.node(req, res);
    res.setHeader("content-type", "text/html");
    if (req.url === "/end") return void res.end(text);
    if (req.url === "/bytes") return void res.end(Buffer.from(bytes));
    for (let at = 0; at < text.length; at += 50_001) res.write(text.slice(at, at + 50_001), "utf8");
    res.end();
  });
  for (const path of ["/end", "/bytes", "/writes"]) {
    for (const accepted of path === "/bytes" ? ["zstd", "br", "gzip"] : ["zstd"]) {
      const longest = await longestTurn(async () => {
        const all = await Promise.all(Array.from({ length: MANY }, () => get(served, { path, accepted })));
        for (const got of all) assert.equal(await textOfGot(got), path === "/writes" ? cutText : text);
      });
      assert.ok(longest < 60, `${path}, ${accepted}: ${longest} ms`);
    }
  }
});

/** A text that was cut within a pair of surrogates has other characters there. */
const cutText = text.match(/[^]{1,50001}/g)!.map((part) => Buffer.from(part).toString()).join("");
