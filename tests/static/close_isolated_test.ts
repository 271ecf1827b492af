import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { runtime } from "../support/runtime.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { interrupted } from "./interrupted_download.ts";
import type { NativeServer } from "./native_server.ts";
import { entries, type Entry, serveHandler } from "./served_handler.ts";

/** A size that exceeds two sockets' buffers. */
const HUGE = 24_000_000;
const content = Buffer.alloc(HUGE, "the content of a large file\n");

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-close-"));
  await writeTree(folder, { "large.bin": content, "small.txt": "small" });
});

after(() => rm(folder, { recursive: true, force: true }));

/** Requests the large file, and reads only its first part. */
async function stalled(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /large.bin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await once(socket, "data");
  socket.pause();
  return socket;
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  promise.then(() => is = true);
  await pause(200);
  return is;
}

/** Serves the folder until `use` is done. */
async function serving(
  entry: Entry,
  use: (handler: StaticHandler, server: NativeServer) => Promise<void>,
): Promise<void> {
  const handler = await createStaticHandler(folder);
  const server = await serveHandler(handler, entry);
  try {
    await use(handler, server);
  } finally {
    await server.close();
    await handler.close();
  }
}

for (const entry of entries) {
  // Of what the server of Bun sends by itself nothing is known to the handler.
  const waits = !(entry === "fetch" && runtime === "bun");

  test(`${entry}: close() ${waits ? "waits for" : "leaves alone"} what is being sent, and answers nothing new`, () =>
    serving(entry, async (handler, { port }) => {
      let closed = Promise.resolve();
      const download = await interrupted(port, "/large.bin", async () => {
        closed = handler.close();
        assert.equal(await isSettled(closed), !waits);
        for (const path of ["small.txt", "large.bin"]) {
          const response = await fetch(`http://127.0.0.1:${port}/${path}`);
          assert.equal(response.status, 503, path);
          await response.text();
        }
      });
      assert.ok(download.isWhole && download.body.equals(content));
      await closed;
    }));

  test(`${entry}: close() does not wait for clients that have left`, () =>
    serving(entry, async (handler, { port }) => {
      const sockets = await Promise.all(Array.from({ length: 5 }, () => stalled(port)));
      const closed = handler.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    }));

  test(`${entry}: close() waits for no answer to HEAD, and may be called again`, () =>
    serving(entry, async (handler, { port }) => {
      for (const path of ["small.txt", "large.bin"]) {
        const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: "HEAD" });
        assert.equal(response.status, 200);
        await response.text();
      }
      await handler.close();
      await handler.close();
      await handler.reload();
      assert.equal((await handler.fetch(new Request("http://site.example/small.txt"))).status, 503);
    }));
}

test("a Response that nobody reads keeps neither close() waiting nor a descriptor open", async () => {
  const handler = await createStaticHandler(folder);
  for (let i = 0; i < 10; i++) {
    const response = await handler.fetch(new Request("http://site.example/large.bin"));
    assert.equal(response.headers.get("content-length"), String(HUGE));
  }
  await handler.close();
});
