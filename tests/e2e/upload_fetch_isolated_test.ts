import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { atLast, pause } from "../support/waits.ts";
import { listed } from "../support/folders.ts";
import { content } from "../upload/faults/good_uploads.ts";
import { sha256 } from "../upload/faults/upload_messages.ts";
import { type Logged, uploadEntries, type UploadEntry, UploadProcess } from "../upload/faults/upload_process.ts";

let folder = "";
const servers = new Map<UploadEntry, UploadProcess>();

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-fetch-")));
  for (const entry of uploadEntries) {
    await mkdir(join(folder, entry));
    servers.set(entry, await UploadProcess.start(join(folder, entry), entry, { maxBytes: 4_000_000 }));
  }
});

after(async () => {
  for (const server of servers.values()) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns a stream of the content in `pieces` chunks, each after a delay. */
function stream(pieces: number, delay: number): ReadableStream<Uint8Array> {
  let i = 0;
  return new ReadableStream({
    async pull(controller): Promise<void> {
      if (delay > 0) await pause(delay);
      controller.enqueue(content.slice(i * 100_000, (i + 1) * 100_000));
      if (++i === pieces) controller.close();
    },
  });
}

function put(entry: UploadEntry, name: string, body: BodyInit, init: RequestInit = {}): Promise<Response> {
  const url = `http://127.0.0.1:${servers.get(entry)!.port}/${name}`;
  return fetch(url, { method: "PUT", body, duplex: "half", ...init } as RequestInit);
}

async function assertSaved(entry: UploadEntry, name: string, bytes: Uint8Array): Promise<void> {
  assert.equal(sha256(await readFile(join(folder, entry, name))), sha256(bytes), name);
}

for (const entry of uploadEntries) {
  test(`${entry}: fetch() of this runtime sends a stream`, async () => {
    const response = await put(entry, "stream", stream(30, 0));
    assert.equal(response.status, 201);
    assert.equal((await response.json()).files[0].bytes, content.length);
    await assertSaved(entry, "stream", content);
  });

  test(`${entry}: fetch() of this runtime sends bytes, a Blob and a form`, async () => {
    const bytes = content.slice(0, 1_234_567);
    for (const [name, body] of [["bytes", bytes], ["blob", new Blob([bytes])]] as const) {
      const response = await put(entry, name, body);
      assert.equal(response.status, 201);
      await response.body?.cancel();
      await assertSaved(entry, name, bytes);
    }
    const form = new FormData();
    form.set("title", "The mill \u{1F33E}");
    form.set("picture", new File([bytes], 'a "picture" of m\u00e4rz.png', { type: "image/png" }));
    const response = await put(entry, "", form, { method: "POST" });
    assert.equal(response.status, 201);
    const { fields, files } = await response.json();
    assert.deepEqual(fields, { title: "The mill \u{1F33E}" });
    assert.equal(files[0].filename, 'a "picture" of m\u00e4rz.png');
    assert.equal(files[0].contentType, "image/png");
    assert.match(files[0].name, /\.png$/);
    await assertSaved(entry, files[0].name, bytes);
  });

  test(`${entry}: of a fetch() that is aborted half-way nothing is left`, async () => {
    const server = servers.get(entry)!;
    await server.takeLog();
    const before = await listed(join(folder, entry));
    const controller = new AbortController();
    const sending = put(entry, "aborted", stream(30, 20), { signal: controller.signal });
    await pause(250);
    controller.abort();
    await assert.rejects(sending);
    const log: Logged[] = [];
    await atLast(async () => log.push(...await server.takeLog()) > 0);
    assert.deepEqual(log.map(({ path, status }) => [path, status]), [["/aborted", 499]]);
    assert.deepEqual(await listed(join(folder, entry)), before);
  });

  test(`${entry}: a fetch() that sends too much gets a 413`, async () => {
    const response = await put(entry, "large", new Uint8Array(4_000_001));
    assert.equal(response.status, 413);
    assert.equal((await response.json()).code, "TOO_LARGE");
  });

  test(`${entry}: nobody complains on standard error`, () => {
    assert.equal(servers.get(entry)!.complaints, "");
  });
}
