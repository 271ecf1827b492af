import assert from "node:assert/strict";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import test from "node:test";
import { pause } from "../../node/loopback.ts";
import { inFolder } from "../../precompress/site.ts";
import { forEachOf } from "../../static/raw_exchange.ts";
import { content } from "./good_uploads.ts";
import { assertStored, TIMES } from "./unhurt.ts";
import { sha256 } from "./upload_messages.ts";
import { type Logged, UploadProcess } from "./upload_process.ts";

const SIZE = 300_000;

/** Sends a body, all of it or a part before the stream is reset; the status of the answer. */
async function put(session: ClientHttp2Session, path: string, part: number): Promise<number | undefined> {
  const stream = session.request({ ":method": "PUT", ":path": path, "content-length": String(SIZE) });
  let status: number | undefined;
  stream.on("response", (fields) => status = fields[":status"]);
  stream.on("error", () => {});
  stream.resume();
  const closed = new Promise((resolve) => stream.once("close", resolve));
  if (part === SIZE) {
    stream.end(content.subarray(0, SIZE));
  } else {
    stream.write(content.subarray(0, part));
    await pause(60); // so that the request has reached the handler
    stream.close(constants.NGHTTP2_CANCEL);
  }
  await closed;
  return status;
}

test("http2: 100 streams that are reset half-way leave nothing behind and hurt no other of their session", () =>
  inFolder(async (folder) => {
    const server = await UploadProcess.start(folder, "http2");
    const session = connect(`http://127.0.0.1:${server.port}`, { maxSessionMemory: 100 });
    session.on("error", () => {});
    try {
      const files = new Map<string, string>();
      await forEachOf(Array.from({ length: TIMES }, (_, i) => i), 25, async (i) => {
        const [, status] = await Promise.all([
          put(session, `/gone-${i}`, [1, 100_000, SIZE - 1][i % 3]),
          put(session, `/good-${i}`, SIZE),
        ]);
        assert.equal(status, 201);
        files.set(`good-${i}`, sha256(content.subarray(0, SIZE)));
      });
      await assertStored(folder, files);
      const log: Logged[] = [];
      for (let i = 0; i < 100 && log.length < 2 * TIMES; i++) {
        log.push(...await server.takeLog());
        await pause(20);
      }
      assert.equal(log.filter(({ status, code }) => status === 499 && code === "ABORTED").length, TIMES);
      assert.equal(log.length, 2 * TIMES);
      assert.equal(server.complaints, "");
    } finally {
      session.destroy();
      await server.stop();
    }
  }));
