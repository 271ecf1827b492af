import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { inFolder } from "../../support/folders.ts";
import { until, within } from "../../support/waits.ts";
import { uploadEntries, UploadProcess } from "../faults/upload_process.ts";
import { RawClient } from "../handler/raw_client.ts";
import { entries, type Serving, serving } from "../handler/serving_handler.ts";
import { ask, filesIn, type Step } from "./exchange_case.ts";

const PARTIAL = "Content-Type: application/partial-upload";

const begin: Step = { request: ["PUT", "/note", "Upload-Complete: ?0"], body: "" };

/** Creates an upload; gives its path. */
async function created(server: Pick<Serving, "port">): Promise<string> {
  const { answer } = (await ask(server, begin))!;
  assert.equal(answer.status, 201, answer.all);
  return answer.fields.get("location")!;
}

/** Begins an append of ten bytes, and stalls after five. */
async function stalled(port: number, upload: string, offset: number, isLast = true): Promise<RawClient> {
  const client = await RawClient.open(port);
  const lines = [PARTIAL, `Upload-Offset: ${offset}`, `Upload-Complete: ?${isLast ? 1 : 0}`, "Content-Length: 10"];
  client.ask("PATCH", upload, lines);
  client.send("hello");
  return client;
}

async function offsetOf(server: Pick<Serving, "port">, upload: string): Promise<number> {
  const { answer } = (await within(ask(server, { request: ["HEAD", upload] }), "HEAD"))!;
  assert.equal(answer.status, 204, answer.all);
  return Number(answer.fields.get("upload-offset"));
}

/** Completes an upload with the rest of the text. */
async function finish(server: Pick<Serving, "port">, upload: string, text: string): Promise<void> {
  const offset = await offsetOf(server, upload);
  const lines = [PARTIAL, `Upload-Offset: ${offset}`, "Upload-Complete: ?1"];
  const { answer } = (await ask(server, { request: ["PATCH", upload, ...lines], body: text.slice(offset) }))!;
  assert.equal(answer.status, 201, answer.all);
}

for (const entry of Object.keys(entries)) {
  test(`${entry}: HEAD interrupts an append that stalls, and the offset that it tells is accepted`, () =>
    serving(entry, { resumable: true }, async (server) => {
      const upload = await created(server);
      const first = await stalled(server.port, upload, 0);
      await until(async () => await offsetOfData(server.folder) === 5, "five bytes are kept");
      await finish(server, upload, "helloworld");
      assert.deepEqual(await filesIn(server.folder), { note: "helloworld" });
      await until(() => first.received.length > 0 || first.isOver, "the append that stalled has ended");
      if (first.received.length > 0) assert.equal((await first.answer("PATCH")).status, 409);
      first.close();
      assert.equal(server.logged.filter(({ status }) => status === 409).length, 1);
    }));

  test(`${entry}: of appends for the same offset at a time, the newest goes on`, () =>
    serving(entry, { resumable: true }, async (server) => {
      const upload = await created(server);
      const clients: RawClient[] = [];
      for (let i = 0; i < 5; i++) {
        clients.push(await stalled(server.port, upload, 5 * i, false));
        await until(async () => await offsetOfData(server.folder) === 5 * (i + 1), "its bytes are kept");
      }
      const text = "hello".repeat(5);
      await finish(server, upload, text);
      assert.deepEqual(await filesIn(server.folder), { note: text });
      for (const client of clients) client.close();
    }));

  test(`${entry}: DELETE ends an append that stalls`, () =>
    serving(entry, { resumable: true }, async (server) => {
      const upload = await created(server);
      const first = await stalled(server.port, upload, 0);
      await until(async () => await offsetOfData(server.folder) === 5, "five bytes are kept");
      const { answer } = (await within(ask(server, { request: ["DELETE", upload] }), "DELETE"))!;
      assert.equal(answer.status, 204);
      await until(() => first.received.length > 0 || first.isOver, "the append that stalled has ended");
      first.close();
      assert.deepEqual(await filesIn(server.folder), {});
    }));
}

for (const entry of uploadEntries) {
  test(`${entry}: an upload that stalls at one server is continued at another over the same folder, or after a kill`, () =>
    inFolder(async (folder) => {
      const options = { resumable: true };
      const [one, other] = await Promise.all([
        UploadProcess.start(folder, entry, options),
        UploadProcess.start(folder, entry, options),
      ]);
      let third: UploadProcess | undefined;
      try {
        const upload = await created(one);
        const first = await stalled(one.port, upload, 0);
        await until(async () => await offsetOfData(folder) === 5, "five bytes are kept");
        await finish(other, upload, "helloworld");
        assert.deepEqual(await filesIn(folder), { note: "helloworld" });
        first.close();
        assert.equal(await offsetOf(one, upload), 10);

        const { answer } = (await ask(one, { ...begin, request: ["PUT", "/second", "Upload-Complete: ?0"] }))!;
        const next = answer.fields.get("location")!;
        const killed = await stalled(one.port, next, 0);
        await until(async () => await offsetOfData(folder) === 5, "five bytes are kept");
        await one.kill();
        killed.close();
        third = await UploadProcess.start(folder, entry, options);
        await finish(third, next, "helloworld");
        assert.deepEqual(await filesIn(folder), { note: "helloworld", second: "helloworld" });
        assert.equal(other.complaints + third.complaints, "");
      } finally {
        await Promise.all([one.stop(), other.stop(), third?.stop()]);
      }
    }));
}

/** Returns the bytes that the sessions in a folder have. */
async function offsetOfData(folder: string): Promise<number> {
  const sessions = join(folder, ".millrace-uploads");
  const sizes = (await readdir(sessions)).map((id) =>
    stat(join(sessions, id, "data")).then(({ size }) => size, () => 0)
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
