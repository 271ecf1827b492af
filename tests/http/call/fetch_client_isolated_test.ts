import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { compress } from "../../../lib/codecs/mod.ts";
import { HttpClient } from "../../../lib/http/mod.ts";
import { serve } from "../../../lib/runtime/mod.ts";
import { ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";
import { saveBody } from "../../../lib/upload/mod.ts";
import { certificates } from "../certificates.ts";
import { startOrigin, type TestOrigin } from "../client/origins.ts";

/** A request as an origin of these tests describes it. */
interface Echo {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

// Deno's server of node:http2 may end the process when its client leaves.
const protocols = "deno" in process.versions ? ["http/1.1", "https/1.1"] as const : ["http/1.1", "h2"] as const;
const origins = new Map<string, TestOrigin>();
let client: HttpClient;
const content = Buffer.from("the mill turns ".repeat(1000));
/** The encoded responses, by path. */
const encoded: Record<string, Uint8Array> = {
  gzip: gzipSync(content),
  br: brotliCompressSync(content),
  zstd: await compress(content, { format: "zstd", level: 3 }),
  deflate: deflateRawSync(content),
};

before(async () => {
  client = new HttpClient({ tls: { ca: certificates.ca } });
  for (const protocol of protocols) origins.set(protocol, await startOrigin(answer, { protocol }));
});

after(async () => {
  client.destroy();
  for (const origin of origins.values()) await origin.stop();
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, "http://origin");
  const [, route, detail = ""] = url.pathname.split("/");
  if (route === "mirror") {
    request.pipe(response);
  } else if (route === "encoded") {
    response.setHeader("content-encoding", detail);
    response.end(encoded[detail]);
  } else if (route === "status") {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    if (url.searchParams.has("to")) response.setHeader("location", url.searchParams.get("to")!);
    response.writeHead(Number(detail));
    response.end(Number(detail) === 204 ? undefined : "the body");
  } else if (route === "large") {
    response.setHeader("content-length", Number(detail));
    pipeline(Readable.from(pieces(Number(detail))), response).catch(() => {});
  } else {
    echo(request, response).catch(() => response.destroy()); // a client that failed
  }
}

function* pieces(length: number): Generator<Uint8Array> {
  for (let at = 0; at < length; at += 65536) yield new Uint8Array(Math.min(65536, length - at)).fill(at >> 16);
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ method, path: url, headers, body: Buffer.concat(chunks).toString("latin1") }));
}

/** Declares a test for each protocol. */
function each(name: string, run: (url: string, protocol: (typeof protocols)[number]) => Promise<void>): void {
  for (const protocol of protocols) test(`${name} (${protocol})`, () => run(origins.get(protocol)!.url, protocol));
}

const ask = async (...parameters: Parameters<HttpClient["fetch"]>): Promise<Echo> =>
  await (await client.fetch(...parameters)).json();

each("method, headers and every kind of body arrive", async (url, protocol) => {
  const plain = await ask(`${url}/a?b=c#d`);
  assert.equal(plain.method, "GET");
  assert.equal(plain.path, "/a?b=c");
  assert.equal(plain.headers.accept, "*/*");
  assert.equal(plain.headers["accept-encoding"], "zstd, br, gzip");
  assert.equal(plain.headers["user-agent"], "millrace");
  assert.equal(plain.headers["content-length"], undefined);
  const named = await ask(url, { method: "PROPFIND", headers: [["X-A", " é "], ["cookie", "a=1"], ["cookie", "b=2"]] });
  assert.equal(named.method, "PROPFIND");
  assert.equal(named.headers["x-a"], "é");
  assert.equal(named.headers.cookie, "a=1; b=2");
  const { host } = new URL(url);
  const hosted = await ask(url, { headers: { host } });
  assert.equal(hosted.headers[protocol === "h2" ? ":authority" : "host"], host);
  await assert.rejects(ask(url, { headers: { host: "other.test" } }), { code: "INVALID_HEADER" });
  async function* generate(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("te");
    yield Buffer.from("xt");
  }
  const bodies = {
    text: "text",
    bytes: new TextEncoder().encode("text"),
    buffer: new TextEncoder().encode("text").buffer,
    blob: new Blob(["text"]),
    parameters: new URLSearchParams("text="),
    stream: new Blob(["text"]).stream(),
    own: OwnReadableStream.from([Buffer.from("te"), Buffer.from("xt")]),
    iterable: generate(),
    node: Readable.from([Buffer.from("text")]),
  };
  for (const [kind, body] of Object.entries(bodies)) {
    const { method, headers, body: received } = await ask(url, {
      method: "POST",
      body: body as BodyInit,
      duplex: "half",
    });
    assert.equal(method, "POST");
    assert.equal(received, kind === "parameters" ? "text=" : "text", kind);
    const isStream = ["stream", "own", "iterable", "node"].includes(kind);
    assert.equal(headers["content-length"], isStream ? undefined : String(received.length), kind);
    if (protocol !== "h2") assert.equal(headers["transfer-encoding"], isStream ? "chunked" : undefined);
  }
  const announced = { method: "PUT", body: generate(), headers: { "content-length": "4" } };
  assert.equal((await ask(url, announced)).headers["content-length"], "4");
  assert.equal((await ask(url, { method: "POST" })).headers["content-length"], "0");
});

each("a form with files arrives, with its length", async (url) => {
  const form = new FormData();
  form.append("text", "é");
  form.append("file", new File([new Uint8Array(300_000).fill(97)], "name.txt", { type: "text/plain" }));
  const { headers, body } = await ask(url, { method: "POST", body: form });
  assert.equal(headers["content-length"], String(body.length));
  const init = { headers: { "content-type": headers["content-type"] } };
  const parsed = await new Response(Buffer.from(body, "latin1"), init).formData();
  assert.equal(parsed.get("text"), "é");
  assert.equal((parsed.get("file") as File).size, 300_000);
});

each("a Request is sent with all that it says", async (url) => {
  const request = new Request(`${url}/path`, {
    method: "PUT",
    headers: { "x-a": "1" },
    body: new Blob(["text"], { type: "text/x" }),
  });
  const { method, headers, body } = await ask(request);
  assert.deepEqual([method, headers["x-a"], headers["content-type"], body], ["PUT", "1", "text/x", "text"]);
  await assert.rejects(client.fetch(request), { code: "INVALID_BODY" });
});

each("encoded bodies are decoded, and those of HEAD and 304 are not", async (url) => {
  for (const coding of Object.keys(encoded)) {
    const response = await client.fetch(`${url}/encoded/${coding}`);
    assert.equal(response.headers.get("content-encoding"), coding);
    assert.equal(await response.text(), content.toString(), coding);
    const head = await client.fetch(`${url}/encoded/${coding}`, { method: "HEAD" });
    assert.equal(head.body, null);
    assert.equal(await head.text(), "");
  }
  const plain = new HttpClient({ tls: { ca: certificates.ca }, decompress: false });
  const response = await plain.fetch(`${url}/encoded/gzip`);
  assert.deepEqual(await response.bytes(), new Uint8Array(encoded.gzip));
  const { headers } = await (await plain.fetch(url)).json();
  assert.equal(headers["accept-encoding"], undefined);
  await plain.close();
});

each("integrity is checked at the end of the decoded body", async (url) => {
  const integrity = `sha384-${createHash("sha384").update(content).digest("base64")}`;
  assert.equal(await (await client.fetch(`${url}/encoded/br`, { integrity })).text(), content.toString());
  const response = await client.fetch(`${url}/status/200`, { integrity });
  await assert.rejects(response.text(), { code: "INTEGRITY_MISMATCH" });
});

each("redirects are followed as fetch does", async (url, protocol) => {
  const other = origins.get(protocols.find((name) => name !== protocol)!)!.url;
  const headers = { cookie: "a=1", "x-a": "1" };
  const home = await client.fetch(`${url}/status/307?to=/mirror`, { method: "POST", body: "text", headers });
  assert.equal(home.url, `${url}/mirror`);
  assert.equal(home.redirected, true);
  assert.equal(await home.text(), "text");
  const away = await ask(`${url}/status/302?to=${encodeURIComponent(other)}/x`, {
    method: "POST",
    body: "text",
    headers,
  });
  assert.equal(away.method, "GET");
  assert.equal(away.body, "");
  assert.equal(away.headers.cookie, undefined);
  assert.equal(away.headers["content-type"], undefined);
  assert.equal(away.headers["x-a"], "1");
  const manual = await client.fetch(`${url}/status/301?to=/x`, { redirect: "manual" });
  assert.equal(manual.status, 301);
  assert.equal(manual.headers.get("location"), "/x");
  assert.equal(manual.redirected, false);
  assert.deepEqual(manual.headers.getSetCookie(), ["a=1", "b=2"]);
  assert.equal(await manual.text(), "the body");
  await assert.rejects(client.fetch(`${url}/status/301?to=/x`, { redirect: "error" }), { code: "REDIRECT_FAILED" });
  const streamed = { method: "PUT", body: new Blob(["text"]).stream() };
  await assert.rejects(client.fetch(`${url}/status/307?to=/x`, streamed), { code: "REDIRECT_FAILED" });
  await assert.rejects(client.fetch(`${url}/status/302?to=ftp://x/`), { code: "REDIRECT_FAILED" });
});

each("statuses without a body have none", async (url) => {
  for (const status of [204, 205, 304]) {
    const response = await client.fetch(`${url}/status/${status}`);
    assert.equal(response.status, status);
    assert.equal(response.body, null);
    assert.equal(await response.text(), "");
  }
});

each("a response is cloned, and read as a stream and in views", async (url) => {
  const response = await client.fetch(`${url}/large/1000000`);
  const copy = response.clone();
  const expected = Buffer.concat([...pieces(1_000_000)]);
  const [first, second] = await Promise.all([response.bytes(), new Response(copy.body).arrayBuffer()]);
  assert.ok(expected.equals(first));
  assert.ok(expected.equals(Buffer.from(second)));
  const { body } = await client.fetch(`${url}/large/300000`);
  const reader = body!.getReader({ mode: "byob" });
  let length = 0;
  for (let view = new Uint8Array(7000);;) {
    const { done, value } = await reader.read(view);
    if (done) break;
    length += value.length;
    view = new Uint8Array(value.buffer);
  }
  assert.equal(length, 300_000);
});

each("`decompress` of a request rules over the client's, so that a proxy passes bodies on as they are", async (url) => {
  const other = new HttpClient({ tls: { ca: certificates.ca }, decompress: false });
  for (const coding of Object.keys(encoded)) {
    const headers = { "accept-encoding": coding };
    const raw = await client.fetch(`${url}/encoded/${coding}`, { decompress: false, headers });
    assert.equal(raw.headers.get("content-encoding"), coding);
    assert.ok(Buffer.from(encoded[coding]).equals(await raw.bytes()));
    const passedOn = (await client.fetch(`${url}/encoded/${coding}`, { decompress: false })).clone();
    assert.ok(Buffer.from(encoded[coding]).equals(await passedOn.bytes()));
    const read = await other.fetch(`${url}/encoded/${coding}`, { decompress: true });
    assert.ok(content.equals(await read.bytes()));
    assert.ok(content.equals(await (await client.fetch(`${url}/encoded/${coding}`)).bytes()));
  }
  assert.equal((await ask(url, { decompress: false })).headers["accept-encoding"], undefined);
  const asked: Echo = await (await other.fetch(url, { decompress: true })).json();
  assert.equal(asked.headers["accept-encoding"], "zstd, br, gzip");
  await assert.rejects(client.fetch(url, { decompress: 1 as unknown as boolean }), { code: "INVALID_OPTION" });
  other.destroy();
});

each("a body that is given up frees its connection or stream", async (url) => {
  for (let at = 0; at < 5; at++) {
    const { body } = await client.fetch(`${url}/large/50000000`);
    const reader = body!.getReader();
    await reader.read();
    await reader.cancel("enough");
  }
  assert.equal(client.stats().active, 0);
  assert.equal(await (await client.fetch(`${url}/status/200`)).text(), "the body");
});

each("a signal ends the body with its reason", async (url) => {
  const controller = new AbortController();
  const response = await client.fetch(`${url}/large/50000000`, { signal: controller.signal });
  const reader = response.body!.getReader();
  await reader.read();
  const reason = new RangeError("enough");
  controller.abort(reason);
  await assert.rejects(
    (async () => {
      while (!(await reader.read()).done);
    })(),
    reason,
  );
  await assert.rejects(client.fetch(url, { signal: controller.signal }), reason);
  // The server answers when the body has ended, and that never does.
  const unanswered = { method: "POST", body: new ReadableStream(), signal: AbortSignal.timeout(1) };
  await assert.rejects(client.fetch(url, unanswered), { name: "TimeoutError" });
});

each("the response comes while the request's body still goes on", async (url, protocol) => {
  let push: ReadableStreamDefaultController<Uint8Array> = undefined as never;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (push = controller) });
  push.enqueue(Buffer.from("one"));
  const response = await client.fetch(`${url}/mirror`, { method: "POST", body, duplex: "full" });
  const reader = response.body!.getReader();
  assert.equal(Buffer.from((await reader.read()).value!).toString(), "one", protocol);
  push.enqueue(Buffer.from("two"));
  assert.equal(Buffer.from((await reader.read()).value!).toString(), "two");
  push.close();
  assert.equal((await reader.read()).done, true);
});

each("a request's body that fails, or is no bytes, fails the fetch", async (url) => {
  const reason = new RangeError("disk full");
  const failing = new ReadableStream({ pull: () => Promise.reject(reason) });
  await assert.rejects(client.fetch(url, { method: "POST", body: failing }), { code: "BODY_FAILED", cause: reason });
  const text = OwnReadableStream.from(["text"]) as unknown as ReadableStream<Uint8Array>;
  await assert.rejects(client.fetch(url, { method: "POST", body: text }), { code: "BODY_FAILED" });
  const short = { method: "POST", body: new Blob(["text"]).stream(), headers: { "content-length": "5" } };
  await assert.rejects(client.fetch(url, short), { code: "BODY_FAILED" });
  assert.equal(await (await client.fetch(`${url}/status/200`)).text(), "the body");
});

each("saveBody() stores what was fetched", async (url) => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-"));
  try {
    const path = join(folder, "file");
    await saveBody(await client.fetch(`${url}/large/3000000`), path);
    assert.ok((await readFile(path)).equals(Buffer.concat([...pieces(3_000_000)])));
    await saveBody(await client.fetch(`${url}/encoded/zstd`), join(folder, "other"));
    assert.ok((await readFile(join(folder, "other"))).equals(content));
  } finally {
    await rm(folder, { recursive: true });
  }
});

each("what is odd is refused before anything is sent", async (url) => {
  const { requests } = client.stats();
  const cases: [Parameters<HttpClient["fetch"]>, string][] = [
    [["not a url"], "INVALID_URL"],
    [[`${url}/`, { method: "TRACE" }], "INVALID_METHOD"],
    [[`${url}/`, { headers: { "a b": "c" } }], "INVALID_HEADER"],
    [[`${url}/`, { body: "x" }], "INVALID_BODY"],
    [[`${url}/`, { duplex: "double" as "half" }], "INVALID_OPTION"],
    [[undefined as unknown as string], "INVALID_URL"],
    [[null as unknown as string], "INVALID_URL"],
    [[{} as unknown as string], "INVALID_URL"],
    [[Symbol("x") as unknown as string], "INVALID_URL"],
  ];
  for (const [parameters, code] of cases) {
    // A promise that rejects, never a throw.
    await assert.rejects(
      client.fetch(...parameters),
      (error) => error instanceof TypeError && "code" in error && error.code === code,
    );
  }
  assert.equal(client.stats().requests, requests);
});

test("a server of the runtime is a proxy in two lines", {
  skip: !("bun" in process.versions) && !("deno" in process.versions) && "Node's server takes no Response",
}, async () => {
  for (const { url } of origins.values()) {
    const proxy = await serve({
      hostname: "127.0.0.1",
      port: 0,
      node: () => {},
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        return client.fetch(new Request(`${url}${pathname}${search}`, request), { redirect: "manual" });
      },
    });
    try {
      const get = (path: string, init?: RequestInit) => client.fetch(proxy.url + path, init);
      assert.equal(await (await get("encoded/gzip")).text(), content.toString());
      assert.equal(await (await get("mirror", { method: "POST", body: content })).text(), content.toString());
      assert.equal((await (await get("large/3000000")).bytes()).length, 3_000_000);
      const redirect = await get("status/302?to=/x", { redirect: "manual" });
      assert.equal(redirect.status, 302);
      assert.equal(redirect.headers.get("location"), "/x");
      assert.deepEqual(redirect.headers.getSetCookie(), ["a=1", "b=2"]);
      assert.equal((await get("status/204")).status, 204);
    } finally {
      await proxy.stop(100);
    }
  }
});
