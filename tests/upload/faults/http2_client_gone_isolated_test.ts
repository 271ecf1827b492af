import assert from "node:assert/strict";
import test from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { atLast } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import { content } from "./good_uploads.ts";
import { assertStored, TIMES } from "./unhurt.ts";
import { sha256 } from "./upload_messages.ts";
import { type Logged, UploadProcess } from "./upload_process.ts";

const SIZE = 300_000;
const whole = new Uint8Array(content.subarray(0, SIZE));

test("http2: 100 streams that are reset half-way leave nothing behind and hurt no other of their session", () =>
  inFolder(async (folder) => {
    const server = await UploadProcess.start(folder, "http2");
    // Not the runtime's client: Deno's ends a body that it resets, for which servers end the session.
    const client = new HttpClient({ h2c: true, connections: 1 });
    const put = (name: string, body: BodyInit, signal?: AbortSignal): Promise<Response> =>
      client.fetch(`http://127.0.0.1:${server.port}/${name}`, { method: "PUT", body, signal, duplex: "half" });
    try {
      const files = new Map<string, string>();
      await forEachOf(Array.from({ length: TIMES }, (_, i) => i), 25, async (i) => {
        const gone = new AbortController();
        const part = content.subarray(0, [1, 100_000, SIZE - 1][i % 3]);
        const body = new ReadableStream({ start: (controller) => controller.enqueue(part) });
        const left = assert.rejects(put(`gone-${i}`, body, gone.signal), { name: "AbortError" });
        const answer = await put(`good-${i}`, whole);
        await answer.body?.cancel();
        assert.equal(answer.status, 201, server.complaints);
        gone.abort(); // it came before the good one, so it has reached the handler
        await left;
        files.set(`good-${i}`, sha256(whole));
      });
      assert.equal(client.stats().connections, 1);
      await assertStored(folder, files);
      const log: Logged[] = [];
      await atLast(async () => log.push(...await server.takeLog()) >= 2 * TIMES);
      assert.equal(log.filter(({ status, code }) => status === 499 && code === "ABORTED").length, TIMES);
      assert.equal(log.length, 2 * TIMES);
      assert.equal(server.complaints, "");
    } finally {
      client.destroy();
      await server.stop();
    }
  }));
