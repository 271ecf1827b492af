/** Complete uploads: what responses and objects contain, and what a repeated completion must leave. */
import assert from "node:assert/strict";
import { lstatSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { type CompletedUpload, createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import type { Asked, FakeStore, Fault } from "../../s3/fake_store.ts";
import { withStore } from "../../s3/scene.ts";
import { inUploads } from "../handler/serving_handler.ts";
import { filesIn, objectsIn } from "../resumable/exchange_case.ts";

interface Scene {
  /** Sends a request; gives the status, and the location if there is one. */
  ask(method: string, path: string, fields?: Record<string, string>, body?: string): Promise<Response>;
  files(): Promise<Record<string, string>>;
}

type Use = (scene: Scene, store: FakeStore | undefined) => Promise<void>;

function sceneOf(options: UploadHandlerOptions, files: () => Promise<Record<string, string>>): Scene {
  const { fetch } = createUploadHandler({ resumable: true, overwrite: true, log: () => {}, ...options });
  return {
    files,
    ask: (method, path, fields = {}, body) => {
      const length: Record<string, string> = body === undefined ? {} : { "content-length": String(body.length) };
      const init = { method, headers: { ...length, ...fields }, ...(body !== undefined && { body }) };
      return fetch(new Request(new URL(path, "http://localhost"), init));
    },
  };
}

const storages: Readonly<Record<string, (options: Partial<UploadHandlerOptions>, use: Use) => Promise<void>>> = {
  disk: (options, use) =>
    inUploads((directory) => use(sceneOf({ directory, ...options }, () => filesIn(directory)), undefined)),
  bucket: (options, use) =>
    withStore((store) => {
      const storage = store.bucket({ retries: 0 });
      return use(sceneOf({ storage, ...options }, () => Promise.resolve(objectsIn(store))), store);
    }),
};

const TUS = { "tus-resumable": "1.0.0" };
const append = (offset: number): Record<string, string> => ({
  "content-type": "application/partial-upload",
  "upload-offset": String(offset),
  "upload-complete": "?1",
});

test("bucket: an object that is stored tells nothing by which its upload can be found", () =>
  storages.bucket({}, async ({ ask }, store) => {
    const fields = { ...TUS, "upload-length": "2", "content-type": "application/offset+octet-stream" };
    const created = await ask("POST", "/", fields, "hi");
    assert.equal(created.status, 201);
    const id = created.headers.get("location")!.slice(1);
    const objects = [...store!.objects].filter(([key]) => !key.startsWith("."));
    assert.equal(objects.length, 1);
    assert.doesNotMatch(JSON.stringify(objects[0][1].fields), new RegExp(id));
    for (const [text] of JSON.stringify(objects).matchAll(/[0-9a-f]{32}/g)) {
      assert.equal((await ask("HEAD", `/${text}`, TUS)).status, 404);
    }
  }));

/** The objects before the upload, and what another sender does once its data is stored. */
const befores: readonly (string | undefined)[] = [undefined, "v0"];

for (const [kind, within] of Object.entries(storages)) {
  for (const before of befores) {
    for (const repeated of ["HEAD", "PATCH"]) {
      test(`${kind}: an upload whose onComplete() failed is neither stored again over ${before ?? "nothing"} and a newer one, nor reported, by ${repeated}`, () => {
        let isDown = true;
        const told: string[] = [];
        const onComplete = ({ name, bytes }: CompletedUpload): void => {
          if (isDown) throw new Error("the database is down");
          told.push(`${name} ${bytes}`);
        };
        return within({ onComplete }, async ({ ask, files }) => {
          isDown = false;
          if (before !== undefined) assert.equal((await ask("PUT", "/w", {}, before)).status, 201);
          isDown = true;
          const created = await ask("PUT", "/w", { "upload-complete": "?0" }, "v1");
          const upload = created.headers.get("location")!;
          assert.equal((await ask("PATCH", upload, append(2), "")).status, 500);
          assert.deepEqual(await files(), { w: "v1" });
          isDown = false;
          told.length = 0;
          assert.equal((await ask("PUT", "/w", {}, "v2, newer")).status, 200);
          const done = repeated === "HEAD" ? await ask("HEAD", upload) : await ask("PATCH", upload, append(2), "");
          assert.equal(done.status, 409);
          assert.deepEqual(told, ["w 9"]);
          assert.deepEqual(await files(), { w: "v2, newer" });
          assert.equal((await ask("HEAD", upload)).status, 404);
        });
      });
    }
  }
}

test("disk: an upload whose file onComplete() moved before it failed is not reported again", () =>
  inUploads(async (directory) => {
    let calls = 0;
    const onComplete = ({ path }: CompletedUpload): void => {
      if (calls++ > 0) return;
      renameSync(path!, join(directory, "moved"));
      throw new Error("the database is down");
    };
    const { ask, files } = sceneOf({ directory, onComplete }, () => filesIn(directory));
    const upload = (await ask("PUT", "/w", { "upload-complete": "?0" }, "v1")).headers.get("location")!;
    assert.equal((await ask("PATCH", upload, append(2), "")).status, 500);
    assert.equal((await ask("HEAD", upload)).status, 409);
    assert.deepEqual([calls, await files()], [1, { moved: "v1" }]);
  }));

test("disk: an upload whose onComplete() failed is reported again on a runtime that gives times in ms", () =>
  inUploads(async (directory) => {
    let calls = 0;
    const onComplete = ({ path }: CompletedUpload): void => {
      if (calls++ > 0) return;
      const time = (Math.floor(lstatSync(path!).mtimeMs) + 0.5) / 1000;
      utimesSync(path!, time, time);
      throw new Error("the database is down");
    };
    const { ask } = sceneOf({ directory, onComplete }, () => filesIn(directory));
    const upload = (await ask("PUT", "/w", { "upload-complete": "?0" }, "v1")).headers.get("location")!;
    assert.equal((await ask("PATCH", upload, append(2), "")).status, 500);
    assert.equal((await ask("HEAD", upload)).status, 204);
    assert.equal(calls, 2);
  }));

test("bucket: a first attempt to store an upload replaces what another sender has just stored", () =>
  storages.bucket({}, async ({ ask, files }, store) => {
    const other = store!.bucket();
    const upload = (await ask("PUT", "/w", { "upload-complete": "?0" }, "v1")).headers.get("location")!;
    let stored: Promise<unknown> | undefined;
    store!.fails(({ operation, key }) => {
      if (operation !== "PutObject" || !key.includes("record-2")) return undefined;
      return { before: (stored = other.put("w", "v2")).then(() => {}) };
    });
    assert.ok((await ask("PATCH", upload, append(2), "")).ok);
    assert.ok(stored !== undefined);
    assert.deepEqual(await files(), { w: "v1" });
  }));

test("bucket: an upload whose join failed is stored by a repetition, over what was there before", () =>
  storages.bucket({}, async ({ ask, files }, store) => {
    assert.equal((await ask("PUT", "/w", {}, "v0")).status, 201);
    const created = await ask("PUT", "/w", { "upload-complete": "?0" }, "v1");
    const upload = created.headers.get("location")!;
    store!.fails(({ key, operation }) => key === "w" && operation !== "HeadObject" ? { status: 500 } : undefined);
    assert.equal((await ask("PATCH", upload, append(2), "")).status, 503);
    assert.deepEqual(await files(), { w: "v0" });
    store!.fails(() => undefined);
    assert.equal((await ask("PATCH", upload, append(2), "")).status, 200);
    assert.deepEqual(await files(), { w: "v1" });
  }));

/** Refusals by a store that no repetition changes: what the sender gets, and of later requests. */
const refusals: readonly [status: number, code: string, told: number, problem: string][] = [
  [409, "ObjectParentIsFile", 409, "NO_FOLDER"],
  [409, "ExistingObjectIsDirectory", 409, "EXISTS"],
  [400, "KeyTooLongError", 400, "BAD_NAME"],
];

for (const [status, code, told, problem] of refusals) {
  test(`bucket: a store's ${code} is final, and ends an upload`, () =>
    storages.bucket({}, async ({ ask, files }, store) => {
      const fault = ({ key, operation }: Asked): Fault | undefined =>
        key === "w" && operation !== "HeadObject" ? { status, code } : undefined;
      store!.fails(fault);
      const put = await ask("PUT", "/w", {}, "hello");
      assert.deepEqual([put.status, (await put.json()).code], [told, problem]);
      const created = await ask("PUT", "/w", { "upload-complete": "?0" }, "v1");
      const upload = created.headers.get("location")!;
      const last = await ask("PATCH", upload, append(2), "");
      assert.deepEqual([last.status, (await last.json()).code], [told, problem]);
      assert.equal((await ask("HEAD", upload)).status, 404);
      assert.deepEqual(await files(), {});
    }));
}
