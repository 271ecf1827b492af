import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { S3Bucket, type S3Error, type S3PutOptions, type S3Stored } from "../../lib/s3/mod.ts";
import { isLong } from "../support/long_run.ts";
import { until } from "../support/waits.ts";
import { type FakeStore, stores } from "./fake_store.ts";
import { bytesOf, digestOf, streamOf, withStore } from "./scene.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** An object without bytes. */
function sparse(store: FakeStore, key: string, size: number, fields: Record<string, string> = {}): void {
  store.objects.set(key, { bytes: new Uint8Array(), size, etag: `"${key}"`, fields, modified: new Date() });
}

/** A store that refuses what any does; each by itself at length. */
const strictest = Object.assign({}, ...Object.values(stores));
for (const [name, rules] of Object.entries(isLong ? stores : { "all of them": strictest })) {
  test(`${name}: objects of every size at a limit are stored, written and joined`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const bucket = store.bucket({ retries: 0 });
      const whole = bytesOf(16 * MIB + 1);
      const sizes = [
        0,
        1,
        5 * MIB - 1,
        5 * MIB,
        5 * MIB + 1,
        8 * MIB - 1,
        8 * MIB,
        8 * MIB + 1,
        16 * MIB,
        16 * MIB + 1,
      ];
      for (const size of isLong ? sizes : [0, 1, 8 * MIB, 16 * MIB + 1]) {
        const bytes = whole.subarray(0, size);
        await streamOf(bytes, 4 * MIB).pipeTo(bucket.writable("a"));
        assert.equal(digestOf(store.objects.get("a")!.bytes), digestOf(bytes), `${size}`);
      }
      // Objects that came in parts themselves, of sizes that do not fit.
      for (const key of ["b", "c"]) await streamOf(whole.subarray(0, 9 * MIB), 4 * MIB).pipeTo(bucket.writable(key));
      await bucket.put("d", whole.subarray(0, 6 * MIB));
      await bucket.put("e", "x");
      const sources = await Promise.all(["e", "b", "d", "c"].map((key) => bucket.head(key)));
      assert.equal((await bucket.join(sources as never, "all")).size, 24 * MIB + 1);
      const parts = [new Uint8Array([120]), whole.subarray(0, 9 * MIB), whole.subarray(0, 6 * MIB)];
      const expected = new Blob([...parts, whole.subarray(0, 9 * MIB)] as never);
      assert.equal(digestOf(store.objects.get("all")!.bytes), digestOf(await expected.bytes()));
      assert.equal(store.uploads.size, 0);
    }));

  test(`${name}: objects of more than one request may copy are copied and joined, and others that grow by thousands of parts`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const bucket = store.bucket({ retries: 0 });
      sparse(store, "big", 6 * GIB);
      await bucket.put("small", bytesOf(6 * MIB));
      const [big, small] = await Promise.all(["big", "small"].map((key) => bucket.head(key)));
      assert.equal((await bucket.join([big!], "to")).size, 6 * GIB);
      sparse(store, "last", 5 * MIB);
      const last = await bucket.head("last");
      assert.equal((await bucket.join([big!, last!], "to")).size, 6 * GIB + 5 * MIB);
      assert.equal((await bucket.join([big!, small!], "to")).size, 6 * GIB + 6 * MIB);
      assert.equal((await bucket.copy("big", "to")).size, 6 * GIB);
      for (const count of isLong ? [999, 1000, 1001, 7999] : [1000]) {
        const upload = store.sparseUpload("film", Array(count).fill(8 * MIB));
        const film = await bucket.resume("film", upload);
        await streamOf(bytesOf(8 * MIB + 1), 4 * MIB).pipeTo(film);
        assert.equal(film.stored!.size, (count + 1) * 8 * MIB + 1);
      }
      assert.equal(store.uploads.size, 0);
    }));
}

const [former, other] = ["former", "of another"].map((text) => new TextEncoder().encode(text));
for (const name of isLong ? ["AWS", "R2", "versitygw"] as const : ["R2"] as const) {
  test(`${name}: a condition holds by whatever call an object is stored, and of whatever size`, () =>
    withStore(async (store) => {
      store.rules = stores[name];
      const bucket = store.bucket({ retries: 0 });
      for (const size of isLong ? [0, 1, 5 * MIB, 9 * MIB] : [0, 6 * MIB]) {
        const bytes = bytesOf(size);
        await bucket.put("from", bytes, { cacheControl: "no-store" });
        const source = (await bucket.head("from"))!;
        const calls: Readonly<Record<string, (options: S3PutOptions) => Promise<unknown>>> = {
          put: (options) => bucket.put("to", bytes, options),
          writable: (options) => streamOf(bytes, 4 * MIB).pipeTo(bucket.writable("to", options)),
          copy: (options) => bucket.copy("from", "to", options),
          "join of one": (options) => bucket.join([source], "to", options),
          "join of two": (options) => bucket.join([source, source], "to", options),
        };
        for (const [call, act] of Object.entries(calls)) {
          const title = `${call} of ${size}`;
          const { etag } = await bucket.put("to", former);
          await bucket.put("to", other);
          for (const options of [{ overwrite: false }, { ifMatch: etag }]) {
            await assert.rejects(act(options), { status: 412 }, title);
            assert.deepEqual(Buffer.from(store.objects.get("to")!.bytes), Buffer.from(other), title);
          }
          await act({ ifMatch: store.objects.get("to")!.etag });
          await bucket.delete("to");
          await act({ overwrite: false });
          const stored = new Blob(call === "join of two" ? [bytes, bytes] : [bytes]);
          assert.equal(digestOf(store.objects.get("to")!.bytes), digestOf(await stored.bytes()), title);
          if (call === "copy") assert.equal(store.objects.get("to")!.fields["cache-control"], "no-store", title);
        }
      }
      assert.equal(store.uploads.size, 0);
    }));
}

test("objects are joined, and copied under a condition, where the store copies no parts", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    const bytes = bytesOf(9 * MIB);
    await bucket.put("from", bytes);
    const source = (await bucket.head("from"))!;
    for (const lacksCopyPart of [501, 400, 200] as const) {
      store.rules = { lacksCopyPart };
      await bucket.delete("to");
      await bucket.copy("from", "to", { overwrite: false });
      assert.equal(digestOf(store.objects.get("to")!.bytes), digestOf(bytes), `${lacksCopyPart}`);
      await bucket.join([source, source], "to");
      assert.equal(store.objects.get("to")!.bytes.length, 18 * MIB, `${lacksCopyPart}`);
    }
  }));

test("AWS: small objects are joined wherever parts begin and end", () =>
  withStore(async (store) => {
    store.rules = stores.AWS;
    const bucket = store.bucket({ retries: 0 });
    for (
      const sizes of isLong ? [[8, 3], [7, 4], [9, 3], [3, 3, 3], [8, 8, 1], [6, 5, 5], [15, 4]] : [[8, 3], [7, 4]]
    ) {
      const parts = sizes.map((size, index) => bytesOf(size * MIB, index + 1));
      for (const [index, bytes] of parts.entries()) await bucket.put(`${index}`, bytes);
      const sources = await Promise.all(parts.map((_, index) => bucket.head(`${index}`)));
      await bucket.join(sources as never, "all");
      assert.equal(digestOf(store.objects.get("all")!.bytes), digestOf(await new Blob(parts).bytes()), String(sizes));
    }
  }));

test("writable() plans the size of parts by the size of the object, so that 10,000 are enough for any", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    await streamOf(bytesOf(11 * MIB), 4 * MIB).pipeTo(bucket.writable("a", { size: 80_000 * MIB }));
    assert.equal(store.asked.filter((asked) => asked.startsWith("PutPart")).length, 2, "parts of 10 MiB");
    await streamOf(bytesOf(9 * MIB), 4 * MIB).pipeTo(bucket.writable("b", { size: 5 * 2 ** 40 }));
    assert.equal(store.asked.at(-1), "PutObject b", "parts of 656 MiB");
  }));

const kept = {
  "content-type": "text/css",
  "cache-control": "max-age=5",
  "content-disposition": "attachment",
  "content-encoding": "gzip",
  "content-language": "de",
  "x-amz-meta-a": "b",
  "x-amz-tagging": "keep%20it=7%26y",
};

const copies: readonly (readonly [string, S3PutOptions, Readonly<Record<string, string>>])[] = [
  ["nothing", {}, kept],
  ["the type", { contentType: "text/html" }, { ...kept, "content-type": "text/html" }],
  ["a field", { cacheControl: "no-store" }, { ...kept, "cache-control": "no-store" }],
  ["nothing, and replaces nothing", { overwrite: false }, kept],
];

test("a copy keeps what is not replaced, whatever the size", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const { "x-amz-meta-a": _meta, ...others } = kept;
    const all = [...copies, ["metadata", { metadata: { c: "d" } }, { ...others, "x-amz-meta-c": "d" }], [
      "metadata by none",
      { metadata: {} },
      others,
    ]] as typeof copies;
    for (const size of [MIB, 6 * MIB, 6 * GIB]) {
      sparse(store, "from", size, kept);
      for (const [title, options, expected] of all) {
        await bucket.delete("to");
        await bucket.copy("from", "to", options);
        const { "x-amz-checksum-algorithm": _sum, "x-amz-checksum-sha256": _sha256, ...fields } =
          store.objects.get("to")!.fields;
        assert.deepEqual(fields, expected, `${title} of ${size}`);
      }
    }
  }));

test("a completed copy of an object in parts succeeds: onto itself, or if its source is moved away meanwhile", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    for (const isRemoved of [false, true]) {
      for (const to of ["a", "b"]) {
        await bucket.delete("b");
        const { etag } = await stored(bytesOf(9 * MIB));
        const copied = (): boolean => store.objects.get(to)?.fields["content-type"] === "text/css";
        const moved = (): Promise<void> => until(copied, "the copy").then(() => void store.objects.delete("a"));
        store.fails(({ operation }) => operation === "CopyObject" && isRemoved ? { until: moved() } : undefined);
        const copy = await bucket.copy("a", to, { contentType: "text/css" });
        store.fails(() => undefined);
        assert.notEqual(copy.etag, etag);
        assert.deepEqual({ ...copy, etag: "" }, { key: to, size: 9 * MIB, etag: "" });
        assert.equal(store.objects.has("a"), !isRemoved);
      }
    }
    async function stored(bytes: Uint8Array): Promise<S3Stored> {
      const writable = bucket.writable("a");
      await streamOf(bytes, 4 * MIB).pipeTo(writable);
      return writable.stored!;
    }
    // A store that ignores the condition of a copy has copied another object.
    store.rules = stores.B2;
    for (const to of ["a", "b"]) {
      await stored(bytesOf(9 * MIB));
      store.fails(({ operation }) => {
        if (operation !== "CopyObject") return undefined;
        store.objects.set("a", { ...store.objects.get("a")!, bytes: bytesOf(MIB), etag: '"other"' });
        return undefined;
      });
      await assert.rejects(bucket.copy("a", to, { contentType: "text/css" }), { code: "OBJECT_CHANGED" }, to);
      store.fails(() => undefined);
    }
  }));

for (const name of isLong ? ["AWS", "R2", "B2"] as const : ["AWS", "R2"] as const) {
  test(`${name}: no join and no copy in parts has bytes of an object that has replaced a source`, () =>
    withStore(async (store) => {
      store.rules = stores[name];
      const bucket = store.bucket();
      for (const key of ["a", "b"]) await bucket.put(key, bytesOf(17 * MIB));
      const [a, b] = await Promise.all(["a", "b"].map((key) => bucket.head(key)));
      const replace = (): void => {
        store.objects.set("a", { ...store.objects.get("a")!, bytes: bytesOf(17 * MIB, 2), etag: '"other"' });
      };
      const isRefused = ({ code }: S3Error): boolean => ["OBJECT_CHANGED", "PreconditionFailed"].includes(code);
      for (const act of [() => bucket.join([a!, b!], "to"), () => bucket.copy("a", "to", { overwrite: false })]) {
        await bucket.put("a", bytesOf(17 * MIB));
        let copies = 0;
        store.fails(({ operation }) => void (operation === "CopyPart" && ++copies === 2 && replace()));
        await assert.rejects(act(), isRefused);
        store.fails(() => undefined);
        assert.ok(copies > 1 && !store.objects.has("to") && store.uploads.size === 0);
      }
      replace();
      await assert.rejects(bucket.join([a!, b!], "to"), isRefused);
      await bucket.delete("a");
      await assert.rejects(bucket.join([a!, b!], "to"));
      assert.equal(store.objects.has("to"), false);
    }));
}

test("join() makes one object of more objects than an upload has parts", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const size = 5 * MIB;
    for (let i = 0; i < 10_001; i++) sparse(store, `${i}`, size);
    const sources = Array.from({ length: 10_001 }, (_, i) => ({ key: `${i}`, size, etag: `"${i}"` }));
    // A part for each object would be one too many.
    const codes: Readonly<Record<string, string>> = { CopyPart: "Copied", GetObject: "Read" };
    store.fails(({ operation }) => codes[operation] ? { status: 403, code: codes[operation] } : undefined);
    await assert.rejects(bucket.join(sources, "all"), { code: "Read" });
  }));

test("metadata that has no members, and members of credentials that look misspelt, are refused", () => {
  const options = { endpoint: "https://s3.example.com", bucket: "b" };
  const keys = { accessKeyId: "a", secretAccessKey: "b" };
  const bucket = new S3Bucket({ ...options, credentials: keys });
  for (const metadata of [new Map([["a", "b"]]), new Headers({ a: "b" }), ["a"]]) {
    assert.throws(
      () => bucket.writable("a", { metadata: metadata as never }),
      /^TypeError: metadata must be an object/,
    );
  }
  for (const name of ["sesionToken", "SessionToken", "secretKey"]) {
    const credentials = { ...keys, [name]: "s3cr3t" };
    assert.throws(() => bucketOf(credentials), (error: Error) => {
      return error instanceof TypeError && error.message.includes(name) && !error.message.includes("s3cr3t");
    });
  }
  bucketOf({ ...keys, sessionToken: "c", expiration: new Date(), accountId: "1", $source: {} });
  function bucketOf(credentials: object): S3Bucket {
    return new S3Bucket({ ...options, credentials: credentials as typeof keys });
  }
});

test("the endpoint of a store may have a path, which is signed", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ endpoint: `${store.endpoint}/storage/v1/s3/` });
    await bucket.put("a/b", "text");
    assert.equal(await new Response(bucket.readable("a/b")).text(), "text");
    const [listed] = await Array.fromAsync(bucket.list({ prefix: "a/" }));
    assert.equal(listed.key, "a/b");
    assert.equal(await (await fetch(await bucket.presign("a/b"))).text(), "text");
  }));
