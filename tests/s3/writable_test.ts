import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createHash } from "node:crypto";
import test from "node:test";
import process from "node:process";
import { S3Bucket } from "../../lib/s3/mod.ts";
import { inFolder } from "../support/folders.ts";
import { until, within } from "../support/waits.ts";
import type { Fault } from "./fake_store.ts";
import { bytesOf, digestOf, streamOf, withStore } from "./scene.ts";

const MIB = 2 ** 20;
const KINDS = {
  "in memory": {},
  "in files": { memory: MIB },
  "over another fetch": { fetch: (url: string, init?: RequestInit) => fetch(url, init) },
} as const;

for (const [kind, options] of Object.entries(KINDS)) {
  test(`writable() stores bodies of any length, with parts ${kind}`, () =>
    withStore(async (store) => {
      const bucket = store.bucket(options);
      for (const length of kind === "in memory" ? [0, 1, 8 * MIB - 1, 8 * MIB, 17 * MIB + 5] : [3, 9 * MIB]) {
        const bytes = bytesOf(length);
        const writable = bucket.writable("a", { contentType: "text/x", metadata: { n: String(length) } });
        await streamOf(bytes, 700_001).pipeTo(writable);
        const object = store.objects.get("a")!;
        assert.equal(digestOf(object.bytes), digestOf(bytes));
        assert.equal(object.fields["content-type"], "text/x");
        assert.equal(object.fields["x-amz-meta-n"], String(length));
        assert.deepEqual(writable.stored, { key: "a", size: length, etag: object.etag });
      }
      assert.equal(store.uploads.size, 0);
    }));
}

test("writable() sends each part again by itself", () =>
  withStore(async (store) => {
    const bytes = bytesOf(17 * MIB);
    const faults = ["reset", { status: 503 }, "reset after", { status: 400, code: "BadDigest" }] as const;
    let parts = 0;
    store.fails(({ operation }) => operation === "PutPart" ? faults[parts++] : undefined);
    await streamOf(bytes).pipeTo(store.bucket().writable("a"));
    assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
    assert.equal(store.asked.filter((each) => each.startsWith("PutPart")).length, 7);
  }));

test("a part is sent again with other credentials when those have expired that a function gave, and only then", () =>
  withStore(async (store) => {
    const bytes = bytesOf(9 * MIB);
    const keys = { accessKeyId: "id", secretAccessKey: "secret" };
    let given = 0;
    for (const code of ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"]) {
      const others = store.bucket({ credentials: () => ({ ...keys, sessionToken: `t${++given}` }) });
      const start = store.asked.length;
      const fault = { status: 400, code } as const;
      let faults = 0;
      store.fails(({ operation }) => operation === "PutPart" && faults++ === 0 ? fault : undefined);
      await streamOf(bytes).pipeTo(others.writable("a"));
      assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
      assert.equal(given, store.asked.length - start);
      given = 0;
      store.fails(({ operation }) => operation === "PutObject" ? fault : undefined);
      const puts = (): number => store.asked.filter((each) => each.startsWith("PutObject")).length;
      const before = puts();
      await assert.rejects(store.bucket().put("b", ""), { code });
      assert.equal(puts(), before + 1);
    }
  }));

test("writable() sends so many parts at a time as it may, and holds the writer back", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ concurrency: 2 });
    store.fails(({ operation }) => operation === "PutPart" ? "stall" : undefined);
    const streams = [1, 2, 3].map((i) => bucket.writable(String(i)));
    const writers = streams.map((stream) => stream.getWriter());
    let isHeld = true;
    for (const writer of writers) {
      const writing = writer.write(bytesOf(30 * MIB));
      writing.then(() => isHeld = false, () => {}); // aborted below
    }
    await until(() => store.asked.filter((each) => each.startsWith("PutPart")).length === 2, "two parts");
    assert.equal(isHeld, true);
    store.fails(() => undefined);
    await within(Promise.all(writers.map((writer) => writer.abort("enough"))), "abort()");
    assert.equal(store.objects.size, 0);
    assert.equal(store.uploads.size, 0);
  }));

test("writable() leaves nothing when it is aborted, its source fails, its signal is aborted or a part fails for good", () =>
  withStore(async (store) => {
    const reason = new Error("enough");
    const bucket = store.bucket({ retries: 0 });
    const writer = bucket.writable("a").getWriter();
    await writer.write(bytesOf(20 * MIB));
    await writer.abort(reason);
    await assert.rejects(writer.closed, (error) => error === reason);

    let pulls = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 10) controller.error(reason);
        else controller.enqueue(bytesOf(MIB));
      },
    });
    await assert.rejects(source.pipeTo(bucket.writable("a")), (error) => error === reason);

    const controller = new AbortController();
    const third = bucket.writable("a", { signal: controller.signal }).getWriter();
    await third.write(bytesOf(9 * MIB));
    controller.abort(reason);
    await assert.rejects(third.closed, (error) => error === reason);
    await until(() => store.uploads.size === 0, "the end of the upload");

    store.fails(({ operation }) => operation === "PutPart" ? { status: 403, code: "AccessDenied" } : undefined);
    await assert.rejects(streamOf(bytesOf(20 * MIB)).pipeTo(bucket.writable("a")), { code: "AccessDenied", key: "a" });
    await until(() => store.uploads.size === 0, "the end of the upload");

    store.fails(({ operation }) => operation === "CreateUpload" ? "torn" : undefined);
    await assert.rejects(streamOf(bytesOf(9 * MIB)).pipeTo(bucket.writable("a")), { code: "MALFORMED_RESPONSE" });
    assert.equal(store.objects.size, 0);
    assert.equal(store.asked.filter((each) => each.startsWith("Complete")).length, 0);
    assert.equal(await bucket.removeAbandoned({ olderThan: 60_000 }), 0);
    assert.equal(await bucket.removeAbandoned({ olderThan: 0 }), 1); // whose id was torn
    assert.equal(store.uploads.size, 0);
  }));

for (const size of [1000, 9 * MIB]) {
  for (const end of ["abort()", "a signal"]) {
    test(`${end} while the last request of ${size} bytes is under way waits for what comes of it`, () =>
      withStore(async (store) => {
        const last = size > MIB ? "CompleteUpload" : "PutObject";
        const bytes = bytesOf(size);
        const reason = new Error("enough");
        for (const way of ["answered", "refused", "lost", "silent", "silent, and stored"]) {
          store.fails(() => undefined);
          await store.bucket().put("a", "former");
          const { promise, resolve } = Promise.withResolvers<void>();
          store.fails(({ operation }) => {
            if (operation !== last) return undefined;
            if (way === "refused") return { status: 403, code: "AccessDenied", before: promise };
            if (way === "silent") return "stall";
            return way === "lost" ? "reset after" : { until: way === "answered" ? promise : new Promise(() => {}) };
          });
          store.asked.length = 0;
          const controller = new AbortController();
          const writer = store.bucket({ timeout: 400 }).writable("a", { signal: controller.signal }).getWriter();
          await writer.write(bytes);
          writer.closed.catch(() => {}); // as close()
          const closing = writer.close().then(() => "stored", (error) => error);
          await until(() => store.asked.includes(`${last} a`), "the last request");
          if (way.endsWith("stored")) await until(() => store.objects.get("a")!.bytes.length === size, "the object");
          // abort() fails as the pending close() does.
          const aborted = end === "abort()" ? writer.abort(reason) : controller.abort(reason);
          const ended = Promise.resolve(aborted).catch((error) => assert.equal(error, reason));
          setTimeout(resolve, 20);
          const isStored = !["refused", "silent"].includes(way);
          assert.equal(await within(closing, "the end"), isStored ? "stored" : reason, way);
          await ended;
          assert.equal(store.objects.get("a")!.bytes.length, isStored ? size : 6, way);
          await until(() => store.uploads.size === 0, "the end of the upload");
        }
      }));
  }
}

for (const [last, size] of [["PutObject", 1000], ["CompleteUpload", 9 * MIB]] as const) {
  test(`an abort while ${last} or the look at its object hangs waits for one look at most`, () =>
    withStore(async (store) => {
      for (const hung of [last, "HeadObject"]) {
        for (const end of ["abort()", "a signal"]) {
          store.objects.clear();
          store.asked.length = 0;
          const faults: Fault[] = hung === last ? ["stall"] : ["reset after"];
          store.fails(({ operation }) => {
            return operation === "HeadObject" ? "stall" : operation === last ? faults.shift() : undefined;
          });
          const controller = new AbortController();
          const options = { signal: controller.signal, overwrite: false };
          const writer = store.bucket({ timeout: 200 }).writable("a", options).getWriter();
          writer.closed.catch(() => {}); // as close()
          await writer.write(bytesOf(size));
          const reason = new Error("enough");
          const closed = assert.rejects(writer.close(), (error) => error === reason);
          await until(() => store.asked.includes(`${hung} a`), "the request that hangs");
          if (end === "abort()") await writer.abort(reason).catch((error) => assert.equal(error, reason));
          else controller.abort(reason);
          await closed;
          assert.equal(store.asked.filter((asked) => asked === "HeadObject a").length, 1, `${hung}, ${end}`);
        }
      }
    }));
}

test("writable() does not abort what it has completed, and finds out whether it has", () =>
  withStore(async (store) => {
    const bytes = bytesOf(9 * MIB);
    const refused = { status: 412, code: "PreconditionFailed" };
    for (
      const faults of [["reset after"], ["error in 200"], ["torn"], ["reset after", "reset after"], [
        "reset after",
        refused,
        refused,
      ]] as const
    ) {
      store.objects.clear();
      store.asked.length = 0;
      let tries = 0;
      store.fails(({ operation }) => operation === "CompleteUpload" ? faults[tries++] : undefined);
      const writable = store.bucket({ retries: 2 }).writable("a", { overwrite: false });
      await streamOf(bytes).pipeTo(writable);
      assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
      assert.equal(writable.stored!.etag, store.objects.get("a")!.etag);
      assert.deepEqual(store.asked.filter((each) => each.startsWith("Abort")), []);
      assert.equal(store.uploads.size, 0);
    }
    store.objects.clear();
    store.fails(({ operation }) => operation === "CompleteUpload" ? "error in 200" : undefined);
    await assert.rejects(streamOf(bytes).pipeTo(store.bucket({ retries: 1 }).writable("a")), { code: "InternalError" });
    assert.equal(store.objects.size, 0);
    await until(() => store.uploads.size === 0, "the end of the upload");
  }));

test("writable() with overwrite: false replaces nothing", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await bucket.put("a", "first");
    for (const length of [10, 9 * MIB]) {
      const piped = streamOf(bytesOf(length)).pipeTo(bucket.writable("a", { overwrite: false }));
      await assert.rejects(piped, { code: "PreconditionFailed", status: 412 });
    }
    assert.equal(store.objects.get("a")!.bytes.length, 5);
    await until(() => store.uploads.size === 0, "the end of the upload");
  }));

test("resume() goes on behind the parts that the store has, but not behind a gap", () =>
  withStore(async (store) => {
    store.page = 2;
    const bytes = bytesOf(34 * MIB);
    const bucket = store.bucket();
    const lost = bucket.writable("a", { contentType: "text/x" });
    const writer = lost.getWriter();
    await writer.write(bytes.subarray(0, 33 * MIB));
    await until(() => lost.offset === 32 * MIB, "four parts");
    const upload = store.uploads.get(lost.uploadId!)!;
    upload.parts.delete(3);
    const resumed = await store.bucket().resume("a", lost.uploadId!);
    assert.equal(resumed.offset, 16 * MIB);
    await streamOf(bytes.subarray(16 * MIB)).pipeTo(resumed);
    assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
    assert.equal(store.objects.get("a")!.fields["content-type"], "text/x");
    await assert.rejects(bucket.resume("a", lost.uploadId!), { code: "NoSuchUpload" });
    await writer.abort(); // of an upload that is complete: nothing happens
    assert.equal(store.objects.size, 1);
  }));

test("temporary files have no names, and a folder for them that is missing fails the upload", () =>
  inFolder((folder) =>
    withStore(async (store) => {
      const writer = store.bucket({ memory: MIB, temporary: folder }).writable("a").getWriter();
      await writer.write(bytesOf(5 * MIB));
      if (process.platform !== "win32") assert.deepEqual(readdirSync(folder), []);
      await writer.abort();
      const lost = store.bucket({ memory: 0, temporary: `${folder}/missing` }).writable("b");
      await assert.rejects(streamOf(bytesOf(5 * MIB)).pipeTo(lost), { code: "ENOENT" });
      assert.equal(store.objects.size, 0);
    })
  ));

test("resume() goes on with checksums as an upload was begun", () =>
  withStore(async (store) => {
    const bytes = bytesOf(17 * MIB);
    const fields = { "x-amz-checksum-algorithm": "CRC32" };
    const begun = { key: "a", fields, parts: new Map(), initiated: new Date() };
    store.uploads.set("1", begun);
    await streamOf(bytes).pipeTo(await store.bucket().resume("a", "1"));
    assert.deepEqual([...begun.parts.values()].map((part) => part.told), ["CRC32", "CRC32", "CRC32"]);
    const etag = `"${createHash("md5").update(bytes.subarray(0, 8 * MIB)).digest("hex")}"`;
    const sums = { CRC32: "AAAAAA==" };
    store.uploads.set("2", {
      key: "a",
      fields,
      parts: new Map([[1, { bytes: bytes.subarray(0, 8 * MIB), etag, sums }]]),
      initiated: new Date(),
    });
    const upload = store.uploads.get("2")!;
    await streamOf(bytes.subarray(8 * MIB)).pipeTo(await store.bucket().resume("a", "2"));
    assert.deepEqual([...upload.parts.values()].map((part) => part.told), [undefined, "CRC32", "CRC32"]);
    assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
  }));

for (
  const [endpoint, isUnsigned] of [
    ["https://s3.example.com", true],
    ["http://127.0.0.1:3900", true],
    ["http://localhost:3900", true],
    ["http://[::1]:3900", true],
    ["http://s3.example.com", false],
    ["http://localhost.example.com", false],
  ] as const
) {
  const what = isUnsigned ? "have a CRC-32" : "have a CRC-32, and are signed with their SHA-256";
  test(`parts that go to ${endpoint} ${what}`, async () => {
    const parts: Headers[] = [];
    const answers = {
      POST: "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>",
      PUT: "",
      DELETE: "",
    };
    const bucket = new S3Bucket({
      endpoint,
      bucket: "films",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
      fetch(_url, init) {
        if (init!.method === "PUT") parts.push(new Headers(init!.headers));
        return Promise.resolve(new Response(answers[init!.method as "PUT"] || null, { headers: { etag: '"1"' } }));
      },
    });
    const writer = bucket.writable("a").getWriter();
    await writer.write(new Uint8Array(8 * MIB));
    await until(() => parts.length === 1, "a part");
    await writer.abort();
    const [part] = parts;
    assert.equal(part.get("x-amz-content-sha256") === "UNSIGNED-PAYLOAD", isUnsigned);
    assert.equal(part.get("x-amz-checksum-crc32"), "GtK8RQ==");
  });
}

for (
  const [where, options, isTold] of [
    ["over plain HTTP", { endpoint: "http://s3.example.com" }, true],
    ["without checksums", { endpoint: "https://s3.example.com", checksums: false }, false],
  ] as const
) {
  test(`resume() ${where} signs the parts of an upload that was begun with CRC-32s`, async () => {
    const parts: Headers[] = [];
    const answers = {
      GET: `<ListPartsResult><Part><PartNumber>1</PartNumber><Size>${8 * MIB}</Size><ETag>1</ETag>` +
        "<ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part></ListPartsResult>",
      PUT: "",
      DELETE: "",
    };
    const bucket = new S3Bucket({
      ...options,
      bucket: "films",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
      fetch(_url, init) {
        if (init!.method === "PUT") parts.push(new Headers(init!.headers));
        return Promise.resolve(new Response(answers[init!.method as "PUT"] || null, { headers: { etag: '"1"' } }));
      },
    });
    const bytes = bytesOf(8 * MIB);
    const writer = (await bucket.resume("a", "1")).getWriter();
    await writer.write(bytes);
    await until(() => parts.length === 1, "a part");
    await writer.abort();
    assert.equal(parts[0].get("x-amz-content-sha256"), digestOf(bytes));
    assert.equal(parts[0].has("x-amz-checksum-crc32"), isTold);
  });
}

test("resume() sends a last part again that is too small to be another", () =>
  withStore(async (store) => {
    const bytes = bytesOf(11 * MIB);
    const bucket = store.bucket({ retries: 0 });
    store.fails(({ operation }) => operation === "CompleteUpload" ? "stall" : undefined);
    const lost = bucket.writable("a");
    const writer = lost.getWriter();
    await writer.write(bytes.subarray(0, 9 * MIB));
    writer.close().catch(() => {}); // the bucket is closed before
    await until(() => store.asked.some((each) => each.startsWith("Complete")), "the end");
    store.fails(() => undefined);
    const resumed = await store.bucket().resume("a", lost.uploadId!);
    assert.equal(resumed.offset, 8 * MIB);
    await streamOf(bytes.subarray(resumed.offset)).pipeTo(resumed);
    assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes));
    await assert.rejects(bucket.resume("a", ""), TypeError);
    assert.deepEqual(store.asked.filter((each) => each.startsWith("Delete")), []);
  }));

test("writable() that is aborted while the store begins the upload leaves nothing", () =>
  withStore(async (store) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    store.fails(({ operation }) => operation === "CreateUpload" ? { until: promise } : undefined);
    const writer = store.bucket().writable("a").getWriter();
    writer.write(bytesOf(9 * MIB)).catch(() => {}); // aborted below
    await until(() => store.uploads.size === 1, "the upload");
    const aborted = writer.abort("enough");
    setTimeout(resolve, 20);
    await aborted;
    assert.equal(store.uploads.size, 0);
  }));

const CHUNKS: Readonly<Record<string, () => unknown>> = {
  text: () => "text",
  nothing: () => undefined,
  "something of a negative length": () => ({ byteLength: -1 }),
  "something without a length": () => ({ byteLength: NaN }),
  "a buffer that was transferred": () => {
    const bytes = new Uint8Array(9);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    return Object.assign(Object.create(bytes), { no: "bytes" });
  },
};

for (const [title, chunk] of Object.entries(CHUNKS)) {
  test(`a chunk that is ${title} fails the stream, and nothing of it is left in the store or in memory`, () =>
    withStore(async (store) => {
      const bucket = store.bucket({ memory: 9 * MIB, temporary: "/missing" });
      const writer = bucket.writable("a").getWriter();
      await writer.write(bytesOf(8 * MIB + 1));
      await assert.rejects(writer.write(chunk() as never));
      await assert.rejects(writer.closed);
      await until(() => store.uploads.size === 0, "the end of the upload");
      await streamOf(bytesOf(8 * MIB)).pipeTo(bucket.writable("b"));
      assert.deepEqual([...store.objects.keys()], ["b"]);
    }));
}
