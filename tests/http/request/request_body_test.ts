import { runInNewContext } from "node:vm";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createReadStream, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import type { RequestBody } from "../../../lib/http/connection.ts";
import { resolveOptions } from "../../../lib/http/http_client_options.ts";
import { readRequest } from "../../../lib/http/request/fetch_request.ts";
import type { HttpRequestBody } from "../../../lib/http/http_request.ts";
import type { BodySource } from "../../../lib/http/request/stream_body.ts";
import { ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";

const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);

/** Returns the body and the content type of a request. */
function extract(body: HttpRequestBody, length?: number): { source: BodySource; type: string | undefined } {
  const headers: Record<string, string> = length === undefined ? {} : { "content-length": String(length) };
  const request = readRequest("http://a/", { method: "POST", body, headers }, resolveOptions({ decompress: false }));
  const at = request.headers.indexOf("content-type");
  return { source: request.body!, type: at < 0 ? undefined : request.headers[at + 1] };
}

async function readAll(body: RequestBody): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
    assert.ok(chunk.length > 0);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function textOf(body: HttpRequestBody): Promise<string> {
  return Buffer.from(await readAll(extract(body).source.open())).toString();
}

function streams(chunks: unknown[], onCancel?: (reason: unknown) => void): ReadableStream<Uint8Array>[] {
  const source = () => {
    const rest = [...chunks];
    return {
      pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
        if (rest.length === 0) controller.close();
        else controller.enqueue(rest.shift() as Uint8Array);
      },
      cancel: onCancel,
    };
  };
  return [new ReadableStream(source()), new OwnReadableStream(source())];
}

test("bodies in memory are there as bytes, with the type that fetch gives them", async () => {
  const view = new Uint16Array([1, 2, 3]).subarray(1, 2);
  const cases: [HttpRequestBody, string | undefined][] = [
    ["text é \ud800", "text/plain;charset=UTF-8"],
    ["", "text/plain;charset=UTF-8"],
    [bytes(1, 2), undefined],
    [view, undefined],
    [bytes(1, 2, 3).buffer, undefined],
    [new DataView(bytes(1, 2, 3).buffer, 1, 1), undefined],
    [runInNewContext("Uint8Array.of(1, 2, 3).buffer"), undefined],
    [new URLSearchParams({ a: "b c", "é": "&" }), "application/x-www-form-urlencoded;charset=UTF-8"],
  ];
  for (const [body, type] of cases) {
    const extracted = extract(body);
    const expected = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
    assert.equal(extracted.type, type);
    assert.equal(extracted.source.length, expected.length);
    assert.equal(extracted.source.replayable, true);
    for (let round = 0; round < 2; round++) {
      const open = extracted.source.open();
      assert.deepEqual(new Uint8Array(open.bytes!), expected);
      assert.deepEqual(new Uint8Array(await readAll(open)), expected);
    }
  }
  assert.deepEqual(extract(new SharedArrayBuffer(3)).source.open().bytes, bytes(0, 0, 0));
});

test("what becomes of a buffer after the call does not change what is sent", () => {
  for (const make of [(buffer: ArrayBuffer) => new Uint8Array(buffer), (buffer: ArrayBuffer) => buffer]) {
    const buffer = bytes(1, 2, 3).buffer;
    const { source } = extract(make(buffer));
    new Uint8Array(buffer).fill(9);
    assert.deepEqual(source.open().bytes, bytes(1, 2, 3));
  }
});

test("a content type that was given stays", () => {
  const init = { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } };
  const { headers } = readRequest("http://a/", init, resolveOptions({ decompress: false }));
  assert.deepEqual(headers.slice(0, 2), ["content-type", "application/json"]);
  assert.equal(headers.filter((name) => name === "content-type").length, 1);
});

test("a Blob is read when it is sent, and again when it is sent again", async () => {
  const { source, type } = extract(new Blob(["ab", "c"], { type: "text/x" }));
  assert.equal(type, "text/x");
  assert.equal(source.length, 3);
  assert.equal(source.replayable, true);
  for (let round = 0; round < 2; round++) {
    const open = source.open();
    assert.equal(open.bytes, undefined);
    assert.equal(Buffer.from(await readAll(open)).toString(), "abc");
  }
  assert.equal(extract(new Blob(["x"])).type, undefined);
});

test("a slice of a Blob ends where it should, also within a form", async () => {
  const slice = new Blob(["ab", bytes(...new Uint8Array(100).fill(65))]).slice(1, 4);
  assert.equal(await textOf(slice), "bAA");
  const form = new FormData();
  form.append("file", slice);
  const { source } = extract(form);
  const sent = await readAll(source.open());
  assert.equal(sent.length, source.length);
  assert.match(Buffer.from(sent).toString(), /\r\n\r\nbAA\r\n--/);
});

test("a large Blob arrives whole", async () => {
  const content = new Uint8Array(1_000_000).map((_, at) => at % 251);
  const { source } = extract(new Blob([content.subarray(0, 70_000), content.subarray(70_000)]));
  assert.deepEqual(new Uint8Array(await readAll(source.open())), content);
});

test("a form is written as multipart/form-data of a known length, which the runtime reads as the same form", async () => {
  const form = new FormData();
  form.append("plain", "value");
  form.append('na"me\r\nx', "line\nline\rline\r\n");
  form.append("file", new File(["content é"], 'fi"le.txt', { type: "text/x" }));
  form.append("file", new Blob([bytes(0, 13, 10, 45, 45)]));
  const { source: first, type } = extract(form);
  const source = await first.settle?.() ?? first; // on Bun a File's name in a form is known to the runtime alone
  assert.match(type!, /^multipart\/form-data; boundary=[-0-9A-Za-z]+$/);
  assert.equal(source.replayable, true);
  const written = new Uint8Array(await readAll(source.open()));
  assert.equal(written.length, source.length);
  assert.deepEqual(new Uint8Array(await readAll(source.open())), written);
  const text = Buffer.from(written).toString("latin1");
  assert.ok(text.includes('form-data; name="plain"\r\n\r\nvalue\r\n'));
  assert.ok(text.includes('name="na%22me%0D%0Ax"\r\n\r\nline\r\nline\r\nline\r\n\r\n'));
  assert.ok(text.includes('name="file"; filename="fi%22le.txt"\r\nContent-Type: text/x\r\n\r\n'));
  // On Bun none, beside a File.
  assert.match(text, /filename="(blob)?"\r\nContent-Type: application\/octet-stream\r\n\r\n/);
  const parsed = await new Response(written, { headers: { "content-type": type! } }).formData();
  assert.equal(parsed.get("plain"), "value");
  const [file, second] = parsed.getAll("file") as File[];
  assert.equal(await file.text(), "content é");
  assert.deepEqual(new Uint8Array(await second.arrayBuffer()), bytes(0, 13, 10, 45, 45));
});

test("an empty form is an end", async () => {
  const { source, type } = extract(new FormData());
  const boundary = type!.slice("multipart/form-data; boundary=".length);
  assert.equal(Buffer.from(await readAll(source.open())).toString(), `--${boundary}--\r\n`);
});

test("a form is as it was at the call", async () => {
  const form = new FormData();
  form.append("a", "1");
  const { source } = extract(form);
  form.append("b", "2");
  const text = Buffer.from(await readAll(source.open())).toString();
  assert.equal(text.includes('name="b"'), false);
});

test("streams, ours and the runtime's, are read chunk by chunk, without the empty ones", async () => {
  for (const stream of streams([bytes(1), bytes(), bytes(2, 3)])) {
    const { source, type } = extract(stream);
    assert.equal(type, undefined);
    assert.equal(source.length, undefined);
    assert.equal(source.replayable, false);
    assert.deepEqual(new Uint8Array(await readAll(source.open())), bytes(1, 2, 3));
  }
});

test("a stream's bytes may be of another realm", async () => {
  for (const stream of streams([runInNewContext("Uint8Array.of(97, 98)"), bytes(99)])) {
    assert.equal(await textOf(stream), "abc");
  }
});

test("async iterables are bodies, and node's streams are", async () => {
  async function* generate(): AsyncGenerator<Uint8Array> {
    yield bytes(97);
    yield Buffer.from("bc");
  }
  assert.equal(await textOf(generate()), "abc");
  assert.equal(await textOf(Readable.from([Buffer.from("de"), Buffer.from("f")])), "def");
});

test("texts among the pieces of an iterable are sent as UTF-8, as node's streams with an encoding give them", async () => {
  const pieces = ["é", bytes(97), "", "\u{1f600}"];
  const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))).toString();
  async function* generate(): AsyncGenerator<Uint8Array | string> {
    yield* pieces;
  }
  const file = createReadStream(new URL(import.meta.url), { encoding: "utf8", highWaterMark: 1000 });
  assert.equal(await textOf(generate()), sent);
  assert.equal(await textOf(pieces), sent);
  assert.equal(await textOf(Readable.from(pieces)), sent);
  assert.equal(await textOf(Readable.from([Buffer.from("é")]).setEncoding("utf8")), "é");
  assert.equal(await textOf(file), readFileSync(new URL(import.meta.url), "utf8"));
  const { source } = extract(Readable.from(["é"]), 2);
  assert.equal((await readAll(source.open())).length, 2);
});

test("streams of anything but bytes fail", async () => {
  for (const chunk of ["text", 5, null, [1], new ArrayBuffer(1), new Uint16Array(1)]) {
    const reasons: unknown[] = [];
    for (const stream of streams([bytes(1), chunk, bytes(2), bytes(3)], (reason) => void reasons.push(reason))) {
      const open = extract(stream).source.open();
      assert.deepEqual(await open.read(), bytes(1));
      await assert.rejects(open.read(), { code: "BODY_FAILED", message: /no Uint8Array/ });
      assert.equal(await open.read(), undefined);
    }
    assert.equal(reasons.length, 2);
  }
});

test("a stream's error is the cause of the body's", async () => {
  const reason = new RangeError("disk full");
  const source = { pull: () => Promise.reject(reason) };
  for (const stream of [new ReadableStream(source), new OwnReadableStream(source)]) {
    await assert.rejects(extract(stream).source.open().read(), {
      code: "BODY_FAILED",
      message: /disk full/,
      cause: reason,
    });
  }
  async function* generate(): AsyncGenerator<Uint8Array> {
    yield bytes(1);
    throw reason;
  }
  const open = extract(generate()).source.open();
  await open.read();
  await assert.rejects(open.read(), { code: "BODY_FAILED", cause: reason });
});

test("a stream that was announced with a length must have it", async () => {
  for (const stream of streams([bytes(1, 2), bytes(3)])) {
    assert.deepEqual(new Uint8Array(await readAll(extract(stream, 3).source.open())), bytes(1, 2, 3));
  }
  for (const stream of streams([bytes(1, 2), bytes(3)])) {
    await assert.rejects(readAll(extract(stream, 4).source.open()), { code: "BODY_FAILED", message: /after 3 bytes/ });
  }
  const reasons: unknown[] = [];
  for (const stream of streams([bytes(1, 2), bytes(3), bytes(4), bytes(5)], (reason) => void reasons.push(reason))) {
    await assert.rejects(readAll(extract(stream, 2).source.open()), {
      code: "BODY_FAILED",
      message: /more than the 2/,
    });
  }
  assert.equal(reasons.length, 2);
});

test("cancel() reaches the source, once, also before anything was read and while a read waits", async () => {
  const reasons: unknown[] = [];
  const source = { pull: () => new Promise<void>(() => {}), cancel: (reason: unknown) => void reasons.push(reason) };
  for (const stream of [new ReadableStream(source), new OwnReadableStream(source)]) {
    const open = extract(stream).source.open();
    const reading = open.read();
    open.cancel("enough");
    open.cancel("again");
    assert.equal(await reading, undefined);
  }
  const unread = streams([bytes(1)], (reason) => void reasons.push(reason));
  for (const stream of unread) extract(stream).source.open().cancel("unread");
  let isReturned = false;
  const iterator = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => Promise.resolve({ done: false, value: bytes(1) }),
    return: () => Promise.resolve({ done: isReturned = true, value: undefined }),
  };
  extract(iterator as AsyncIterable<Uint8Array>).source.open().cancel("enough");
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(reasons, ["enough", "enough", "unread", "unread"]);
  assert.equal(isReturned, true);
});

test("cancel() after the end does nothing", async () => {
  const reasons: unknown[] = [];
  for (const stream of streams([bytes(1)], (reason) => void reasons.push(reason))) {
    const open = extract(stream).source.open();
    await readAll(open);
    open.cancel("late");
  }
  assert.deepEqual(reasons, []);
});

test("what cancelling throws is nobody's error", async () => {
  const source = { cancel: () => Promise.reject(new Error("stubborn")) };
  for (const stream of [new ReadableStream(source), new OwnReadableStream(source)]) {
    extract(stream).source.open().cancel("x");
  }
  await new Promise((resolve) => setTimeout(resolve, 1));
});

test("streams that are locked or were read are refused", async () => {
  for (const stream of streams([bytes(1)])) {
    const reader = stream.getReader();
    assert.throws(() => extract(stream), { code: "INVALID_BODY", message: /locked/ });
    reader.releaseLock();
  }
  const [, own] = streams([bytes(1), bytes(2)]);
  const reader = own.getReader();
  await reader.read();
  reader.releaseLock();
  assert.throws(() => extract(own), { code: "INVALID_BODY", message: /already/ });
});

test("a stream is locked at once, so that nobody else reads it before there is a connection", () => {
  for (const stream of streams([bytes(1)])) {
    extract(stream);
    assert.equal(stream.locked, true);
    assert.throws(() => extract(stream), { code: "INVALID_BODY", message: /locked/ });
  }
  const [free] = streams([bytes(1)]);
  const init = { method: "POST", body: free, redirect: "never" as "follow" };
  assert.throws(() => readRequest("http://a/", init, resolveOptions({ decompress: false })), {
    code: "INVALID_OPTION",
  });
  assert.equal(free.locked, false);
  const broken = {
    [Symbol.asyncIterator]: () => {
      throw new RangeError("broken");
    },
  } as unknown as AsyncIterable<Uint8Array>;
  assert.throws(() => extract(broken), { code: "INVALID_BODY", message: /broken/ });
});

test("anything else is refused, with what may be used", () => {
  for (const body of [5, true, {}, Symbol("x"), () => {}, new Date()]) {
    assert.throws(() => extract(body as unknown as string), { code: "INVALID_BODY", message: /use a string/ });
  }
});

test("an iterable of bytes is sent, and one of anything else is not", async () => {
  const pieces = [new Uint8Array([1, 2]), new Uint8Array([3])];
  assert.deepEqual([...await readAll(extract(pieces).source.open())], [1, 2, 3]);
  await assert.rejects(readAll(extract([1] as unknown as string).source.open()), { code: "BODY_FAILED" });
});

test("any split of any bytes into a stream arrives as it is", async () => {
  const chunk = fc.uint8Array({ maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
      const whole = Buffer.concat(chunks);
      for (const stream of streams(chunks.map((chunk) => new Uint8Array(chunk)))) {
        assert.deepEqual(Buffer.from(await readAll(extract(stream, whole.length).source.open())), whole);
      }
    }),
    { numRuns: 50 },
  );
});

test("a class that extends Blob puts nothing into the head that the runtime would not", async () => {
  class Liar extends Blob {
    override get type(): string {
      return "text/plain\r\nx-injected: 1";
    }
    override get size(): number {
      return "1\r\nx-injected: 1" as never;
    }
  }
  class LiarFile extends File {
    override get type(): string {
      return "text/plain\r\nx-injected: 1";
    }
    override get size(): number {
      return 1;
    }
  }
  const { source, type } = extract(new Liar(["four"], { type: "text/x" }));
  assert.equal(source.length, 4);
  assert.equal(type, "text/x");
  assert.equal(Buffer.from(await readAll(source.open())).toString(), "four");
  assert.equal(extract(new Liar(["four"])).type, undefined);
  const form = new FormData();
  form.append("file", new LiarFile(["four"], "name"));
  const { source: asForm } = extract(form);
  const sent = await asForm.settle?.() ?? asForm;
  const text = Buffer.from(await readAll(sent.open())).toString();
  assert.equal(sent.length, text.length);
  assert.doesNotMatch(text, /x-injected/);
});

test("what only looks like a Blob is refused", () => {
  const fake = Object.create(Blob.prototype) as Blob;
  assert.throws(() => extract(fake), { code: "INVALID_BODY" });
});

test("a form's file is sent under the name that it was appended with, and its own, or a path, is told to no server", async () => {
  const { Bun } = globalThis as { Bun?: { file(path: string): Blob } };
  const path = new URL("../../../tsconfig.json", import.meta.url).pathname;
  const blob = new Blob(["abc"]);
  const files: Record<string, Blob> = { Blob: blob, File: new File(["abc"], "own.txt") };
  if (Bun !== undefined) files["file of Bun"] = Bun.file(path);
  for (const [kind, file] of Object.entries(files)) {
    const form = new FormData();
    form.append("a", file, "given.txt");
    form.append("b", file, 'other "1".txt');
    form.append("c", "text");
    const { source, type } = extract(form);
    const body = (await source.settle?.() ?? source).open();
    const text = Buffer.from(body.bytes ?? await readAll(body)).toString();
    const names = Array.from(text.matchAll(/; filename="([^"]*)"/g), ([, name]) => name);
    assert.deepEqual(names, ["given.txt", "other %221%22.txt"], kind);
    assert.ok(type!.startsWith("multipart/form-data; boundary="));
    assert.ok(text.includes(type!.slice(type!.indexOf("=") + 1)));
  }
});

test("each entry of a form goes out under its own names, whatever they are, and whatever stands before it", async () => {
  const words = [
    "",
    "a",
    "\\",
    'a"',
    '\\"',
    ";",
    "é\u{1F600}",
    "\0",
    "\x01",
    " ",
    "/",
    "..",
    "--",
    "filename=",
    "\r\n",
    "%",
  ];
  const written = (name: string): string => name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
  for (const field of words) {
    for (const name of [...words, undefined]) {
      const form = new FormData();
      if (name === undefined) form.append(field, "text");
      else form.append(field, new File(["1"], "own"), name);
      form.append("b", new File(["2"], "own"), "second");
      form.append(field, new File(["3"], "own"));
      form.append("c", new File(["4"], ""), "fourth");
      const { source } = extract(form);
      const body = (await source.settle?.() ?? source).open();
      const text = Buffer.from(body.bytes ?? await readAll(body)).toString();
      const heads = [...text.matchAll(/ name="([^"]*)"(?:; filename="([^"]*)")?\r\n/g)].map(([, ...names]) => names);
      const first = [written(field), name === undefined ? undefined : written(name)];
      const told = JSON.stringify([field, name]);
      assert.deepEqual(heads, [first, ["b", "second"], [written(field), "own"], ["c", "fourth"]], told);
    }
  }
});
