import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import test from "node:test";
import { S3Bucket, type S3Credentials } from "../../lib/s3/mod.ts";
import { withStore } from "./scene.ts";

const credentials: S3Credentials = { accessKeyId: "id", secretAccessKey: "secret" };

test("presign() replaces fields of the response to GET", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await bucket.put("a b", "text", { contentType: "text/x" });
    const fields = {
      contentDisposition: 'attachment; filename="a + b.txt"',
      contentType: "text/plain",
      cacheControl: "no-store",
    };
    const { status, headers } = await fetch(await bucket.presign("a b", fields));
    assert.deepEqual(
      [status, headers.get("content-disposition"), headers.get("content-type"), headers.get("cache-control")],
      [200, fields.contentDisposition, fields.contentType, fields.cacheControl],
    );
  }));

test("presign() of a PUT signs its size and its fields", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const put = async (url: string, body: string, type: string): Promise<number> => {
      const response = await fetch(url, { method: "PUT", body, headers: { "content-type": type } });
      await response.body?.cancel();
      return response.status;
    };
    const url = await bucket.presign("a", { method: "PUT", size: 4, contentType: "text/x" });
    assert.equal(await put(url, "fours", "text/x"), 403);
    assert.equal(await put(url, "fou", "text/x"), 403);
    assert.equal(await put(url, "four", "text/y"), 403);
    assert.equal(store.objects.size, 0);
    assert.equal(store.refused.splice(0).length, 3);
    assert.equal(await put(url, "four", "text/x"), 200);
    assert.equal((await bucket.head("a"))?.contentType, "text/x");
  }));

test("presign() refuses options that have no effect with the method", async () => {
  const bucket = new S3Bucket({ endpoint: "https://s3.example.com", bucket: "films", credentials });
  await assert.rejects(bucket.presign("a", { size: 4 }), /^TypeError: size is no option where method is GET/);
  await assert.rejects(bucket.presign("a", { method: "DELETE", cacheControl: "no-store" }), TypeError);
});

test("presignPost() signs a policy that limits the size of what a form stores", async () => {
  const bucket = new S3Bucket({
    endpoint: "https://s3.example.com",
    region: "eu-central-1",
    bucket: "films",
    credentials: { ...credentials, sessionToken: "token" },
  });
  const before = Date.now();
  const { url, fields } = await bucket.presignPost("a b/é", { maxSize: 9, expiresIn: 60, contentType: "text/x" });
  assert.equal(url, "https://s3.example.com/films");
  const { policy, "x-amz-signature": signature, ...others } = fields;
  const day = others["x-amz-date"].slice(0, 8);
  assert.deepEqual(others, {
    key: "a b/é",
    "content-type": "text/x",
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-credential": `${credentials.accessKeyId}/${day}/eu-central-1/s3/aws4_request`,
    "x-amz-date": others["x-amz-date"],
    "x-amz-security-token": "token",
  });
  const { expiration, conditions } = JSON.parse(Buffer.from(policy, "base64").toString());
  assert.ok(Date.parse(expiration) >= before + 59_000 && Date.parse(expiration) <= Date.now() + 60_000, expiration);
  assert.deepEqual(conditions, [
    { bucket: "films" },
    ...Object.entries(others).map(([name, value]) => ({ [name]: value })),
    ["content-length-range", 0, 9],
  ]);
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const key = hmac(hmac(hmac(`AWS4${credentials.secretAccessKey}`, day), "eu-central-1"), "s3");
  assert.equal(signature, hmac(hmac(key, "aws4_request"), policy).toString("hex"));
  await assert.rejects(bucket.presignPost("a", {} as never), TypeError);
});

test("list() begins behind a key and ends at a limit, over any pages", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    for (const key of ["a", "b", "c", "d", "e"]) await bucket.put(key, key);
    const keys = async (options: object): Promise<string> => {
      return (await Array.fromAsync(bucket.list(options), ({ key }) => key)).join("");
    };
    for (const page of [1, 2, 1000]) {
      store.page = page;
      assert.equal(await keys({ startAfter: "b" }), "cde");
      assert.equal(await keys({ startAfter: "aa", limit: 3 }), "bcd");
      assert.equal(await keys({ limit: 5 }), "abcde");
      assert.equal(await keys({ limit: 9, startAfter: "e" }), "");
    }
    store.asked.length = 0;
    assert.equal(await keys({ limit: 1 }), "a");
    assert.equal(store.asked.length, 1);
  }));

test("requests name the bucket in the host if they should, below the endpoint's path", async () => {
  const asked: string[] = [];
  const options = {
    bucket: "films",
    credentials,
    addressing: "host",
    fetch: (url: string) => {
      asked.push(url);
      return Promise.resolve(new Response("", { headers: { etag: '"a"' } }));
    },
  } as const;
  const bucket = new S3Bucket({ ...options, endpoint: "https://s3.example.com/base/" });
  await bucket.put("../a b", "");
  assert.deepEqual(asked, ["https://films.s3.example.com/base/..%2Fa%20b"]);
  assert.match(await bucket.presign("a"), /^https:\/\/films\.s3\.example\.com\/base\/a\?X-Amz-Expires=3600&/);
  for (const [endpoint, name] of [["http://127.0.0.1:9000", "films"], ["https://s3.example.com", "a_b/c"]]) {
    assert.throws(() => new S3Bucket({ ...options, endpoint, bucket: name }), /^TypeError: .* use addressing: "path"/);
  }
});

test("keys that a function gives with their expiration are kept until shortly before that", () =>
  withStore(async (store) => {
    let asked = 0;
    let expiration: Date | undefined = new Date(Date.now() + 3_600_000);
    const bucket = store.bucket({
      credentials: () => ({ ...credentials, ...(asked++, expiration && { expiration }) }),
    });
    for (let i = 0; i < 3; i++) await bucket.put("a", "");
    assert.equal(asked, 1);
    // When the store reports credentials as expired, the client requests new ones, whatever their date.
    let requests = 0;
    store.fails(() => requests++ === 0 ? { status: 400, code: "ExpiredToken" } : undefined);
    expiration = new Date(Date.now() + 60_000);
    await bucket.put("a", "");
    assert.equal(asked, 2);
    await bucket.put("a", "");
    assert.equal(asked, 3, "they expire within five minutes");
  }));

test("list() with a delimiter lists one folder, its objects and the folders in it, over any pages", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const keys = ["a", "b c/1", "b c/2", "b c/d+e/3", "f/4", "g", "é&/5"];
    for (const key of keys) await bucket.put(key, key);
    const listed = async (
      options: { prefix?: string; startAfter?: string; limit?: number } = {},
    ): Promise<string[]> => {
      const found = bucket.list({ delimiter: "/", ...options });
      return (await Array.fromAsync(found, (each) => "prefix" in each ? `${each.prefix}…` : each.key)).sort();
    };
    for (const page of [1, 2, 3, 1000]) {
      store.page = page;
      assert.deepEqual(await listed(), ["a", "b c/…", "f/…", "g", "é&/…"]);
      assert.deepEqual(await listed({ prefix: "b c/" }), ["b c/1", "b c/2", "b c/d+e/…"]);
      assert.deepEqual(await listed({ startAfter: "b d", limit: 2 }), ["f/…", "g"]);
      assert.deepEqual(await listed({ prefix: "none/" }), []);
    }
    assert.throws(() => bucket.list({ delimiter: "" }), TypeError);
  }));
