/** Forms of which one file fails: the others are removed where no other sender's object can be hit. */
import assert from "node:assert/strict";
import test from "node:test";
import type { S3Bucket } from "../../../lib/s3/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { pause, until } from "../../support/waits.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import type { FakeStore, Fault, Rules } from "../../s3/fake_store.ts";
import { withStore } from "../../s3/scene.ts";

type Send = (files: Readonly<Record<string, string>>) => Promise<Response>;

/** Returns the sender of forms to a handler. */
function senderTo(storage: S3Bucket, overwrite: boolean): Send {
  const { fetch } = createUploadHandler({ storage, overwrite, name: ({ filename }) => filename, log: () => {} });
  return (files) => {
    const body = new FormData();
    for (const [name, text] of Object.entries(files)) body.append("file", new File([text], name));
    return fetch(new Request("http://localhost/", { method: "POST", body }));
  };
}

/** Returns the texts of a store's objects, by their keys. */
function textsOf(store: FakeStore): Record<string, string> {
  return Object.fromEntries([...store.objects].map(([key, { bytes }]) => [key, new TextDecoder().decode(bytes)]));
}

interface Kind {
  readonly overwrite: boolean;
  readonly rules: Rules;
}

const kinds: Readonly<Record<string, Kind>> = {
  "names that nothing may replace": { overwrite: false, rules: {} },
  "names that may be replaced": { overwrite: true, rules: {} },
  "a bucket with versions": { overwrite: true, rules: { keepsVersions: true } },
};

for (const [kind, { overwrite, rules }] of Object.entries(kinds)) {
  for (const deletesIfMatch of overwrite ? ["known"] as const : ["ignored", "refused"] as const) {
    test(`${kind}, conditions of removals ${deletesIfMatch}: no failed form removes an acknowledged object, however requests overtake each other`, () =>
      withStore(async (store) => {
        store.rules = rules;
        store.deletesIfMatch = deletesIfMatch;
        const random = randomNumbers(7919);
        const carriedOut: Promise<void>[] = [];
        const faultOf = (): Fault => {
          const kind = random(12);
          const waiting = pause(random(kind === 0 ? 60 : 6));
          carriedOut.push(waiting);
          if (kind === 0) return { late: waiting };
          return kind === 1
            ? "reset"
            : kind === 2
            ? "reset after"
            : kind < 5
            ? { until: waiting }
            : { before: waiting };
        };
        store.fails(({ operation, key }) => {
          if (operation === "PutObject" && key.endsWith("refused")) return { status: 403 };
          return faultOf();
        });
        const buckets = [0, 1].map((retries) => store.bucket({ retries }));
        const sends = buckets.map((bucket) => senderTo(bucket, overwrite));
        const acknowledged: string[] = [];
        await Promise.all(Array.from({ length: 48 }, async (_, sender) => {
          const key = (name: string): string => `${sender >> 2}-${name}`;
          await pause(random(40));
          const names = [["a"], ["a", "b"], ["b", "a"], ["a", "refused"]][random(4)].map(key);
          const { ok } = await sends[random(2)](Object.fromEntries(names.map((name) => [name, "equal bytes"])));
          if (ok) acknowledged.push(...names);
        }));
        await Promise.all(carriedOut);
        await pause(5);
        assert.ok(acknowledged.length > 0);
        assert.deepEqual(acknowledged.filter((key) => !store.objects.has(key)), []);
      }));
  }

  test(`${kind}: a form that fails leaves what it can't be sure to remove, and its answer names that`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const send = senderTo(store.bucket({ retries: 0 }), overwrite);
      await send({ old: "before" });
      store.fails(({ operation, key }) => operation === "PutObject" && key === "refused" ? { status: 403 } : undefined);
      const stays = overwrite && !rules.keepsVersions;
      const files = { ...(overwrite && { old: "after" }), "new-1": "1", "new-2": "2", "refused": "", "new-3": "3" };
      const response = await send(files);
      assert.equal(response.status, 500);
      const left = { old: "after", "new-1": "1", "new-2": "2" };
      assert.deepEqual(textsOf(store), stays ? left : { old: "before" });
      assert.deepEqual((await response.json()).kept, stays ? Object.keys(left) : undefined);
    }));

  test(`${kind}: the last file is removed, too, if only its answer was lost`, () =>
    withStore(async (store) => {
      store.rules = rules;
      const send = senderTo(store.bucket({ retries: 0 }), overwrite);
      store.fails(({ operation, key }) => operation === "PutObject" && key === "b" ? "reset after" : undefined);
      const response = await send({ a: "1", b: "2" });
      assert.equal(response.status, 503);
      const { kept = [] } = await response.json();
      assert.deepEqual(Object.keys(textsOf(store)), kept);
      assert.equal(kept.length, overwrite && !rules.keepsVersions ? 2 : 0);
    }));
}

test("of a form that fails, another sender's object of equal bytes stays", () =>
  withStore(async (store) => {
    const [bucket, other] = [store.bucket({ retries: 0 }), store.bucket()];
    const send = senderTo(bucket, false);
    store.fails(({ operation, key }) => {
      if (operation !== "PutObject" || key !== "refused") return undefined;
      // As by an application that moves objects.
      return { status: 403, before: other.delete("a").then(() => other.put("a", "1")).then(() => {}) };
    });
    assert.equal((await send({ a: "1", refused: "" })).status, 500);
    assert.deepEqual(textsOf(store), { a: "1" });
  }));

test("an upload whose answer was lost does not take a failing form's equal object for its own", () =>
  withStore(async (store) => {
    const [send, other] = [store.bucket({ retries: 1 }), store.bucket()].map((bucket) => senderTo(bucket, false));
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    store.fails(({ index, operation, key }) => {
      if (index === 0) return { status: 500, before: reached.promise };
      if (operation !== "PutObject" || key !== "refused") return undefined;
      reached.resolve();
      return { status: 403, before: released.promise };
    });
    const first = send({ a: "1" });
    await until(() => store.asked.length > 0, "the first request");
    const failing = other({ a: "1", refused: "" });
    assert.equal((await first).status, 409);
    released.resolve();
    assert.equal((await failing).status, 500);
    assert.deepEqual(textsOf(store), {});
  }));

for (const overwrite of [false, true]) {
  test(`without the right to remove versions, a form that fails leaves only what may have replaced others, with overwrite: ${overwrite}`, () =>
    withStore(async (store) => {
      store.rules = { keepsVersions: true };
      const send = senderTo(store.bucket({ retries: 0 }), overwrite);
      store.fails(({ operation, key, query }) => {
        const isRefused = operation === "PutObject" ? key === "refused" : query.has("versionId");
        return isRefused ? { status: 403 } : undefined;
      });
      const response = await send({ a: "1", refused: "" });
      assert.deepEqual((await response.json()).kept, overwrite ? ["a"] : undefined);
      assert.deepEqual(textsOf(store), overwrite ? { a: "1" } : {});
    }));
}

test("without the right to read, the files that a failed form stored are reported, and none that it did not store", () =>
  withStore(async (store) => {
    const send = senderTo(store.bucket({ retries: 0 }), false);
    store.fails(({ operation, key }) => operation === "HeadObject" || key === "refused" ? { status: 403 } : undefined);
    assert.deepEqual((await (await send({ a: "1", refused: "" })).json()).kept, ["a"]);
    assert.deepEqual(textsOf(store), { a: "1" });
  }));

test("a removal that fails is reported, and not sent again", () =>
  withStore(async (store) => {
    const send = senderTo(store.bucket(), false);
    for (const fault of [{ status: 403 }, { status: 503 }, "reset"] as const) {
      store.objects.clear();
      store.asked.length = 0;
      store.fails(({ operation, key }) => {
        if (operation === "DeleteObject") return fault;
        return operation === "PutObject" && key === "refused" ? { status: 403 } : undefined;
      });
      const response = await send({ a: "1", refused: "" });
      assert.deepEqual((await response.json()).kept, ["a"]);
      assert.deepEqual(store.asked.filter((each) => each.startsWith("DeleteObject")), ["DeleteObject a"]);
    }
  }));
