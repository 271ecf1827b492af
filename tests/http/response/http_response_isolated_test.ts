import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { get, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { inspect } from "node:util";
import { createResponse } from "../../../lib/http/response/http_response.ts";
import { decodedBody } from "../../../lib/http/response/decoded_body.ts";
import { ResponseBody } from "../../../lib/http/response/response_body.ts";
import { serve } from "../../../lib/runtime/mod.ts";
import { fromNative, ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";
import { CompressionStream as OwnCompressionStream } from "../../../lib/codecs/mod.ts";
import { saveBody } from "../../../lib/upload/mod.ts";
import { collectGarbage } from "../../support/garbage.ts";

const isBun = "bun" in process.versions;
const isDeno = "deno" in process.versions;
const turn = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A response, its body, and the calls of the exchange. */
class Probe {
  readonly body: ResponseBody = new ResponseBody(this);
  consumedBytes = 0;
  readonly cancelled: unknown[] = [];

  consumed(bytes: number): void {
    this.consumedBytes += bytes;
  }

  cancel(reason: unknown): void {
    this.cancelled.push(reason);
  }

  response(status = 200, headers: string[] = ["content-type", "text/plain"]): Response {
    return createResponse({ status, statusText: "Fine", headers }, this.body, {
      url: "http://a/b?c",
      redirected: true,
    });
  }
}

/** Returns a response with a text that has arrived. */
function arrived(text: string, status?: number, headers?: string[]): Response {
  const probe = new Probe();
  probe.body.push(Buffer.from(text));
  probe.body.end();
  return probe.response(status, headers);
}

test("a response is a Response, with the members that fetch knows", () => {
  const response = arrived("text", 404);
  assert.ok(response instanceof Response);
  assert.equal(Object.prototype.toString.call(response), "[object Response]");
  assert.equal(response.constructor, Response);
  assert.equal(response.status, 404);
  assert.equal(response.statusText, "Fine");
  assert.equal(response.ok, false);
  assert.equal(arrived("", 200).ok, true);
  assert.equal(arrived("", 299).ok, true);
  assert.equal(arrived("", 300).ok, false);
  assert.equal(response.url, "http://a/b?c");
  assert.equal(response.redirected, true);
  assert.equal(response.type, "basic");
  assert.equal(response.headers, response.headers);
  assert.equal(response.body, response.body);
});

test("every member that the runtime's Response has is ours", () => {
  const response = arrived("text");
  const own = Object.getPrototypeOf(response) as object;
  const native = Object.getOwnPropertyNames(Response.prototype);
  assert.deepEqual(native.filter((name) => !Object.hasOwn(own, name)), []);
});

test("headers are Headers, which keep cookies apart and cannot be changed", () => {
  const list = ["set-cookie", "a=1", "x", "1", "set-cookie", "b=2", "x", "é\u00ff"];
  const { headers } = arrived("", 200, list);
  assert.ok(headers instanceof Headers);
  assert.equal(headers.get("X"), "1, é\u00ff");
  assert.deepEqual(headers.getSetCookie(), ["a=1", "b=2"]);
  assert.deepEqual([...headers].sort(), [["set-cookie", "a=1"], ["set-cookie", "b=2"], ["x", "1, é\u00ff"]]);
  for (const change of ["append", "set", "delete"] as const) {
    assert.throws(() => headers[change]("x", "2"), { name: "TypeError", message: /new Headers\(headers\)/ });
  }
  const copy = new Headers(headers);
  copy.set("x", "2");
  copy.append("set-cookie", "c=3");
  assert.equal(copy.get("x"), "2");
  assert.deepEqual(copy.getSetCookie(), ["a=1", "b=2", "c=3"]);
});

test("bodyUsed and locked follow how the body is read", async () => {
  const read = arrived("text");
  assert.equal(read.bodyUsed, false);
  const text = read.text();
  assert.equal(read.bodyUsed, true);
  assert.equal(await text, "text");
  assert.equal(read.body!.locked, true);
  await assert.rejects(read.text(), TypeError);
  await assert.rejects(read.json(), TypeError);
  assert.throws(() => read.clone(), TypeError);
  assert.throws(() => (read as unknown as { textStream(): void }).textStream(), TypeError);

  const streamed = arrived("text");
  const stream = streamed.body!;
  assert.equal(streamed.bodyUsed, false);
  const reader = stream.getReader();
  assert.equal(streamed.bodyUsed, false);
  await assert.rejects(streamed.text(), TypeError);
  const reading = reader.read();
  assert.equal(streamed.bodyUsed, true);
  await reading;
  reader.releaseLock();
  await assert.rejects(streamed.text(), TypeError);

  const cancelled = arrived("text");
  await cancelled.body!.cancel();
  assert.equal(cancelled.bodyUsed, true);
});

test("a body can be read as a whole when its stream was only looked at", async () => {
  for (const isComplete of [true, false]) {
    const probe = new Probe();
    probe.body.push(Buffer.from("te"));
    if (isComplete) probe.body.end();
    const response = probe.response();
    const { body } = response;
    body!.getReader().releaseLock();
    const text = response.text();
    assert.equal(body!.locked, true);
    probe.body.push(Buffer.from("xt"));
    probe.body.end();
    assert.equal(await text, isComplete ? "te" : "text");
  }
});

test("without a body there is null, and empty content", async () => {
  const head = { status: 204, statusText: "", headers: ["content-type", "text/x"] };
  const make = (): Response => createResponse(head, undefined, { url: "http://a/", redirected: false });
  const response = make();
  assert.equal(response.body, null);
  assert.equal(await response.text(), "");
  assert.equal(await response.text(), "");
  assert.equal(response.bodyUsed, false);
  assert.deepEqual(await response.bytes(), new Uint8Array());
  assert.equal((await response.arrayBuffer()).byteLength, 0);
  assert.equal((await response.blob()).type, "text/x");
  await assert.rejects(response.json(), SyntaxError);
  await assert.rejects(response.formData(), TypeError);
  assert.equal(await response.clone().text(), "");
  assert.equal(response.clone().body, null);
});

test("clone() gives a second response, before and after the body has arrived", async () => {
  for (const isComplete of [true, false]) {
    const probe = new Probe();
    probe.body.push(Buffer.from("te"));
    if (isComplete) probe.body.end();
    const response = probe.response();
    const before = response.body;
    const copy = response.clone();
    assert.notEqual(response.body, before);
    assert.equal(before!.locked, true);
    assert.ok(copy instanceof Response);
    assert.equal(copy.status, 200);
    assert.equal(copy.headers.get("content-type"), "text/plain");
    const texts = Promise.all([response.text(), copy.clone().text(), copy.text()].map((text) => text.catch(String)));
    probe.body.push(Buffer.from("xt"));
    probe.body.end();
    const expected = isComplete ? "te" : "text";
    assert.deepEqual(await texts, [expected, expected, expected]);
    assert.deepEqual(probe.cancelled, []);
  }
});

test("a clone that is not read holds nobody up, and the exchange is cancelled when both are", async () => {
  const probe = new Probe();
  const response = probe.response();
  const copy = response.clone();
  const reader = response.body!.getReader();
  for (let at = 0; at < 10; at++) {
    probe.body.push(new Uint8Array(1000).fill(at));
    assert.equal((await reader.read()).value!.length, 1000);
  }
  await reader.cancel("first");
  assert.deepEqual(probe.cancelled, []);
  const other = copy.body!.getReader();
  let length = 0;
  while (length < 10_000) length += (await other.read()).value!.length;
  assert.equal(length, 10_000);
  await other.cancel("second");
  assert.deepEqual(probe.cancelled, ["second"]);
});

test("clones of a body that fails both fail", async () => {
  const probe = new Probe();
  const response = probe.response();
  const copy = response.clone();
  const reason = new Error("lost");
  const text = response.text();
  probe.body.fail(reason);
  await assert.rejects(text, reason);
  await assert.rejects(copy.text(), reason);
});

test("textStream() gives the text in pieces", async () => {
  const probe = new Probe();
  probe.body.push(new Uint8Array([0x61, 0xc3]));
  const response = probe.response() as Response & { textStream(): ReadableStream<string> };
  const pieces = Array.fromAsync(response.textStream());
  await turn();
  probe.body.push(new Uint8Array([0xa9]));
  probe.body.end();
  assert.equal((await pieces).join(""), "aé");
});

test("a new Response can be made of it, and it goes through native and own streams", async () => {
  const response = arrived("text", 201, ["x", "1"]);
  const copy = new Response(response.body, response);
  assert.equal(copy.status, 201);
  assert.equal(copy.statusText, "Fine");
  assert.equal(copy.headers.get("x"), "1");
  assert.equal(await copy.text(), "text");
  assert.equal(await new Response(arrived("text").body).text(), "text");
  const zipped = arrived("text").body!.pipeThrough(new CompressionStream("gzip"));
  assert.equal(await new Response(zipped.pipeThrough(new DecompressionStream("gzip"))).text(), "text");
  const native = fromNative(arrived("text").body!.pipeThrough(new OwnCompressionStream("zstd")));
  assert.ok((await Array.fromAsync(native)).length > 0);
  const request = new Request(
    "http://a/",
    { method: "POST", body: arrived("text").body, duplex: "half" } as RequestInit,
  );
  assert.equal(await request.text(), "text");
  const [first, second] = arrived("text").body!.tee();
  assert.deepEqual(await Promise.all([new Response(first).text(), new Response(second).text()]), ["text", "text"]);
});

test("saveBody() stores a response, and its stream", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-"));
  try {
    for (const sourceOf of [(response: Response) => response, (response: Response) => response.body!]) {
      const path = join(folder, "file");
      const content = "some text ".repeat(10_000);
      const { bytes } = await saveBody(sourceOf(arrived(content)), path);
      assert.equal(bytes, content.length);
      assert.equal(await readFile(path, "utf8"), content);
      await rm(path);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("console.log() shows what fetch's responses show, and does not touch the body", async () => {
  const response = arrived("text", 404);
  const shown = inspect(response);
  for (
    const part of [
      /^Response \{/,
      /status: 404/,
      /statusText: ["']Fine["']/,
      /content-type/,
      /bodyUsed: false/,
      /http:\/\/a\/b\?c/,
    ]
  ) {
    assert.match(shown, part);
  }
  assert.equal(await response.text(), "text");
  const { Deno: deno } = globalThis as { Deno?: { inspect(value: unknown): string } };
  if (deno) assert.match(deno.inspect(arrived("")), /^Response \{[^]*status: 200/);
});

// The handling of our responses by the runtime's servers.

/** Serves what `make` gives, on the runtime's own server, as `lib/runtime` does. */
async function serving(make: () => Response, use: (url: string) => Promise<void>): Promise<void> {
  const server = await serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: make,
    node: (_: IncomingMessage, answer: ServerResponse) => {
      const response = make();
      answer.writeHead(response.status, response.statusText, [...response.headers].flat());
      if (response.body === null) answer.end();
      else pipeline(Readable.fromWeb(response.body as never), answer).catch(() => {});
    },
  });
  try {
    await use(server.url);
  } finally {
    await server.stop(100);
  }
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

function ask(url: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on(
        "end",
        () => resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    request.on("error", reject);
  });
}

test("the runtime's server sends a response on: all arrived, on its way, and without a body", async () => {
  const headers = ["x-a", "1", "set-cookie", "a=1", "set-cookie", "b=2", "content-type", "text/x"];
  const content = createHash("sha512").update("x").digest("hex").repeat(10_000);
  const cases: (() => Response)[] = [
    () => arrived(content, 201, headers),
    () => {
      const probe = new Probe();
      const response = probe.response(201, headers);
      let sent = 0;
      const timer = setInterval(() => {
        probe.body.push(Buffer.from(content.slice(sent, sent += 400_000)));
        if (sent < content.length) return;
        probe.body.end();
        clearInterval(timer);
      }, 2);
      return response;
    },
    () => arrived(content, 201, headers).clone(),
    () => {
      const response = arrived(content, 201, headers);
      response.clone();
      return response;
    },
    () => {
      const response = arrived(content, 201, headers);
      response.body!.getReader().releaseLock();
      return response;
    },
  ];
  let at = 0;
  await serving(() => cases[at](), async (url) => {
    for (at = 0; at < cases.length; at++) {
      const answer = await ask(url);
      assert.equal(answer.status, 201, `case ${at}`);
      assert.equal(answer.headers["x-a"], "1");
      assert.equal(answer.headers["content-type"], "text/x");
      assert.deepEqual(answer.headers["set-cookie"], ["a=1", "b=2"]);
      assert.ok(answer.body.equals(Buffer.from(content)), `case ${at}`);
    }
  });
  const none = (): Response =>
    createResponse({ status: 204, statusText: "", headers: ["x-a", "1"] }, undefined, {
      url: "http://a/",
      redirected: false,
    });
  await serving(none, async (url) => {
    const answer = await ask(url);
    assert.equal(answer.status, 204);
    assert.equal(answer.headers["x-a"], "1");
    assert.equal(answer.body.length, 0);
  });
});

test("what was decoded is sent on without the fields of its coding, and the connection's stay behind", {
  skip: !isBun && !isDeno && "Node's server takes no Response",
}, async () => {
  const { gzipSync } = await import("node:zlib");
  const zipped = gzipSync("text ".repeat(100));
  const headers = [
    "content-encoding",
    "gzip",
    "content-length",
    String(zipped.length),
    "transfer-encoding",
    "chunked",
    "x-a",
    "1",
  ];
  const make = (): Response => {
    const probe = new Probe();
    probe.body.push(zipped);
    probe.body.end();
    const response = createResponse(
      { status: 200, statusText: "", headers },
      decodedBody(probe.body, "gzip", "http://a"),
      { url: "http://a/", redirected: false },
    );
    assert.equal(response.headers.get("content-encoding"), "gzip");
    return response;
  };
  await serving(make, async (url) => {
    const answer = await ask(url);
    assert.equal(answer.headers["content-encoding"], undefined);
    assert.equal(answer.headers["x-a"], "1");
    assert.equal(answer.body.toString(), "text ".repeat(100));
  });
});

test("a server's client that leaves cancels the exchange, and one that is slow holds it up", async () => {
  const probe = new Probe();
  let pushed = 0;
  const fill = (): void => {
    while (pushed - probe.consumedBytes < 1_000_000) {
      probe.body.push(new Uint8Array(100_000));
      pushed += 100_000;
    }
  };
  const timer = setInterval(fill, 1);
  try {
    await serving(() => probe.response(200), async (url) => {
      const socket = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url, { agent: false }, resolve).on("error", reject);
      });
      socket.on("error", () => {});
      socket.pause();
      await turn(500);
      const consumed = probe.consumedBytes;
      assert.ok(consumed < 40_000_000, `${consumed} bytes were taken for a client that reads nothing`);
      socket.destroy();
      for (let tries = 0; probe.cancelled.length === 0 && tries < 200; tries++) await turn(10);
      assert.equal(probe.cancelled.length, 1);
    });
  } finally {
    clearInterval(timer);
  }
});

test(
  "a response that was read is not sent",
  { skip: !isBun && !isDeno && "Node's server takes no Response" },
  async () => {
    const make = (): Response => {
      const response = arrived("text");
      void response.text();
      return response;
    };
    await serving(make, async (url) => {
      const answer = await ask(url).catch(() => undefined);
      assert.notEqual(answer?.body.toString(), "text");
    });
  },
);

// Unread responses.

async function collected(probe: Probe): Promise<boolean> {
  for (let tries = 0; tries < 80 && probe.cancelled.length === 0; tries++) {
    // Some of what conservative collectors find on the stack is only overwritten by other calls.
    JSON.stringify(Array.from({ length: 1000 }, (_, at) => ({ at })));
    collectGarbage!();
    await turn(50);
  }
  return probe.cancelled.length > 0;
}

/** Uses a response in a separate call, so that the stack keeps no reference. */
function drop(probe: Probe, use: (response: Response) => void): void {
  use(probe.response());
}

test("dropped responses whose body is on its way are cancelled, and those that are read are not", {
  skip: collectGarbage === undefined && "garbage cannot be collected by hand here",
}, async () => {
  const dropped = Array.from({ length: 20 }, () => new Probe());
  for (const probe of dropped) drop(probe, () => {});
  const looked = Array.from({ length: 20 }, () => new Probe());
  for (const probe of looked) drop(probe, ({ body }) => void body!.getReader());
  const cloned = Array.from({ length: 20 }, () => new Probe());
  for (const probe of cloned) drop(probe, (response) => void response.clone());
  const reading = new Probe();
  let text: Promise<string> = undefined as never;
  drop(reading, (response) => text = response.text());
  const held = new Probe();
  let reader: ReadableStreamDefaultReader<Uint8Array> = undefined as never;
  drop(held, (response) => reader = response.body!.getReader());
  const ended = new Probe();
  ended.body.end();
  drop(ended, () => {});
  // Not each: a collector may hold one or the other for longer.
  for (const probes of [dropped, looked, cloned]) {
    await collected(probes[0]);
    const count = probes.filter(({ cancelled }) => cancelled.length > 0).length;
    assert.ok(count > 10, `${count} of ${probes.length} were cancelled`);
  }
  assert.deepEqual(reading.cancelled, []);
  assert.deepEqual(held.cancelled, []);
  assert.deepEqual(ended.cancelled, []);
  reading.body.push(Buffer.from("text"));
  reading.body.end();
  assert.equal(await text, "text");
  held.body.push(Buffer.from("text"));
  assert.equal(Buffer.from((await reader.read()).value!).toString(), "text");
  await reader.cancel();
});

test("own streams of a response are of our class", () => {
  assert.ok(arrived("").body instanceof OwnReadableStream);
  assert.ok(arrived("").body instanceof ReadableStream);
});
