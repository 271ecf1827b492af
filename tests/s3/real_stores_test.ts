import assert from "node:assert/strict";
import test from "node:test";
import { S3Bucket } from "../../lib/s3/mod.ts";
import { createUploadHandler } from "../../lib/upload/mod.ts";
import { realStores, startStore } from "./real_stores.ts";
import { bytesOf, digestOf, streamOf } from "./scene.ts";

const MIB = 2 ** 20;

for (const kind of ["garage", "versitygw"] as const) {
  test(`S3Bucket does with ${kind} what it says`, { skip: realStores[kind].skip, timeout: 60_000 }, async () => {
    const store = await startStore(kind);
    const bucket = new S3Bucket(store.options);
    try {
      const bytes = bytesOf(9 * MIB);
      await streamOf(bytes).pipeTo(bucket.writable("large", { contentType: "text/x", metadata: { a: "b" } }));
      const { size, contentType, metadata } = (await bucket.head("large"))!;
      assert.deepEqual({ size, contentType, metadata }, { size: 9 * MIB, contentType: "text/x", metadata: { a: "b" } });
      assert.equal(digestOf(await new Response(bucket.readable("large")).bytes()), digestOf(bytes));
      const range = { start: 5, end: 9 };
      assert.deepEqual(await new Response(bucket.readable("large", { range })).bytes(), bytes.slice(5, 9));

      await bucket.copy("large", "copy of it");
      assert.equal((await bucket.head("copy of it"))!.contentType, "text/x");
      // A gateway to a folder takes dots for steps; that is its.
      const keys = ["a b+c&d=é☃😀!'()*~%41", ...(kind === "garage" ? ["a//b", "a/../b", "../c", "./."] : [])];
      for (const key of keys) {
        await bucket.put(key, key);
        assert.equal(await new Response(bucket.readable(key)).text(), key);
        assert.equal((await fetch(await bucket.presign(key))).status, 200);
      }
      const listed: string[] = [];
      for await (const { key } of bucket.list()) listed.push(key);
      assert.deepEqual(new Set(listed), new Set(["large", "copy of it", ...keys]));
      for (const [length, status] of [[4, 204], [5, 400], [4, 403]]) {
        const { url, fields } = await bucket.presignPost("from a form é", { maxSize: 4, contentType: "text/x" });
        const parts = Object.entries({ ...fields, ...(status === 403 && { key: "another" }) });
        const begin = '--x\r\nContent-Disposition: form-data; name="';
        const text = parts.map(([name, value]) => `${begin}${name}"\r\n\r\n${value}\r\n`).join("");
        const body = `${text}${begin}file"; filename="film"\r\n\r\n${"x".repeat(length)}\r\n--x--\r\n`; // as browsers do
        const headers = { "content-type": "multipart/form-data; boundary=x" };
        assert.equal((await fetch(url, { method: "POST", headers, body })).status, status);
      }
      assert.equal((await bucket.head("from a form é"))!.contentType, "text/x");
      assert.equal(await bucket.head("another"), undefined);
      await bucket.put("folder of/films/a", "a");
      const folders: string[] = [];
      for await (const entry of bucket.list({ prefix: "f", delimiter: "/" })) {
        if ("prefix" in entry) folders.push(entry.prefix);
      }
      assert.deepEqual(folders, ["folder of/"]);

      const lost = bucket.writable("resumed");
      const writer = lost.getWriter();
      await writer.write(bytes);
      while (lost.offset === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const resumed = await bucket.resume("resumed", lost.uploadId!);
      assert.equal(resumed.offset, 8 * MIB);
      await streamOf(bytes.subarray(resumed.offset)).pipeTo(resumed);
      assert.equal(digestOf(await new Response(bucket.readable("resumed")).bytes()), digestOf(bytes));

      await bucket.put("small", bytes.subarray(0, 6 * MIB));
      const sources = await Promise.all(["large", "small", "large"].map((key) => bucket.head(key)));
      assert.equal((await bucket.join(sources as never, "joined")).size, 24 * MIB);
      const joined = new Blob([bytes, bytes.subarray(0, 6 * MIB), bytes] as never);
      assert.equal(
        digestOf(await new Response(bucket.readable("joined")).bytes()),
        digestOf(await joined.bytes()),
      );

      const whole = bytesOf(20 * MIB);
      const uploads = createUploadHandler({ storage: bucket, resumable: true, name: () => "uploaded" });
      const ask = async (method: string, path: string, headers: Record<string, string>, body?: BodyInit) => {
        const init = { method, headers: { "tus-resumable": "1.0.0", ...headers }, ...(body && { body }) };
        return (await uploads.fetch(new Request(`http://localhost${path}`, init))).headers;
      };
      const path = (await ask("POST", "/", { "upload-length": String(whole.length) })).get("location")!;
      for (const [start, end] of [[0, 1000], [1000, 8 * MIB], [8 * MIB, 17 * MIB], [17 * MIB, 20 * MIB]]) {
        const headers = { "upload-offset": String(start), "content-type": "application/offset+octet-stream" };
        const told = await ask("PATCH", path, headers, whole.subarray(start, end));
        assert.equal(told.get("upload-offset"), String(end));
      }
      assert.equal(digestOf(await new Response(bucket.readable("uploaded")).bytes()), digestOf(whole));
      assert.equal((await Array.fromAsync(bucket.list({ prefix: ".millrace-uploads/" }))).length, 1);

      const left = bucket.writable("left").getWriter();
      await left.write(bytes);
      await left.abort();
      assert.equal(await bucket.head("left"), undefined);
      assert.equal(await bucket.removeAbandoned({ olderThan: 0 }), 0);
      await assert.rejects(new Response(bucket.readable("left")).bytes(), { code: "NoSuchKey", status: 404 });
      if (kind === "versitygw") {
        await assert.rejects(bucket.put("large", "", { overwrite: false }), { code: "PreconditionFailed" });
      }
    } finally {
      await bucket.close();
      await store.stop();
    }
  });
}
