/** A failure of the store, or of the disk for parts, has its own code in the response, by every way into a bucket. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { createUploadHandler, saveForm } from "../../../lib/upload/mod.ts";
import type { S3Bucket } from "../../../lib/s3/mod.ts";
import type { FakeStore } from "../../s3/fake_store.ts";
import { bytesOf, withStore } from "../../s3/scene.ts";
import { pause } from "../../support/waits.ts";
import { cannotMount, onSmallDisk } from "../faults/small_disk.ts";

const MIB = 2 ** 20;
const TUS = { "tus-resumable": "1.0.0" };
const DATA = { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": "0" };

type Send = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array<ArrayBuffer> | FormData,
) => Promise<Response>;

function formOf(bytes: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.append("f", new File([bytes], "x.bin"));
  return form;
}

const ways: Readonly<Record<string, (send: Send, bytes: Uint8Array<ArrayBuffer>) => Promise<Response>>> = {
  PUT: (send, bytes) => send("PUT", "/x.bin", {}, bytes),
  form: (send, bytes) => send("POST", "/", {}, formOf(bytes)),
  "tus, PATCH": async (send, bytes) => {
    const created = await send("POST", "/", { ...TUS, "upload-length": String(bytes.length) }, new Uint8Array());
    return await send("PATCH", created.headers.get("location")!, DATA, bytes);
  },
  "draft, PUT": (send, bytes) => send("PUT", "/x.bin", { "upload-complete": "?1" }, bytes),
};

/** Sends bytes by a way; gives status and code of the response, and the names of the logged errors. */
async function sent(
  storage: S3Bucket,
  way: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<[number, string, string[]]> {
  const names: string[] = [];
  const { fetch } = createUploadHandler({
    storage,
    resumable: true,
    log: ({ error }) => {
      for (let each = error as Error | undefined; each; each = each.cause as Error | undefined) names.push(each.name);
    },
  });
  const response = await ways[way]((method, path, headers, body) => {
    const length: Record<string, string> = body instanceof FormData ? {} : { "content-length": String(body.length) };
    return fetch(new Request(new URL(path, "http://localhost"), { method, headers: { ...headers, ...length }, body }));
  }, bytes);
  return [response.status, (await response.json()).code, names];
}

/** Lets the first part fail once the store has all bytes, while the handler waits for a HEAD of the name. */
function failLate(store: FakeStore): void {
  store.fails(({ operation }) => {
    if (operation === "PutPart") return { status: 503, code: "SlowDown", before: pause(150) };
    return operation === "HeadObject" ? { before: pause(500) } : undefined;
  });
}

for (const way of Object.keys(ways)) {
  test(`${way}: a part that fails after its last byte is told as the store's failure`, () =>
    withStore(async (store) => {
      failLate(store);
      const [status, code, names] = await sent(store.bucket({ retries: 0 }), way, bytesOf(9 * MIB));
      assert.deepEqual([status, code], [503, "BUSY"]);
      assert.ok(names.includes("S3Error"), names.join());
    }));

  test(`${way}: a full disk for parts is NO_SPACE`, { skip: cannotMount }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-parts-"));
    try {
      await onSmallDisk(folder, 1, (temporary) =>
        withStore(async (store) => {
          const storage = store.bucket({ memory: 0, temporary });
          const [status, code] = await sent(storage, way, bytesOf(6 * MIB));
          assert.deepEqual([status, code], [507, "NO_SPACE"]);
        }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

test("saveForm(): a part that fails after its last byte is the error that it rejects with", () =>
  withStore(async (store) => {
    const bucket = store.bucket({ retries: 0 });
    store.fails(({ operation }) =>
      operation === "PutPart" ? { status: 503, code: "SlowDown", before: pause(150) } : undefined
    );
    // The second file is opened once the stream of the first has failed.
    const form = formOf(bytesOf(9 * MIB));
    form.append("f", new File(["x"], "last"));
    const failed = saveForm(new Request("http://localhost/", { method: "POST", body: form }), async ({ filename }) => {
      if (filename === "last") await pause(300);
      return bucket.writable(filename);
    });
    await assert.rejects(failed, { name: "S3Error", code: "SlowDown" });
  }));
