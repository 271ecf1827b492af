/** Resumable uploads whose name is in a folder of another file system than their data, as a volume of a container is. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { ProcessLock } from "../../../lib/files/internal.ts";
import { createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { DiskSession, folderOf, recordIn } from "../../../lib/upload/session/disk_session.ts";
import type { SessionRecord } from "../../../lib/upload/session/session_storage.ts";
import { cannotMount, onSmallDisk } from "../faults/small_disk.ts";
import { inUploads } from "../handler/serving_handler.ts";
import { filesIn } from "./exchange_case.ts";

const TUS = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };
const LAST = { "content-type": "application/partial-upload", "upload-offset": "5", "upload-complete": "?1" };

type Ask = (method: string, path: string, fields: Record<string, string>, body?: string) => Promise<Response>;

/** Serves uploads into a folder with the folder `disk`, which another file system has, while `use` runs. */
function onOtherDisk(
  options: Partial<UploadHandlerOptions>,
  use: (ask: Ask, directory: string) => Promise<void>,
): Promise<void> {
  return inUploads((directory) =>
    onSmallDisk(directory, 1, () => {
      const { fetch } = createUploadHandler({ directory, resumable: true, log: () => {}, ...options });
      return use((method, path, fields, body) => {
        const length: Record<string, string> = body === undefined ? {} : { "content-length": String(body.length) };
        const init = { method, headers: { ...length, ...fields }, ...(body !== undefined && { body }) };
        return fetch(new Request(new URL(path, "http://localhost"), init));
      }, directory);
    })
  );
}

async function draft(ask: Ask, fields: Record<string, string> = {}): Promise<number> {
  const created = await ask("PUT", "/disk/note", { "upload-complete": "?0", ...fields }, "first");
  if (!created.ok) return created.status;
  const upload = created.headers.get("location")!;
  const { status } = await ask("PATCH", upload, LAST, " last");
  const repeated = await ask("PATCH", upload, { ...LAST, "upload-offset": "10" }, "");
  assert.equal(repeated.status, status < 400 ? status : 404);
  return status;
}

for (const flush of [false, true]) {
  test(
    `an upload gets its name on another file system, with flush: ${flush}`,
    { skip: cannotMount },
    () =>
      onOtherDisk({ flush }, async (ask, directory) => {
        assert.equal(await draft(ask), 201);
        assert.deepEqual(await filesIn(directory), { "disk/note": "first last" });
        assert.deepEqual(readdirSync(join(directory, "disk")), ["note"], "a temporary file stays");
        assert.equal(await draft(ask), 409);
      }),
  );
}

for (const isReplaced of [false, true]) {
  test(
    `an upload whose onComplete() failed is reported again from another file system only with its own file${
      isReplaced ? ", not another's" : ""
    }`,
    { skip: cannotMount },
    () => {
      let calls = 0;
      const onComplete = (): void => {
        if (calls++ === 0) throw new Error("the database is down");
      };
      return onOtherDisk({ onComplete, overwrite: true }, async (ask, directory) => {
        const created = await ask("PUT", "/disk/note", { "upload-complete": "?0" }, "first");
        const upload = created.headers.get("location")!;
        assert.equal((await ask("PATCH", upload, LAST, "")).status, 500);
        if (isReplaced) writeFileSync(join(directory, "disk/note"), "other");
        assert.equal((await ask("HEAD", upload, {})).status, isReplaced ? 409 : 204);
        assert.equal(calls, isReplaced ? 1 : 2);
        assert.deepEqual(await filesIn(directory), { "disk/note": isReplaced ? "other" : "first" });
      });
    },
  );
}

for (const overwrite of [false, true]) {
  test(
    `a file with its name on another file system is stored, though the server ends then, with overwrite: ${overwrite}`,
    { skip: cannotMount },
    () =>
      onOtherDisk({}, async (_, directory) => {
        const folder = folderOf(directory, "id");
        const [data, file] = [join(folder, "data"), join(directory, "disk/note")];
        const isStored = (): boolean => existsSync(file) && readFileSync(file, "utf8") === "first";
        const ended = (): void => assert.ok(!isStored(), "the server notes more");
        const lock = { requireHeld: ended } as unknown as ProcessLock;
        const open = (record: object): DiskSession =>
          new DiskSession("id", directory, {}, lock, record as SessionRecord);
        mkdirSync(folder, { recursive: true });
        writeFileSync(data, "first");
        const first = open({});
        await first.save({ version: 1, state: "storing", fields: {} } as unknown as SessionRecord);
        if (overwrite) writeFileSync(file, "another sender's");
        await first.store("disk/note", { overwrite, claim: undefined });
        for (const isLeft of [true, false]) {
          if (isLeft) writeFileSync(data, "first");
          await open(recordIn(folder)!).store("disk/note", { overwrite, claim: undefined });
          assert.ok(!existsSync(data));
        }
        assert.deepEqual(await filesIn(directory), { "disk/note": "first" });
      }),
  );
}

test(
  "an upload by tus gets its name on another file system",
  { skip: cannotMount },
  () =>
    onOtherDisk({ name: () => "disk/note" }, async (ask, directory) => {
      assert.equal((await ask("POST", "/", { ...TUS, "upload-length": "5" }, "hello")).status, 201);
      assert.deepEqual(await filesIn(directory), { "disk/note": "hello" });
    }),
);

test(
  "an upload replaces a file on another file system under its conditions only",
  { skip: cannotMount },
  () =>
    onOtherDisk({ overwrite: true }, async (ask, directory) => {
      assert.equal((await ask("PUT", "/disk/note", {}, "former")).status, 201);
      assert.equal(await draft(ask, { "if-none-match": "*" }), 412);
      assert.deepEqual(await filesIn(directory), { "disk/note": "former" });
      assert.equal(await draft(ask, { "if-match": "*" }), 200);
      assert.deepEqual(await filesIn(directory), { "disk/note": "first last" });
    }),
);

test("an upload that another file system has no room for is 507, and gets its name once there is room", {
  skip: cannotMount,
}, () =>
  onOtherDisk({ overwrite: true }, async (ask, directory) => {
    const rest = "x".repeat(600_000);
    assert.equal((await ask("PUT", "/disk/large", {}, rest)).status, 201);
    const created = await ask("PUT", "/disk/note", { "upload-complete": "?0" }, "first");
    const upload = created.headers.get("location")!;
    assert.equal((await ask("PATCH", upload, LAST, rest)).status, 507);
    assert.equal((await ask("PUT", "/disk/large", {}, "")).status, 200);
    const again = { ...LAST, "upload-offset": String(5 + rest.length) };
    assert.equal((await ask("PATCH", upload, again, "")).status, 201);
    assert.equal((await filesIn(directory))["disk/note"], `first${rest}`);
  }));
