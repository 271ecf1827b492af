import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pause } from "../support/waits.ts";
import { listed } from "../support/folders.ts";
import { content, GoodUploads } from "../upload/faults/good_uploads.ts";
import { assertStored } from "../upload/faults/unhurt.ts";
import { UploadConnection } from "../upload/faults/upload_connection.ts";
import { chunk, chunked, head } from "../upload/faults/upload_messages.ts";
import { type Logged, uploadEntries, type UploadEntry, UploadProcess } from "../upload/faults/upload_process.ts";
import type { ServerProcess } from "./same_tree/server_process.ts";
import { uploadProxies } from "./upload_proxies.ts";

const LIMIT = 2_000_000;

let folder = "";
const servers = new Map<UploadEntry, UploadProcess>();
/** The proxies, by name and the entry point behind each. */
const proxies = new Map<string, ServerProcess>();

before(async () => {
  if (Object.values(uploadProxies).every(({ skip }) => skip)) return;
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-proxies-")));
  for (const entry of uploadEntries) {
    await mkdir(join(folder, entry));
    servers.set(entry, await UploadProcess.start(join(folder, entry), entry, { maxBytes: LIMIT }));
    for (const [name, { skip, start }] of Object.entries(uploadProxies)) {
      const key = `${name}, ${entry}`;
      if (!skip) proxies.set(key, await start(join(folder, key.replace(/\W+/g, "-")), servers.get(entry)!.port));
    }
  }
});

after(async () => {
  for (const proxy of proxies.values()) await proxy.close();
  for (const server of servers.values()) await server.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Returns the handler's log of one upload; empty if nothing is logged within `patience` milliseconds. */
async function loggedBy(server: UploadProcess, patience: number): Promise<Logged[]> {
  const log: Logged[] = [];
  for (const end = Date.now() + patience; log.length === 0 && Date.now() < end;) {
    await pause(25);
    log.push(...await server.takeLog());
  }
  return log;
}

for (const entry of uploadEntries) {
  for (const [name, { skip, buffers }] of Object.entries(uploadProxies)) {
    const key = `${name}, ${entry}`;

    test(`${key}: files and forms arrive through it`, { skip }, async () => {
      const good = new GoodUploads(proxies.get(key)!.port, 0);
      for (let i = 0; i < 12; i++) await good.one();
      assert.equal(good.answered, 12);
      await assertStored(join(folder, entry), good.files);
      for (const name of good.files.keys()) await rm(join(folder, entry, name));
      await servers.get(entry)!.takeLog();
    });

    test(`${key}: of a client that leaves half-way nothing is left`, { skip }, async () => {
      const server = servers.get(entry)!;
      const half = content.subarray(0, 500_000);
      const requests = [
        [head("PUT", "/half", ["Content-Length: 1000000"]), half],
        [head("PUT", "/half", ["Transfer-Encoding: chunked"]), chunk(half)],
      ] as const;
      for (const [head, body] of requests) {
        const connection = await UploadConnection.open(proxies.get(key)!.port);
        await connection.send(head) && await connection.sendAll(body);
        await pause(100);
        connection.leave();
        const log = await loggedBy(server, buffers ? 300 : 5000);
        const expected = buffers ? [] : [{ path: "/half", status: 499, code: "ABORTED" }];
        assert.deepEqual(log.map(({ path, status, code }) => ({ path, status, code })), expected);
        assert.deepEqual(await listed(join(folder, entry)), []);
      }
    });

    test(`${key}: who sends too much is told so`, { skip }, async () => {
      const bytes = content.subarray(0, LIMIT + 1);
      const requests = [
        [head("PUT", "/large", [`Content-Length: ${bytes.length}`]), bytes],
        [head("PUT", "/large", ["Transfer-Encoding: chunked"]), chunked(bytes)],
      ] as const;
      for (const [head, body] of requests) {
        const connection = await UploadConnection.open(proxies.get(key)!.port);
        await connection.send(head) && await connection.sendAll(body);
        const answer = await connection.answer();
        assert.equal(answer?.status, 413, answer?.body ?? "no answer");
        assert.equal(JSON.parse(answer!.body).code, "TOO_LARGE");
        connection.leave();
        assert.equal((await loggedBy(servers.get(entry)!, 5000)).length, 1);
        assert.deepEqual(await listed(join(folder, entry)), []);
      }
    });
  }

  test(`${entry}: nobody complains on standard error`, () => {
    assert.equal(servers.get(entry)?.complaints ?? "", "");
  });
}
