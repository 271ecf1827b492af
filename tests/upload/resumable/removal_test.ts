import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pidNamespace } from "../../../lib/files/internal.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { until, within } from "../../support/waits.ts";
import { cannotMount, onDiskOfFewFiles, onSmallDisk } from "../faults/small_disk.ts";

const MIB = 2 ** 20;
const SESSIONS = ".millrace-uploads";
const TUS = { "Tus-Resumable": "1.0.0" };
const DATA = { ...TUS, "Content-Type": "application/offset+octet-stream" };

type Handler = ReturnType<typeof createUploadHandler>;

/** Two protocols: how an upload is begun and continued. */
const protocols = {
  tus: {
    fields: TUS as Record<string, string>,
    begin: ["POST", "/", { ...TUS, "Upload-Length": String(4 * MIB) }],
    append: { ...DATA, "Upload-Offset": "0" },
  },
  draft: {
    fields: {} as Record<string, string>,
    begin: ["PUT", "/note", { "Upload-Complete": "?0" }],
    append: { "Content-Type": "application/partial-upload", "Upload-Offset": "0", "Upload-Complete": "?0" },
  },
} as const;

type Protocol = keyof typeof protocols;

function handlerOf(directory: string, maxAge?: number): Handler {
  const resumable = maxAge === undefined ? true : { maxAge };
  return createUploadHandler({ directory, resumable, log: () => {}, name: () => "note" });
}

async function ask(
  { fetch }: Handler,
  method: string,
  path: string,
  fields: Readonly<Record<string, string>>,
  body?: Uint8Array<ArrayBuffer>,
): Promise<Response> {
  const headers = { ...fields, ...(body && { "Content-Length": String(body.length) }) };
  const request = new Request(`http://localhost${path}`, { method, headers, ...(body && { body }) });
  return await within(fetch(request), `${method} ${path}`);
}

/** Begins an upload; gives its path. */
async function begun(handler: Handler, protocol: Protocol): Promise<string> {
  const [method, path, fields] = protocols[protocol].begin;
  const response = await ask(handler, method, path, fields, new Uint8Array(0));
  assert.equal(response.status, 201, await response.text());
  return response.headers.get("location")!;
}

/** Begins an upload, and appends as much to it as the disk takes. */
async function filled(handler: Handler, protocol: Protocol): Promise<string> {
  const upload = await begun(handler, protocol);
  const { append } = protocols[protocol];
  const response = await ask(handler, "PATCH", upload, append, Buffer.alloc(4 * MIB, 1));
  assert.equal(response.status, 507, await response.text());
  return upload;
}

/** Takes all of a disk's names. */
function takeNames(disk: string): void {
  try {
    for (let i = 0;; i++) writeFileSync(join(disk, `filler ${i}`), "");
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, "ENOSPC");
  }
}

/** Makes an upload look as if it had not been touched for long. */
function age(disk: string, upload: string): void {
  for (const name of ["data", "record.json"]) utimesSync(join(disk, SESSIONS, upload, name), 1e9, 1e9);
}

for (const protocol of ["tus", "draft"] as const) {
  const { fields } = protocols[protocol];

  test(
    `${protocol}: on a full disk an upload is told of, and removed by DELETE with the room that it took`,
    { skip: cannotMount },
    () =>
      inFolder((folder) =>
        onSmallDisk(folder, 2, async (disk) => {
          const handler = handlerOf(disk);
          const upload = await filled(handler, protocol);
          const { bavail, bsize } = statfsSync(disk);
          assert.ok(bavail * bsize < 16 * 1024, "it is full");
          assert.ok((await ask(handler, "HEAD", upload, fields)).ok);
          const response = await ask(handler, "DELETE", upload, fields);
          assert.equal(response.status, 204, await response.text());
          assert.ok(statfsSync(disk).bavail * bsize > 1.8 * MIB, "there is room again");
          assert.deepEqual(readdirSync(join(disk, SESSIONS)), []);
          assert.equal((await ask(handler, "HEAD", upload, fields)).status, 404);
        })
      ),
  );

  test(
    `${protocol}: on a disk without room for a name an upload is removed by DELETE`,
    { skip: cannotMount },
    () =>
      inFolder((folder) =>
        onDiskOfFewFiles(folder, 20, async (disk) => {
          const handler = handlerOf(disk);
          const upload = await begun(handler, protocol);
          takeNames(disk);
          const response = await ask(handler, "DELETE", upload, fields);
          assert.equal(response.status, 204, await response.text());
          assert.deepEqual(readdirSync(join(disk, SESSIONS)), []);
        })
      ),
  );

  test(
    `${protocol}: expired uploads that fill a disk, or take its last names, are removed`,
    { skip: cannotMount },
    () =>
      inFolder(async (folder) => {
        await onSmallDisk(folder, 2, async (disk) => {
          age(disk, await filled(handlerOf(disk), protocol));
          handlerOf(disk, 60_000);
          await until(() => readdirSync(join(disk, SESSIONS)).length === 0, "the removal");
        });
        await inFolder((other) =>
          onDiskOfFewFiles(other, 20, async (disk) => {
            age(disk, await begun(handlerOf(disk), protocol));
            takeNames(disk);
            handlerOf(disk, 60_000);
            await until(() => readdirSync(join(disk, SESSIONS)).length === 0, "the removal");
          })
        );
      }),
  );
}

test(
  "on a full disk an upload is removed whose last checksum was not verified",
  { skip: cannotMount },
  () =>
    inFolder((folder) =>
      onSmallDisk(folder, 2, async (disk) => {
        const handler = handlerOf(disk);
        const upload = await begun(handler, "tus");
        const record = join(disk, SESSIONS, upload, "record.json");
        writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, "utf8")), verified: 0 }));
        assert.throws(() => writeFileSync(join(disk, SESSIONS, upload, "data"), Buffer.alloc(3 * MIB)));
        const response = await ask(handler, "DELETE", upload, TUS);
        assert.equal(response.status, 204, await response.text());
        assert.deepEqual(readdirSync(join(disk, SESSIONS)), []);
      })
    ),
);

test("an upload whose removal was cut off is gone for its sender, and its files go with the next sweep", () =>
  inFolder(async (folder) => {
    const handler = handlerOf(folder);
    const [kept, removed] = [await begun(handler, "tus"), await begun(handler, "tus")];
    rmSync(join(folder, SESSIONS, removed, "record.json"));
    const old = Date.now() / 1000 - 10;
    for (const upload of [kept, removed]) utimesSync(join(folder, SESSIONS, upload, "data"), old, old);
    assert.equal((await ask(handler, "HEAD", removed, TUS)).status, 404);
    handlerOf(folder, 60_000);
    await until(() => readdirSync(join(folder, SESSIONS)).length === 1, "the removal");
    assert.ok((await ask(handler, "HEAD", kept, TUS)).ok);
  }));

for (const protocol of ["tus", "draft"] as const) {
  test(
    `${protocol}: a DELETE that cannot remove the record fails, and leaves the upload whole`,
    { skip: cannotMount },
    () =>
      inFolder(async (folder) => {
        const { fields, append } = protocols[protocol];
        const handler = handlerOf(folder);
        const upload = await begun(handler, protocol);
        assert.equal((await ask(handler, "PATCH", upload, append, Buffer.from("hello"))).status, 204);
        const session = join(folder, SESSIONS, upload);
        // Neither can be renamed or removed while it is a mount point.
        const points = [session, join(session, "record.json")];
        for (const point of points) assert.equal(spawnSync("mount", ["--bind", point, point]).status, 0);
        try {
          assert.equal((await ask(handler, "DELETE", upload, fields)).status, 500);
          const { headers } = await ask(handler, "HEAD", upload, fields);
          assert.equal(headers.get("upload-offset"), "5");
        } finally {
          for (const point of points.reverse()) spawnSync("umount", ["--lazy", point]);
        }
        assert.equal((await ask(handler, "DELETE", upload, fields)).status, 204);
        assert.equal((await ask(handler, "HEAD", upload, fields)).status, 404);
        assert.deepEqual(readdirSync(join(folder, SESSIONS)), []);
      }),
  );
}

test("an upload is removed with what dead holders of any version left in it", () =>
  inFolder(async (folder) => {
    const handler = handlerOf(folder);
    const upload = await begun(handler, "tus");
    const dead = `${pidNamespace()}.${2 ** 30}.${2 ** 30}.1-01234567`;
    for (const name of [`.millrace-lock-${dead}`, `.millrace-lock-${dead}-wanted`, "lock.7", "lock.6.free", "wanted"]) {
      writeFileSync(join(folder, SESSIONS, upload, name), "");
    }
    assert.equal((await ask(handler, "DELETE", upload, TUS)).status, 204);
    assert.deepEqual(readdirSync(join(folder, SESSIONS)), []);
  }));

test("a sweep removes folders that an earlier version left, and neither follows links nor fails at files", () =>
  inFolder(async (folder) => {
    const place = (name: string): string => join(folder, SESSIONS, name);
    const [id, other] = ["0".repeat(32), "1".repeat(32)];
    for (const name of [`.removed-${id}`, "victim"]) {
      mkdirSync(place(name), { recursive: true });
      writeFileSync(join(place(name), "data"), "bytes");
      for (const path of [join(place(name), "data"), place(name)]) utimesSync(path, 1e9, 1e9);
    }
    writeFileSync(place(id), "a file");
    symlinkSync(place("victim"), place(other), "junction");
    const handler = handlerOf(folder);
    await begun(handler, "tus");
    await until(() => !readdirSync(join(folder, SESSIONS)).includes(`.removed-${id}`), "the sweep");
    assert.deepEqual(readdirSync(place("victim")), ["data"]);
    assert.deepEqual([id, other].map((name) => readdirSync(join(folder, SESSIONS)).includes(name)), [true, true]);
  }));

test("an upload that another request has is not removed when it looks expired", () =>
  inFolder(async (folder) => {
    const handler = handlerOf(folder);
    const upload = await begun(handler, "tus");
    const { promise: stalled, resolve: goOn } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode("hello"));
        await stalled;
        controller.close();
      },
    }, { highWaterMark: 0 });
    const headers = { ...DATA, "Upload-Offset": "0" };
    const init = { method: "PATCH", headers, body, duplex: "half" } as RequestInit;
    const appending = handler.fetch(new Request(`http://localhost${upload}`, init));
    const data = join(folder, SESSIONS, upload, "data");
    await until(() => readFileSync(data, "utf8") === "hello", "the append");
    age(folder, upload);
    const expired = await begun(handler, "tus");
    age(folder, expired);
    handlerOf(folder, 60_000);
    await until(() => readdirSync(join(folder, SESSIONS)).length === 1, "the removal of the other");
    goOn();
    assert.equal((await within(appending, "the append")).status, 204);
    assert.equal(readFileSync(data, "utf8"), "hello");
  }));
