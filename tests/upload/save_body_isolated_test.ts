import { runInNewContext } from "node:vm";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { ReadableStream as OurReadableStream, WritableStream as OurWritableStream } from "../../lib/streams/mod.ts";
import {
  type BodySource,
  createUploadHandler,
  saveBody,
  type SaveBodyOptions,
  UploadError,
} from "../../lib/upload/mod.ts";
import { noise } from "../support/bytes.ts";
import { cannotListOpenFiles, openFilesIn } from "../files/written.ts";
import { inFolder } from "../support/folders.ts";
import { chunksOf, requestOf, streamOf } from "./bodies.ts";
import { until } from "../support/waits.ts";

const bytes = noise(1_000_003, 7);
type Progress = Parameters<NonNullable<SaveBodyOptions["onProgress"]>>[0];

const sha256 = createHash("sha256").update(bytes).digest("base64");

/** The sources that a body may have, of the same bytes. */
const sources: Record<string, () => BodySource> = {
  "a native stream": () => streamOf(chunksOf(bytes, 10_000)),
  "a stream of ours": () => OurReadableStream.from(chunksOf(bytes, 10_000)),
  "a stream of another realm's bytes": () =>
    streamOf(chunksOf(bytes, 10_000).map((chunk) => runInNewContext("Uint8Array.from(chunk)", { chunk }))),
  "a native byte stream": () => new Response(bytes).body!,
  "a Request": () => new Request("http://localhost/", { method: "POST", body: bytes }),
  "a Response": () => new Response(bytes),
  "a readable of node": () => Readable.from(chunksOf(bytes, 10_000), { objectMode: false }) as unknown as BodySource,
};

for (const [name, source] of Object.entries(sources)) {
  test(`saveBody() stores ${name}`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      const saved = await saveBody(source(), path, { digest: "sha-256" });
      assert.deepEqual(saved, { bytes: bytes.length, digest: `sha-256=:${sha256}:`, path });
      assert.ok((await readFile(path)).equals(bytes));
      assert.deepEqual(await readdir(folder), ["file"]);
    }));
}

test("a destination may be a file URL, and a name below a root", () =>
  inFolder(async (folder) => {
    const path = join(folder, "by url");
    assert.equal((await saveBody(streamOf(["one"]), pathToFileURL(path))).path, path);
    assert.equal((await saveBody(streamOf(["two"]), "by name", { root: folder })).path, join(folder, "by name"));
    assert.equal(await readFile(path, "utf8") + await readFile(join(folder, "by name"), "utf8"), "onetwo");
  }));

test("a body without bytes is an empty file", () =>
  inFolder(async (folder) => {
    const digest = `sha-256=:${createHash("sha256").digest("base64")}:`;
    const path = join(folder, "file");
    assert.deepEqual(await saveBody(streamOf([]), path, { digest: "sha-256" }), { bytes: 0, digest, path });
    const bodiless = new Request("http://localhost/", { method: "POST" });
    assert.equal((await saveBody(bodiless, path, { overwrite: true })).bytes, 0);
    assert.equal((await stat(path)).size, 0);
  }));

test("a file has its name only when it is complete, and a failure leaves what was there", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "old");
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const source = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
    const saving = saveBody(source, path, { overwrite: true });
    controller.enqueue(bytes);
    await until(async () => (await readdir(folder)).length === 2, "two entries");
    assert.equal(await readFile(path, "utf8"), "old");
    controller.error(new Error("the source has failed"));
    await assert.rejects(saving, { message: "the source has failed" });
    assert.deepEqual(await readdir(folder), ["file"]);
    assert.equal(await readFile(path, "utf8"), "old");
  }));

interface Refusal {
  readonly name: string;
  readonly source?: () => BodySource;
  readonly options?: SaveBodyOptions;
  readonly code: string;
  readonly status: number;
  readonly message: RegExp;
}

const wrongDigest = `sha-256=:${createHash("sha256").update("other").digest("base64")}:`;
const refusals: readonly Refusal[] = [
  {
    name: "more bytes than maxBytes",
    options: { maxBytes: 999_999 },
    code: "TOO_LARGE",
    status: 413,
    message: /999999/,
  },
  {
    name: "a Content-Length above maxBytes",
    source: () => requestOf(["short"], { "content-length": "101" }),
    options: { maxBytes: 100 },
    code: "TOO_LARGE",
    status: 413,
    message: /101 bytes, and at most 100/,
  },
  {
    name: "fewer bytes than expected",
    options: { expectedBytes: 1_000_004 },
    code: "BAD_LENGTH",
    status: 400,
    message: /ended after 1000003 of the 1000004/,
  },
  {
    name: "more bytes than expected",
    options: { expectedBytes: 1_000_002 },
    code: "BAD_LENGTH",
    status: 400,
    message: /more than the 1000002/,
  },
  {
    name: "fewer bytes than Content-Length",
    source: () => requestOf(["short"], { "content-length": "6" }),
    code: "BAD_LENGTH",
    status: 400,
    message: /5 of the 6/,
  },
  {
    name: "a Content-Length that is none",
    source: () => requestOf(["short"], { "content-length": "5e0" }),
    code: "BAD_LENGTH",
    status: 400,
    message: /"5e0"/,
  },
  {
    name: "other bytes than the digest's",
    source: () => requestOf(chunksOf(bytes, 10_000), { "content-digest": wrongDigest }),
    code: "DIGEST_MISMATCH",
    status: 422,
    message: /Content-Digest/,
  },
  {
    name: "other bytes than the digest's of the representation",
    source: () => requestOf(chunksOf(bytes, 10_000), { "repr-digest": wrongDigest }),
    code: "DIGEST_MISMATCH",
    status: 422,
    message: /Repr-Digest/,
  },
  {
    name: "a malformed digest",
    source: () => requestOf(["short"], { "content-digest": "sha-256=abc" }),
    code: "BAD_DIGEST",
    status: 400,
    message: /Content-Digest/,
  },
  {
    name: "an unknown coding",
    source: () => requestOf(["short"], { "content-encoding": "lzma" }),
    options: { decode: true },
    code: "UNSUPPORTED",
    status: 415,
    message: /lzma/,
  },
  {
    name: "corrupt coded bytes",
    source: () => requestOf(["short"], { "content-encoding": "gzip" }),
    options: { decode: true },
    code: "MALFORMED",
    status: 400,
    message: /gzip/,
  },
  {
    name: "a sender who is silent",
    source: silent,
    options: { idleTimeout: 20 },
    code: "TIMEOUT",
    status: 408,
    message: /20 ms/,
  },
  {
    name: "a sender who takes too long",
    source: trickling,
    options: { timeout: 50, idleTimeout: 10_000 },
    code: "TIMEOUT",
    status: 408,
    message: /50 ms/,
  },
  {
    name: "a sender who leaves",
    source: () => new Request("http://localhost/", { method: "POST", body: failing(), duplex: "half" } as RequestInit),
    code: "ABORTED",
    status: 499,
    message: /left/,
  },
  { name: "a path out of the root", options: { root: "." }, code: "OUTSIDE_ROOT", status: 400, message: /./ },
];

for (const { name, source = sources["a native stream"], options, code, status, message } of refusals) {
  test(`saveBody() refuses ${name}, and leaves nothing`, () =>
    inFolder(async (folder) => {
      const error = await rejection(saveBody(source(), join(folder, "file"), options));
      assert.ok(error instanceof UploadError, String(error));
      assert.deepEqual({ name: error.name, code: error.code, status: error.status }, {
        name: "UploadError",
        code,
        status,
      });
      assert.match(error.message, message);
      assert.deepEqual(await readdir(folder), []);
      if (!cannotListOpenFiles) await until(() => openFilesIn(folder).length === 0, "closed files");
    }));
}

test("a file that exists is kept, unless it may be replaced", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "old");
    const error = await rejection(saveBody(streamOf(["new"]), path));
    assert.ok(error instanceof UploadError);
    assert.equal(error.code, "EXISTS");
    assert.equal(await readFile(path, "utf8"), "old");
    await saveBody(streamOf(["new"]), path, { overwrite: true, mode: 0o600, flush: true });
    assert.equal(await readFile(path, "utf8"), "new");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ["file"]);
  }));

test("digests that are right are accepted, and computed ones reported", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const right = { "content-digest": `sha-256=:${sha256}:`, "repr-digest": `md5=:AAAA:, sha-256=:${sha256}:` };
    const saved = await saveBody(requestOf(chunksOf(bytes, 10_000), right), path, { digest: "sha-256" });
    assert.equal(saved.digest, `sha-256=:${sha256}:`);
  }));

test("the chunks of a Request that was made by hand stay its maker's", () =>
  inFolder(async (folder) => {
    const chunks = chunksOf(noise(300_000, 2), 100_000);
    await saveBody(requestOf(chunks), join(folder, "file"), { onProgress: () => {} });
    const handler = createUploadHandler({ directory: folder });
    assert.equal((await handler.fetch(requestOf(chunks), { requestIP: () => null })).status, 201);
    assert.deepEqual(chunks.map((chunk) => chunk.length), [100_000, 100_000, 100_000]);
  }));

test("the length and digest of a Response that was decoded when it was fetched are not those of its body", () =>
  inFolder(async (folder) => {
    const headers = { "content-encoding": "gzip", "content-length": "20", "content-digest": wrongDigest };
    const saved = await saveBody(new Response(bytes, { headers }), join(folder, "file"), { decode: true });
    assert.equal(saved.bytes, bytes.length);
  }));

test("a signal ends an upload with its reason, before, during and at the end of it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const reason = new Error("enough");
    await assert.rejects(saveBody(streamOf(["a"]), path, { signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const saving = saveBody(silent(), path, { signal: controller.signal });
    await until(async () => (await readdir(folder)).length === 1, "one entry");
    controller.abort(reason);
    await assert.rejects(saving, reason);
    const late = new AbortController();
    const onProgress = ({ bytes }: Progress): void => void (bytes === 3 && late.abort(reason));
    await assert.rejects(saveBody(streamOf(["end"]), path, { signal: late.signal, onProgress }), reason);
    assert.deepEqual(await readdir(folder), []);
  }));

test("progress is told of all bytes, with their number if that is known", () =>
  inFolder(async (folder) => {
    const told: Progress[] = [];
    const options = { onProgress: (progress: Progress) => void told.push(progress), overwrite: true };
    await saveBody(streamOf(chunksOf(bytes, 100_000)), join(folder, "file"), options);
    assert.deepEqual(told.at(-1), { bytes: bytes.length, expectedBytes: undefined });
    assert.ok(told.every(({ bytes }, index) => index === 0 || bytes > told[index - 1].bytes));
    await saveBody(requestOf(["12345"], { "content-length": "5" }), join(folder, "file"), options);
    assert.deepEqual(told.at(-1), { bytes: 5, expectedBytes: 5 });
  }));

test("a callback that throws ends the upload", () =>
  inFolder(async (folder) => {
    const onProgress = (): void => {
      throw new Error("a bug");
    };
    await assert.rejects(saveBody(streamOf(["a"]), join(folder, "file"), { onProgress }), { message: "a bug" });
    assert.deepEqual(await readdir(folder), []);
  }));

for (const [name, Writable] of Object.entries({ native: WritableStream, ours: OurWritableStream })) {
  test(`a writable destination (${name}) gets the bytes, to keep, and is closed`, async () => {
    const chunks: Uint8Array[] = [];
    let isClosed = false;
    const destination = new Writable<Uint8Array>({
      write: (chunk) => void chunks.push(chunk),
      close: () => void (isClosed = true),
    }) as WritableStream<Uint8Array>;
    assert.deepEqual(await saveBody(new Response(bytes), destination), { bytes: bytes.length });
    assert.ok(Buffer.concat(chunks).equals(bytes));
    assert.ok(isClosed);
  });

  test(`a writable destination (${name}) that fails ends the upload, and the source`, async () => {
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: (reason) => void (cancelled = reason),
    });
    const error = new Error("full");
    const destination = new Writable<Uint8Array>({ write: () => Promise.reject(error) }) as WritableStream<Uint8Array>;
    await assert.rejects(saveBody(source, destination), error);
    assert.equal(cancelled, error);
  });

  test(`a writable destination (${name}) of an upload that fails is aborted`, async () => {
    let aborted: unknown;
    const destination = new Writable<Uint8Array>({ abort: (reason) => void (aborted = reason) }) as WritableStream<
      Uint8Array
    >;
    const error = await rejection(saveBody(streamOf(["four"]), destination, { maxBytes: 3 }));
    assert.equal((error as UploadError).code, "TOO_LARGE");
    assert.equal(aborted, error);
  });
}

test("a source is held back while the destination is slow", async () => {
  let pulled = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 10_000;
      controller.enqueue(new Uint8Array(10_000));
    },
  }, { highWaterMark: 0 });
  const controller = new AbortController();
  const stuck = new WritableStream<Uint8Array>({ write: () => new Promise(() => {}) });
  const saving = saveBody(source, stuck, { signal: controller.signal });
  await until(() => pulled > 100_000, "100,000 pulls");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(pulled < 2_000_000, `${pulled} bytes were read ahead`);
  controller.abort(new Error("enough"));
  await assert.rejects(saving, { message: "enough" });
});

test("a source that is silent, or whose cancel() never ends, holds up no failure", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(100)),
      cancel: () => new Promise(() => {}),
    });
    const error = await rejection(saveBody(endless, path, { maxBytes: 150 }));
    assert.equal((error as UploadError).code, "TOO_LARGE");
    const controller = new AbortController();
    const init = { method: "PUT", body: silent(), duplex: "half" } as RequestInit;
    const saving = saveBody(new Request("http://localhost/", init), path, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await assert.rejects(saving, { message: "enough" });
    assert.deepEqual(await readdir(folder), []);
  }));

test("a destination that takes longer than idleTimeout is not a slow sender", async () => {
  const slow = new WritableStream<Uint8Array>({ write: () => new Promise((resolve) => setTimeout(resolve, 60)) });
  const saved = await saveBody(streamOf(chunksOf(noise(400_000, 1), 100_000)), slow, { idleTimeout: 30 });
  assert.equal(saved.bytes, 400_000);
});

test("a destination that takes nothing holds up no deadline, nor a sender who leaves", async () => {
  const stalled = (): WritableStream<Uint8Array> => new WritableStream({ write: () => new Promise(() => {}) });
  const begun = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  const late = await rejection(saveBody(begun, stalled(), { timeout: 20 }));
  assert.equal((late as UploadError).code, "TIMEOUT");
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const source = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const saving = saveBody(source, stalled());
  controller.enqueue(new Uint8Array(10));
  setTimeout(() => controller.error(new Error("left")), 10);
  await assert.rejects(saving, { message: "left" });
});

const misuses: Record<string, [source: unknown, destination: unknown, options: unknown, error: RegExp]> = {
  "a source that is none": ["text", "file", {}, /source .*text/],
  "no source": [undefined, "file", {}, /source .*undefined/],
  "a locked stream": [locked(), "file", {}, /locked/],
  "a destination that is none": [streamOf([]), 5, {}, /destination .*5/],
  "options that are none": [streamOf([]), "file", null, /options/],
  "a negative limit": [streamOf([]), "file", { maxBytes: -1 }, /maxBytes .*-1/],
  "a limit that is no number": [streamOf([]), "file", { maxBytes: "10mb" }, /maxBytes .*"10mb"/],
  "a limit that is NaN": [streamOf([]), "file", { maxBytes: NaN }, /maxBytes .*NaN/],
  "a timeout of no time": [streamOf([]), "file", { timeout: 0 }, /timeout .*0/],
  "a timeout beyond what timers know": [streamOf([]), "file", { idleTimeout: 2 ** 31 }, /idleTimeout .*2147483648/],
  "an unknown digest": [streamOf([]), "file", { digest: "md5" }, /digest .*md5/],
  "a signal that is none": [streamOf([]), "file", { signal: {} }, /signal/],
  "a switch that is a word": [streamOf([]), "file", { overwrite: "no" }, /overwrite .*"no"/],
};

for (const [name, [source, destination, options, message]] of Object.entries(misuses)) {
  test(`saveBody() names ${name}`, async () => {
    const error = await rejection(saveBody(source as BodySource, destination as string, options as SaveBodyOptions));
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
    assert.match(error.message, message);
    assert.equal(existsSync("file"), false);
  });
}

test("saveBody() names a request whose body is read by somebody else", () =>
  inFolder(async (folder) => {
    const request = requestOf(["text"], { "content-length": "4" });
    request.body!.getReader();
    await assert.rejects(saveBody(request, join(folder, "file")), { name: "TypeError", message: /locked/ });
  }));

test("saveBody() names a body that was read, and a chunk that is no bytes", () =>
  inFolder(async (folder) => {
    const read = new Request("http://localhost/", { method: "POST", body: "text" });
    await read.text();
    await assert.rejects(saveBody(read, join(folder, "file")), { name: "TypeError", message: /read already/ });
    const number = streamOf(["bytes", 1 as unknown as string]);
    await assert.rejects(saveBody(number, join(folder, "file")), { name: "TypeError", message: /Uint8Array.*number/ });
    const words = Readable.from(["abc"]) as unknown as BodySource;
    await assert.rejects(saveBody(words, join(folder, "file")), { name: "TypeError", message: /Uint8Array.*string/ });
    const encoded = Readable.from([bytes], { objectMode: false }).setEncoding("utf8") as unknown as BodySource;
    await assert.rejects(saveBody(encoded, join(folder, "file")), { name: "TypeError", message: /setEncoding/ });
    assert.deepEqual(await readdir(folder), []);
  }));

function silent(): ReadableStream<Uint8Array> {
  return new ReadableStream();
}

function trickling(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.enqueue(new Uint8Array(1));
    },
  });
}

function failing(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => controller.error(new Error("connection reset")),
  }, { highWaterMark: 0 });
}

function locked(): ReadableStream<Uint8Array> {
  const stream = streamOf(["text"]);
  stream.getReader();
  return stream;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => assert.fail("it was fulfilled"), (error) => error);
}
