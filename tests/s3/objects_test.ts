import assert from "node:assert/strict";
import test from "node:test";
import { S3Bucket, type S3Error } from "../../lib/s3/mod.ts";
import { until } from "../support/waits.ts";
import { bytesOf, digestOf, streamOf, withStore } from "./scene.ts";

const KEYS = [
  "plain.txt",
  "a b+c&d=e?f#g%41.txt",
  "é☃😀/𝒳",
  "a//b",
  "/a",
  "a/",
  "a/../b",
  "../a",
  "./.",
  "..a/.b",
  "~!'()*",
];

test("S3Bucket stores, reads and removes objects of any key, also of parts that URLs would leave out", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    for (const key of KEYS) {
      await bucket.put(key, `v ${key}`);
      assert.equal(await new Response(bucket.readable(key)).text(), `v ${key}`);
      assert.equal((await fetch(await bucket.presign(key))).status, 200, key);
    }
    const listed: string[] = [];
    for await (const { key } of bucket.list()) listed.push(key);
    assert.deepEqual(listed, [...KEYS].sort());
    for (const key of KEYS) await bucket.delete(key);
    assert.equal(store.objects.size, 0);
    await bucket.delete("missing");
  }));

test("S3Bucket refuses keys that no object can have, before a request", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    for (const key of ["", ".", "..", "a\0b", "\ud800", "x".repeat(1025)]) {
      await assert.rejects(bucket.put(key, ""), RangeError);
      assert.throws(() => bucket.writable(key), RangeError);
      assert.throws(() => bucket.readable(key), RangeError);
    }
    assert.deepEqual(store.asked, []);
  }));

test("S3Bucket.head() tells the facts about an object, and undefined if there is none", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const stored = await bucket.put("a", "12345", { contentType: "text/x", metadata: { By: "me" } });
    const { lastModified, ...facts } = (await bucket.head("a"))!;
    assert.ok(Math.abs(lastModified.getTime() - Date.now()) < 3_600_000);
    const sha256 = "WZRHGrsBESr8wYFZ9sx0tPURuZgG2lmzyvWpwXPKz8U=";
    assert.deepEqual(facts, { ...stored, contentType: "text/x", sha256, metadata: { by: "me" } });
    assert.equal(await bucket.head("b"), undefined);
  }));

test("S3Bucket.list() goes through pages, and can be left", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    store.page = 3;
    for (let i = 0; i < 8; i++) await bucket.put(`p/${i}`, "");
    await bucket.put("q", "");
    const keys: string[] = [];
    for await (const { key } of bucket.list({ prefix: "p/" })) keys.push(key);
    assert.deepEqual(keys, Array.from({ length: 8 }, (_, i) => `p/${i}`));
    store.asked.length = 0;
    for await (const _ of bucket.list()) break;
    assert.deepEqual(store.asked, ["ListObjects"]);
  }));

test("S3Bucket.copy() copies with and without other fields", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await bucket.put("a", "bytes");
    assert.equal((await bucket.copy("a", "b/../c")).size, 5);
    assert.equal(await new Response(bucket.readable("b/../c")).text(), "bytes");
    await assert.rejects(bucket.copy("missing", "b"), { name: "S3Error", code: "NotFound", status: 404 });
    store.fails(({ operation }) => operation === "CopyObject" ? "error in 200" : undefined);
    await assert.rejects(store.bucket({ retries: 1 }).copy("a", "d"), { code: "InternalError", status: 500 });
    assert.equal(store.objects.has("d"), false);
  }));

test("S3Error names the object, the bucket and what the store said", () =>
  withStore(async (store) => {
    store.fails(() => ({ status: 403, code: "AccessDenied" }));
    await assert.rejects(store.bucket().put("a", ""), (error: S3Error) => {
      const { name, code, status, key, requestId, message } = error;
      assert.deepEqual({ name, code, status, key, requestId }, {
        name: "S3Error",
        code: "AccessDenied",
        status: 403,
        key: "a",
        requestId: "REQUEST-1",
      });
      assert.equal(message, 'Cannot store "a" in the bucket films: the store answers 403 AccessDenied: in words');
      return true;
    });
    assert.equal(store.asked.length, 1); // no other attempt would change it
  }));

test("requests are sent again after failures that may pass", () =>
  withStore(async (store) => {
    const faults = [
      { status: 503, code: "SlowDown", fields: { "retry-after": "0" } },
      "reset",
      { status: 500 },
      "torn",
    ] as const;
    const bucket = store.bucket();
    await bucket.put("a", "bytes");
    for (const act of [() => bucket.put("a", "bytes"), () => Array.fromAsync(bucket.list()), () => bucket.head("a")]) {
      const start = store.asked.length;
      store.fails(({ index }) => faults[index - start]);
      await act();
    }
    // So Garage says that bytes were changed on the way.
    const start = store.asked.length;
    store.fails(({ index }) => index === start ? { status: 400, code: "InvalidDigest" } : undefined);
    await bucket.put("a", "bytes");
    assert.equal(store.objects.size, 1);
  }));

test("a condition that an own attempt has met is no failure", () =>
  withStore(async (store) => {
    for (const checksums of [false, true]) {
      store.objects.clear();
      const bucket = store.bucket({ checksums });
      for (const text of ["first", "next"]) {
        const ifMatch = store.objects.get("a")?.etag;
        const start = store.asked.length;
        store.fails(({ index }) => index === start ? "reset after" : undefined);
        assert.equal((await bucket.put("a", text, ifMatch ? { ifMatch } : { overwrite: false })).size, text.length);
        await assert.rejects(bucket.put("a", "other", { overwrite: false }), { code: "PreconditionFailed" });
      }
    }
    store.objects.clear();
    const start = store.asked.length;
    store.fails(({ index }) => index === start ? "reset after" : undefined);
    const bucket = store.bucket();
    assert.equal((await bucket.put("a", "mine", { overwrite: false })).size, 4);
    await assert.rejects(bucket.put("a", "mine", { overwrite: false }), { code: "PreconditionFailed", status: 412 });
    await assert.rejects(bucket.put("a", "other", { overwrite: false }), { code: "PreconditionFailed" });

    let copies = 0;
    store.fails(({ operation }) => operation === "PutObject" && copies++ === 0 ? "reset after" : undefined);
    assert.equal((await bucket.copy("a", "b", { overwrite: false })).size, 4);
    assert.equal(copies, 2);
    await assert.rejects(bucket.copy("a", "b", { overwrite: false }), { code: "PreconditionFailed" });
  }));

test("a condition that a store left undecided is asked again, but not of an upload, which is over then", () =>
  withStore(async (store) => {
    const undecided = { status: 409, code: "ConditionalRequestConflict" };
    store.fails(({ index }) => index === 0 ? undecided : undefined);
    const bucket = store.bucket();
    assert.equal((await bucket.put("a", "mine", { overwrite: false })).size, 4);
    store.fails(({ operation }) => operation === "CompleteUpload" ? undecided : undefined);
    const piped = streamOf(bytesOf(9_000_000)).pipeTo(bucket.writable("b", { overwrite: false }));
    await assert.rejects(piped, { code: undecided.code });
    assert.equal(store.asked.filter((asked) => asked === "CompleteUpload b").length, 1);
    assert.equal(store.uploads.size, 0);
  }));

test("a store that does not answer fails with TIMEOUT, and a signal ends the wait", () =>
  withStore(async (store) => {
    store.fails(() => "stall");
    await assert.rejects(store.bucket({ timeout: 50, retries: 1 }).head("a"), { code: "TIMEOUT", key: "a" });
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(store.bucket().head("a", { signal: controller.signal }), (error) => error === reason);
  }));

for (const kind of ["the own", "another", "a deaf"]) {
  test(`S3Bucket.close() ends what is under way over ${kind} fetch`, () =>
    withStore(async (store) => {
      const send = (url: string, init?: RequestInit): Promise<Response> => {
        const { signal: _signal, ...rest } = init!;
        return fetch(url, kind === "a deaf" ? rest : init);
      };
      const bucket = store.bucket(kind === "the own" ? {} : { fetch: send });
      await bucket.put("read", bytesOf(3_000_000));
      const reader = bucket.readable("read").getReader();
      store.fails(() => ({ pause: 100_000 }));
      await reader.read();
      store.fails(() => "stall");
      const start = store.asked.length;
      const calls = [
        bucket.head("a"),
        bucket.put("a", "text"),
        bucket.copy("read", "b"),
        streamOf(bytesOf(9_000_000)).pipeTo(bucket.writable("c")),
        (async () => {
          while (!(await reader.read()).done);
        })(),
      ];
      const ended = Promise.all(calls.map((call) => assert.rejects(call, { code: "CLOSED" })));
      await until(() => store.asked.length === start + 4, "the requests");
      const time = performance.now();
      await bucket.close();
      await ended;
      assert.ok(performance.now() - time < 10_000, "a call waited for the store");
      await assert.rejects(bucket.put("a", ""), { code: "CLOSED" });
    }));
}

test("readable() goes on where the connection broke, as long as the object is the same", () =>
  withStore(async (store) => {
    const bytes = bytesOf(3_000_000);
    const bucket = store.bucket({ timeout: 1000 });
    await bucket.put("a", bytes);
    let reads = 0;
    store.fails(({ operation }) => {
      if (operation !== "GetObject") return undefined;
      reads++;
      return reads === 2
        ? { status: 503 }
        : reads === 4
        ? { pause: 100_000 }
        : reads < 7
        ? { cut: 300_000 }
        : undefined;
    });
    assert.equal(digestOf(await new Response(bucket.readable("a")).bytes()), digestOf(bytes));
    assert.ok(reads >= 7);
    reads = 2;
    const range = { start: 1_000_000, end: 2_999_999 };
    assert.equal(
      digestOf(await new Response(bucket.readable("a", { range })).bytes()),
      digestOf(bytes.slice(1_000_000, 2_999_999)),
    );
    reads = 4;
    const reader = bucket.readable("a").getReader();
    await reader.read();
    store.objects.set("a", { ...store.objects.get("a")!, etag: '"other"' });
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    }, { code: "OBJECT_CHANGED" });
  }));

test("readable() fails when the bytes are not those that were stored, and after breaks without a byte between", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 2 });
    await bucket.put("a", bytesOf(100_000));
    store.fails(({ operation }) => operation === "GetObject" ? "flip" : undefined);
    await assert.rejects(new Response(bucket.readable("a")).bytes(), { code: "CHECKSUM_MISMATCH" });
    store.fails(({ operation }) => operation === "GetObject" ? { cut: 0 } : undefined);
    await assert.rejects(new Response(bucket.readable("a")).bytes(), { code: "CONNECTION_FAILED" });
    store.fails(() => undefined);
    await assert.rejects(new Response(bucket.readable("b")).bytes(), { code: "NoSuchKey" });
    assert.equal((await new Response(bucket.readable("a")).bytes()).length, 100_000);
  }));

test("readable() can be cancelled and aborted, and asks for nothing before it is read", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await bucket.put("a", bytesOf(4_000_000));
    store.asked.length = 0;
    const stream = bucket.readable("a");
    assert.deepEqual(store.asked, []);
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    const controller = new AbortController();
    const other = bucket.readable("a", { signal: controller.signal }).getReader();
    await other.read();
    controller.abort("enough");
    await assert.rejects(other.read(), (error) => error === "enough");
  }));

test("S3Bucket refuses options that do not go together, and what is wrong within one", () => {
  const credentials = { accessKeyId: "", secretAccessKey: "" };
  const options = { endpoint: "https://s3.example.com", bucket: "b", credentials };
  for (const endpoint of ["ftp://a", "https://a#b", "https://a?b", "a"]) {
    assert.throws(() => new S3Bucket({ ...options, endpoint }), /^TypeError: endpoint must be a URL/);
  }
  for (const name of Object.keys(options)) {
    assert.throws(
      () => new S3Bucket({ ...options, [name]: undefined }),
      new RegExp(`S3Bucket needs the option ${name}: `),
    );
  }
  const bucket = new S3Bucket(options);
  assert.throws(
    () => bucket.readable("a", { range: { start: 2, end: 2 } }),
    /^RangeError: range\.end 2 is out of range/,
  );
  assert.throws(() => bucket.readable("a", { range: {} as never }), /needs the option range\.start/);
  for (
    const [wrong, message] of [
      [{ metadata: { "a b": "c" } }, /^TypeError: "a b" can be no name of metadata/],
      [{ metadata: { Foo: "1", foo: "2" } }, /^TypeError: metadata has "foo" twice/],
      [{ metadata: { a: "é" } }, /^TypeError: metadata\.a must be printable ASCII/],
      [{ contentDisposition: 'attachment; filename="é"' }, /^TypeError: contentDisposition must be printable ASCII/],
      [{ cacheControl: "a\r\nb: c" }, /^TypeError: cacheControl must be/],
      [{ contentType: "日本" }, /^TypeError: contentType must be the value of a header field/],
      [{ ifMatch: '"a"', overwrite: false }, /^TypeError: ifMatch is no option where overwrite is false/],
    ] as const
  ) assert.throws(() => bucket.writable("a", wrong as never), message);
});

/** Transfers the buffer of bytes, which are none then. */
function detach(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

test("bytes whose buffer was transferred or shrunk replace no object, whenever that happens", () =>
  withStore(async (store) => {
    const MIB = 2 ** 20;
    const bucket = store.bucket();
    const former = { key: "a", size: 6, etag: (await bucket.put("a", "former")).etag };
    const shrunk = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 8 }), 4, 4);
    shrunk.buffer.resize(2);
    for (const bytes of [detach(bytesOf(9)), shrunk]) await assert.rejects(bucket.put("a", bytes), TypeError);
    for (const options of [{}, { memory: 0 }, { memory: 256 * 1024 }]) {
      for (const turns of [0, 1, 2, 5, 20]) {
        const bytes = bytesOf(17 * MIB);
        const before = digestOf(bytes);
        const writer = store.bucket(options).writable("a").getWriter();
        const ended = Promise.all([writer.write(new Uint8Array(1)), writer.write(bytes), writer.close()]);
        for (let i = 0; i < turns; i++) await Promise.resolve();
        detach(bytes);
        const isWhole = await ended.then(() => true, (error) => assert.ok(error instanceof TypeError, String(error)));
        const there = store.objects.get("a")!;
        if (isWhole) assert.equal(digestOf(there.bytes.subarray(1)), before);
        else assert.equal(there.etag, former.etag);
      }
    }
    await until(() => store.uploads.size === 0, "the end of the uploads");
  }));

test("S3Bucket shows no credentials in its errors, and takes those that say more", async () => {
  const options = { endpoint: "http://127.0.0.1:2", bucket: "b" };
  for (const credentials of ["s3cr3t", { accessKeyId: "s3cr3t", secretAccessKey: 4321 }]) {
    for (const given of [credentials, () => credentials]) {
      await assert.rejects(async () => {
        await new S3Bucket({ ...options, credentials: given as never, retries: 0 }).presign("a");
      }, (error: Error) => error instanceof TypeError && !/s3cr3t|4321/.test(error.message));
    }
  }
  const credentials = { accessKeyId: "a", secretAccessKey: "b", expiration: new Date() };
  assert.match(await new S3Bucket({ ...options, credentials }).presign("a"), /X-Amz-Signature=/);
});

test("a range to Infinity, and options that are undefined, are as if they were not given", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await bucket.put("a", "abcdef", { contentType: "text/plain", metadata: undefined, overwrite: undefined });
    const range = { start: 2, end: Infinity };
    assert.equal(await new Response(bucket.readable("a", { range })).text(), "cdef");
    await bucket.copy("a", "b", { contentType: undefined });
    assert.equal((await bucket.head("b"))?.contentType, "text/plain");
  }));

test("copies and joins need no right to read tags", () =>
  withStore(async (store) => {
    store.rules = { hidesTags: true };
    const bucket = store.bucket();
    const { etag, size } = await bucket.put("a", new Uint8Array(10));
    await bucket.copy("a", "b", { overwrite: false });
    await bucket.join([{ key: "a", etag, size }], "c", { overwrite: false });
    assert.deepEqual(["b", "c"].map((key) => store.objects.has(key)), [true, true]);
  }));
