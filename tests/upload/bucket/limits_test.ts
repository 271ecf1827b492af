import assert from "node:assert/strict";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { type FakeStore, stores } from "../../s3/fake_store.ts";
import { bytesOf, digestOf, withStore } from "../../s3/scene.ts";
import { isLong } from "../../support/long_run.ts";
import { within } from "../../support/waits.ts";

const TUS = { "tus-resumable": "1.0.0" };
const MIB = 2 ** 20;

interface Sender {
  create(length: number): Promise<string>;
  append(upload: string, offset: number, bytes: Uint8Array): Promise<void>;
  offset(upload: string): Promise<number>;
}

/** Returns a sender with a separate handler, as if in another process. */
function sender(store: FakeStore): Sender {
  const handler = createUploadHandler({
    storage: store.bucket({ retries: 0 }),
    resumable: true,
    maxBytes: 2 ** 40,
    log: () => {},
  });
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: Uint8Array) => {
    const init = { method, headers: { ...TUS, ...headers }, ...(body && { body: body as BodyInit }) };
    const response = await within(handler.fetch(new Request(`http://localhost${path}`, init)), `${method} ${path}`);
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.text()}`);
    return response.headers;
  };
  return {
    create: async (length) => (await ask("POST", "/", { "upload-length": String(length) })).get("location")!,
    async append(upload, offset, bytes) {
      const headers = { "upload-offset": String(offset), "content-type": "application/offset+octet-stream" };
      assert.equal((await ask("PATCH", upload, headers, bytes)).get("upload-offset"), String(offset + bytes.length));
    },
    offset: async (upload) => Number((await ask("HEAD", upload, {})).get("upload-offset")),
  };
}

/** Returns the one file of a store, whose sessions have nothing left but their records. */
function fileIn(store: FakeStore): { readonly bytes: Uint8Array; readonly size?: number } {
  const keys = [...store.objects.keys()];
  const files = keys.filter((key) => !key.startsWith("."));
  assert.equal(files.length, 1);
  assert.ok(keys.length <= 2, `${keys}`);
  assert.equal(store.uploads.size, 0);
  return store.objects.get(files[0])!;
}

/** A store that combines the restrictions of all; each store runs alone in the long form. */
const strictest = Object.assign({}, ...Object.values(stores));
for (const [name, rules] of Object.entries(isLong ? stores : { "all of them": strictest })) {
  const sizes = [
    0,
    1,
    5 * MIB - 1,
    5 * MIB,
    5 * MIB + 1,
    8 * MIB - 1,
    8 * MIB,
    8 * MIB + 1,
    16 * MIB - 1,
    16 * MIB,
    16 * MIB + 1,
  ];
  test(`in a bucket, ${name}: uploads of every size at a limit are stored, however they are divided`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const whole = bytesOf(17 * MIB);
      const one = sender(store);
      for (const size of isLong ? sizes : [0, 1, 5 * MIB - 1, 8 * MIB, 16 * MIB + 1]) {
        for (const divisions of isLong ? [[0], [0.4], [0.1, 0.5, 0.9]] : [[0.4]]) {
          store.objects.clear();
          const upload = await one.create(size);
          let offset = 0;
          for (const end of size === 0 ? [] : [...divisions, 1].map((part) => Math.floor(part * size))) {
            await (isLong ? sender(store) : one).append(upload, offset, whole.subarray(offset, end));
            offset = end;
          }
          assert.equal(digestOf(fileIn(store).bytes), digestOf(whole.subarray(0, size)), `${size} by ${divisions}`);
          assert.equal(await one.offset(upload), size);
        }
      }
    }));

  test(`in a bucket, ${name}: an upload of more than 1000 parts, which one request cannot copy, is stored`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const one = sender(store);
      const last = bytesOf(8 * MIB + 5);
      const start = 1000 * 8 * MIB;
      const upload = await one.create(start + last.length);
      const folder = `.millrace-uploads${upload}/`;
      const uploadId = store.sparseUpload(`${folder}data`, Array(1000).fill(8 * MIB));
      const note = JSON.stringify({ uploadId, checksum: "CRC32" });
      await store.bucket().put(`${folder}parts-${start}-${8 * MIB}-1000-${Date.now()}-00000000`, note);
      assert.equal(await one.offset(upload), start);
      await one.append(upload, start, last.subarray(0, 100));
      await sender(store).append(upload, start + 100, last.subarray(100));
      assert.equal(fileIn(store).size, start + last.length);
    }));
}

test("in a bucket: what many small requests append costs three requests to the store each at most, and is sent twice at most", () =>
  withStore(async (store) => {
    const [count, size] = isLong ? [600, 16 * 1024] : [100, 100 * 1024];
    const whole = bytesOf(count * size);
    const one = sender(store);
    const upload = await one.create(whole.length);
    const before = store.asked.length;
    for (let i = 0; i < count; i++) {
      const start = store.asked.length;
      await one.append(upload, i * size, whole.subarray(i * size, (i + 1) * size));
      const isFilling = Math.floor((i + 1) * size / (8 * MIB)) > Math.floor(i * size / (8 * MIB));
      if (!isFilling && i < count - 1) assert.deepEqual(store.asked.slice(start).length, 2, `${i}`);
    }
    const asked = store.asked.length - before;
    assert.ok(asked <= 3 * count, `${asked} requests`);
    assert.ok(store.received <= 2.01 * whole.length, `${store.received} bytes`);
    assert.equal(digestOf(fileIn(store).bytes), digestOf(whole));
  }));

test("in a bucket: of thousands of tiny requests no more objects are there at a time than one list shows", () =>
  withStore(async (store) => {
    const one = sender(store);
    const upload = await one.create(5000);
    const folder = `.millrace-uploads${upload}/`;
    const [, record] = [...store.objects][0];
    const x = { ...record, bytes: new Uint8Array([120]), fields: {} };
    for (let i = 0; i < 899; i++) store.objects.set(`${folder}piece-${i}-${i + 1}-1-0`, x);
    for (let offset = 899; offset < 903; offset++) await one.append(upload, offset, new Uint8Array([120]));
    assert.ok(store.objects.size < 20, `${store.objects.size}`);
    await sender(store).append(upload, 903, new Uint8Array(4097).fill(120));
    assert.equal(new TextDecoder().decode(fileIn(store).bytes), "x".repeat(5000));
  }));

test("in a bucket that is full, an upload can be removed, and goes on once there is room", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    const { fetch } = createUploadHandler({ storage: bucket, resumable: true, log: () => {} });
    const ask = (
      method: string,
      path: string,
      headers: Record<string, string>,
      body?: Uint8Array,
    ): Promise<Response> => {
      return fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { ...TUS, ...headers },
          ...(body && { body: body as BodyInit }),
        }),
      );
    };
    const create = async (): Promise<string> =>
      (await ask("POST", "/", { "upload-length": String(20 * MIB) })).headers.get("location")!;
    const data = { "content-type": "application/offset+octet-stream" };
    const [kept, removed] = [await create(), await create()];
    assert.equal((await ask("PATCH", removed, { ...data, "upload-offset": "0" }, bytesOf(9 * MIB))).status, 204);
    store.rules = { quota: 12 * MIB };
    const whole = bytesOf(20 * MIB);
    assert.notEqual((await ask("PATCH", kept, { ...data, "upload-offset": "0" }, whole)).status, 204);
    assert.equal((await ask("DELETE", removed, {})).status, 204);
    assert.ok(store.uploads.size <= 1, "that of the other");
    store.rules = {};
    const offset = Number((await ask("HEAD", kept, {})).headers.get("upload-offset"));
    assert.equal(
      (await ask("PATCH", kept, { ...data, "upload-offset": String(offset) }, whole.subarray(offset))).status,
      204,
    );
    assert.equal(digestOf(fileIn(store).bytes), digestOf(whole));
  }));

test("the announced length plans the parts of a file, and of those of a form", () =>
  withStore(async (store) => {
    const storage = store.bucket({ retries: 0 });
    const handler = createUploadHandler({ storage, maxBytes: 2 ** 40, log: () => {} });
    const head = '--b\r\ncontent-disposition: form-data; name="a"; filename="a.bin"\r\n\r\n';
    for (
      const [method, type, start] of [["PUT", "application/x-a", ""], ["POST", "multipart/form-data; boundary=b", head]]
    ) {
      const body = new Blob([start, bytesOf(9 * MIB)]).stream();
      const headers = { "content-type": type, "content-length": String(80_000 * MIB) };
      const init = { method, headers, body, duplex: "half" } as RequestInit;
      const response = await within(handler.fetch(new Request("http://localhost/a.bin", init)), method);
      assert.equal(response.status, 400, await response.text());
      assert.deepEqual(store.asked.filter((asked) => asked.includes("Upload")), [], "parts of 10 MiB");
    }
  }));
