import assert from "node:assert/strict";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import test, { mock } from "node:test";
import { isLockName, LockLostError } from "../../lib/files/internal.ts";
import { Folder } from "../../lib/precompress/folder.ts";
import { Journal } from "../../lib/precompress/journal.ts";
import { createUploadHandler } from "../../lib/upload/mod.ts";
import { DiskSessions } from "../../lib/upload/session/disk_sessions.ts";
import type { SessionRecord } from "../../lib/upload/session/session_storage.ts";
import { inFolder } from "../support/folders.ts";
import { until, within } from "../support/waits.ts";

/**
 * Removes the lock in a folder as another process does, after a sleep that is long enough for the holder to check the
 * lock: a sleep of the process, or of the machine, which only the clock of the day shows.
 */
async function lose(folder: string, slept: "process" | "machine" = "process"): Promise<() => void> {
  const locks = (await readdir(folder)).filter(isLockName);
  assert.equal(locks.length, 1);
  await rm(join(folder, locks[0]));
  const timer = slept === "process" ? performance : Date;
  const { now } = timer;
  const clock = mock.method(timer, "now", () => now.call(timer) + 20_000);
  return () => clock.mock.restore();
}

for (const slept of ["process", "machine"] as const) {
  test(`a run whose folder another one took over while its ${slept} slept notes nothing more, so that no file gets its name`, () =>
    inFolder(async (folder) => {
      const journal = await Journal.open(new Folder(folder), { copied: false, toRemove: false, expected: undefined });
      const entry = { path: "a.js", record: { size: 0, sha256: "0".repeat(64), variants: {} } };
      journal.append(entry);
      const awake = await lose(folder, slept);
      try {
        assert.throws(() => journal.append(entry), LockLostError);
        assert.throws(() => journal.requireHeld(), {
          message: /^Another process has taken over the folder .*: try again$/,
        });
      } finally {
        awake();
        journal.leave();
      }
    }));
}

test("a holder of an upload that another one took over writes nothing more, and acknowledges nothing", () =>
  inFolder(async (folder) => {
    const record = { version: 1, protocol: "tus", fields: {}, state: "open" } as unknown as SessionRecord;
    const id = "0".repeat(32);
    const hold = await new DiskSessions(folder, {}).create(id, record, () => {});
    await hold.append([new TextEncoder().encode("hello")]);
    const awake = await lose(join(folder, ".millrace-uploads", id));
    try {
      await assert.rejects(hold.append([new TextEncoder().encode("world")]), LockLostError);
      await assert.rejects(hold.settle(), LockLostError);
      await assert.rejects(hold.save(record), LockLostError);
      await assert.rejects(hold.dropDoubted(), LockLostError);
      await assert.rejects(hold.remove(), LockLostError);
      assert.equal(hold.offset, 5);
    } finally {
      awake();
      await hold.release();
    }
  }));

test("the sender of an upload that another server took over is told to ask again", () =>
  inFolder(async (folder) => {
    const { fetch } = createUploadHandler({ directory: folder, resumable: true, log: () => {} });
    const created = await fetch(
      new Request("http://localhost/note", { method: "PUT", headers: { "Upload-Complete": "?0" }, body: "" }),
    );
    const upload = created.headers.get("location")!;
    const session = join(folder, ".millrace-uploads", upload);
    const { promise: stalled, resolve: goOn } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await stalled;
        controller.enqueue(new TextEncoder().encode("hello"));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const headers = {
      "Content-Type": "application/partial-upload",
      "Upload-Offset": "0",
      "Upload-Complete": "?1",
    };
    const init = { method: "PATCH", headers, body, duplex: "half" } as RequestInit;
    const appending = fetch(new Request(`http://localhost${upload}`, init));
    await until(async () => (await readdir(session)).some(isLockName), "the request has the upload");
    const awake = await lose(session);
    try {
      goOn();
      const response = await within(appending, "the append");
      assert.equal(response.status, 423, await response.clone().text());
      assert.equal(response.headers.get("retry-after"), "1");
      assert.equal((await response.json()).detail, "Another request has taken the upload over");
    } finally {
      awake();
    }
  }));
