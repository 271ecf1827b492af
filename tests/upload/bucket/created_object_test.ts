import assert from "node:assert/strict";
import test from "node:test";
import type { Undone } from "../../../lib/files/internal.ts";
import type { S3Bucket } from "../../../lib/s3/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { CreatedObject, MARK } from "../../../lib/upload/sink/created_object.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import type { FakeStore, Fault } from "../../s3/fake_store.ts";
import { withStore } from "../../s3/scene.ts";

const KEY = "a.txt";
const conditions = ["known", "ignored", "refused"] as const;

/** Other clients' objects: with the very bytes of this package's, with others, and with a mark of their own. */
const others: readonly ((bucket: S3Bucket) => Promise<unknown>)[] = [
  (bucket) => bucket.put(KEY, "bytes"),
  (bucket) => bucket.put(KEY, "theirs"),
  (bucket) => bucket.put(KEY, "bytes", { metadata: { [MARK]: "another" } }),
];

for (const deletesIfMatch of conditions) {
  const store = `a store that has the condition of a removal ${deletesIfMatch}`;

  test(`the undo of an object removes it if it is there, and no other, whatever was stored since: ${store}`, () =>
    withStore(async (store) => {
      store.deletesIfMatch = deletesIfMatch;
      const [own, other] = [store.bucket(), store.bucket()];
      for (let seed = 1; seed <= 25; seed++) {
        const random = randomNumbers(seed * 7919);
        store.objects.clear();
        store.fails(() => undefined);
        const isThere = random(3) === 0;
        if (isThere) await others[random(others.length)](other);
        const created = new CreatedObject(own, KEY);
        await created.look();
        assert.equal(created.replaced, isThere);
        const put = (): Promise<unknown> => own.put(KEY, "bytes", { metadata: { [MARK]: created.mark } });
        const wasStored = random(5) > 0;
        if (wasStored) await put();
        let isOurs = wasStored;
        for (let steps = random(3); steps > 0; steps--) {
          const step = random(others.length + 2);
          if (step < others.length) await others[step](other);
          else if (step === others.length) await other.delete(KEY);
          else await put(); // as a request whose answer was lost and that is sent again
          isOurs = step > others.length;
        }
        // Answers are lost before and after requests are carried out.
        const faults: (Fault | undefined)[] = [undefined, undefined, "reset", "reset after", { status: 503 }];
        let lost = 0;
        store.fails(() => lost++ < 3 ? faults[random(faults.length)] : undefined);
        const before = store.objects.get(KEY);
        const outcome = await created.undo();
        const expected: Undone = isThere ? "kept" : before === undefined ? "missing" : isOurs ? "undone" : "changed";
        assert.equal(outcome, expected, `seed ${seed}`);
        assert.equal(store.objects.get(KEY), expected === "undone" ? undefined : before, `seed ${seed}`);
      }
    }));

  test(`an object that comes while the answer to a removal is lost stays: ${store}`, () =>
    withStore(async (store) => {
      store.deletesIfMatch = deletesIfMatch;
      const [own, other] = [store.bucket(), store.bucket()];
      for (const comes of others) {
        const created = new CreatedObject(own, KEY);
        store.fails(() => undefined);
        await own.put(KEY, "bytes", { metadata: { [MARK]: created.mark } });
        // The other object is stored after this one was deleted and before the store lists again.
        const { promise: stored, resolve } = Promise.withResolvers<void>();
        let refused = 0;
        let isStored = false;
        store.fails(({ operation }) => {
          if (isStored || operation === "PutObject") return undefined;
          if (store.objects.has(KEY)) {
            const isCarriedOut = operation === "DeleteObject" && (deletesIfMatch !== "refused" || ++refused > 1);
            return isCarriedOut ? "reset after" : undefined;
          }
          isStored = true;
          void comes(other).then(() => resolve());
          return { before: stored };
        });
        assert.equal(await created.undo(), "undone");
        assert.ok(isStored && store.objects.has(KEY), "theirs is lost");
        store.fails(() => undefined);
        await other.delete(KEY);
      }
    }));
}

test("an undo that the store refuses, or does not answer, keeps the object and never rejects", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    const created = new CreatedObject(bucket, KEY);
    await bucket.put(KEY, "bytes", { metadata: { [MARK]: created.mark } });
    for (const operation of ["HeadObject", "DeleteObject"]) {
      for (const fault of [{ status: 403 }, { status: 500 }, "reset"] as const) {
        store.fails((asked) => asked.operation === operation ? fault : undefined);
        assert.equal(await created.undo(), "kept");
        assert.ok(store.objects.has(KEY));
      }
    }
    store.fails(() => undefined);
    assert.equal(await created.undo(), "undone");
    assert.equal(await created.undo(), "missing");
  }));

/** Sends a form of files to a handler; resolves to the status of the answer. */
async function send(bucket: S3Bucket, files: Readonly<Record<string, string>>): Promise<number> {
  const { fetch } = createUploadHandler({
    storage: bucket,
    overwrite: true,
    name: ({ filename }) => filename,
    log: () => {},
  });
  const body = new FormData();
  for (const [name, text] of Object.entries(files)) body.append("file", new File([text], name));
  return (await fetch(new Request("http://localhost/", { method: "POST", body }))).status;
}

/** Returns the texts of a store's objects, by their keys. */
function textsOf(store: FakeStore): Record<string, string> {
  return Object.fromEntries([...store.objects].map(([key, { bytes }]) => [key, new TextDecoder().decode(bytes)]));
}

for (const deletesIfMatch of conditions) {
  for (const theirs of ["of the other form", "of this form"]) {
    const what = theirs === "of this form" ? "the same bytes" : "other bytes";

    test(`a form that fails takes nothing of another's away that has ${what}, of a store with conditions ${deletesIfMatch}`, () =>
      withStore(async (store) => {
        store.deletesIfMatch = deletesIfMatch;
        const [bucket, other] = [store.bucket({ retries: 0 }), store.bucket()];
        const reached = Promise.withResolvers<void>();
        const released = Promise.withResolvers<void>();
        store.fails(({ operation, key }) => {
          if (operation !== "PutObject" || key !== "b.txt") return undefined;
          reached.resolve();
          return { status: 403, before: released.promise };
        });
        const failing = send(bucket, { "a.txt": "of this form", "b.txt": "refused" });
        await reached.promise;
        assert.deepEqual(textsOf(store), { "a.txt": "of this form" });
        assert.equal(await send(other, { "a.txt": theirs }), 201);
        const { etag } = store.objects.get("a.txt")!;
        released.resolve();
        assert.ok(await failing >= 400);
        assert.equal(store.objects.get("a.txt")?.etag, etag);
        assert.equal(textsOf(store)["a.txt"], theirs);
      }));
  }
}

test("a form that fails leaves nothing where nothing was, and what it replaced replaced", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    await bucket.put("old", "before");
    store.fails(({ operation, key }) => operation === "PutObject" && key === "refused" ? { status: 403 } : undefined);
    const status = await send(bucket, { "old": "after", "new-1": "1", "new-2": "2", "refused": "", "new-3": "3" });
    assert.ok(status >= 400, `${status}`);
    assert.deepEqual(textsOf(store), { old: "after" });
  }));

test("of a form that fails since answers were lost, nothing is left though the store has all of it", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 1 });
    const forms: readonly Readonly<Record<string, string>>[] = [{ a: "1" }, { a: "1", b: "2", c: "3" }];
    for (const files of forms) {
      store.fails(({ operation, key }) =>
        operation === "PutObject" && key === Object.keys(files).at(-1) ? "reset after" : undefined
      );
      assert.equal(await send(bucket, files), 503);
      assert.deepEqual(textsOf(store), {});
    }
    store.fails(() => undefined);
    assert.equal(await send(bucket, { a: "1", b: "2" }), 201);
    assert.deepEqual(textsOf(store), { a: "1", b: "2" });
  }));

test("a form that comes upon another's file just before it stores its own replaces it, and does not take that away", () =>
  withStore(async (store) => {
    const [bucket, other] = [store.bucket({ retries: 0 }), store.bucket()];
    let isStored: Promise<unknown> | undefined;
    store.fails(({ operation, key }) => {
      if (operation === "PutObject" && key === "refused") return { status: 403 };
      return undefined;
    });
    const { fetch } = createUploadHandler({
      storage: bucket,
      overwrite: true,
      name: async ({ filename }) => {
        if (filename === "refused") await (isStored = other.put("a.txt", "theirs")); // a.txt was looked for already
        return filename;
      },
      log: () => {},
    });
    const body = new FormData();
    for (const name of ["a.txt", "refused"]) body.append("file", new File([`text of ${name}`], name));
    const { status } = await fetch(new Request("http://localhost/", { method: "POST", body }));
    assert.ok(status >= 400 && isStored !== undefined);
    assert.deepEqual(textsOf(store), { "a.txt": "text of a.txt" });
  }));
