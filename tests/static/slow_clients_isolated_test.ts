import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { atLast, pause } from "../support/waits.ts";
import { entries } from "./served_handler.ts";
import { cannotLookInside, ServerProcess } from "./server_process.ts";
import { filesAge, putManifest } from "./tree/scanned.ts";

const MEBIBYTE = 2 ** 20;
const SIZE = 2048 * MEBIBYTE;
const RANGE = 8 * MEBIBYTE;
const CLIENTS = isLong ? 50 : 20;
/**
 * The limit of memory that 50 clients add to the process, in MB: some thousandths of the requested bytes. Sent chunks
 * are garbage, of which V8 keeps up to 64 MB, and Deno more on a busy machine.
 */
const ALLOWED_GROWTH = runtime === "deno" ? { node: 200, fetch: 200 } : { node: 60, fetch: 100 };

let folder = "";
let site = "";

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-slow-")));
  site = join(folder, "site");
  await mkdir(site);
  await writeFile(join(site, "large.bin"), "");
  await truncate(join(site, "large.bin"), SIZE); // takes no room on the disk
  await filesAge();
  // With it the file is not read for its hash, which would take longer than all the rest.
  const files = { "large.bin": { size: SIZE, sha256: "5a".repeat(32), variants: {} } };
  await putManifest(site, JSON.stringify({ version: 1, copied: false, files }));
});

after(() => rm(folder, { recursive: true, force: true }));

/** Requests the file or a range of it, and reads the response. */
async function ask(port: number, range?: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  const field = range === undefined ? "" : `Range: ${range}\r\n`;
  socket.write(`GET /large.bin HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${field}\r\n`);
  return socket;
}

/** Reads a range slowly to its end. */
async function readSlowly(port: number, start: number): Promise<void> {
  const socket = await ask(port, `bytes=${start}-${start + RANGE - 1}`);
  let head = "";
  let bytes = 0;
  let sinceStop = 0;
  socket.on("data", (chunk) => {
    bytes += chunk.length;
    sinceStop += chunk.length;
    if (head.length < 2000) head += chunk.toString("latin1", 0, 2000);
    if (sinceStop < RANGE / 16) return;
    sinceStop = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 100 + 100 * Math.random());
  });
  await once(socket, "close");
  assert.match(head, /^HTTP\/1\.1 206 /);
  assert.match(head, new RegExp(`^content-range: bytes ${start}-${start + RANGE - 1}/${SIZE}\r$`, "im"));
  const body = bytes - head.indexOf("\r\n\r\n") - 4;
  if (/^transfer-encoding: chunked\r$/im.test(head)) assert.ok(body > RANGE, `${body} of ${RANGE}`);
  else assert.equal(body, RANGE);
}

/** Begins to read all of the file, and leaves at some point. */
async function readAndLeave(port: number): Promise<void> {
  const socket = await ask(port);
  const leaves = Date.now() + 500 + 2500 * Math.random();
  let sinceStop = 0;
  socket.on("data", (chunk) => {
    sinceStop += chunk.length;
    if (sinceStop < MEBIBYTE) return;
    sinceStop = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 800 * Math.random());
  });
  while (Date.now() < leaves) {
    await pause(50);
    if (socket.destroyed) assert.fail("the server has cut off a client that is only slow");
  }
  socket.destroy();
}

/** Reads a range at full speed, so that the runtime's memory is allocated before measurements. */
async function warmUp(port: number): Promise<void> {
  const socket = await ask(port, `bytes=0-${64 * MEBIBYTE}`);
  socket.resume();
  await once(socket, "close");
}

for (const entry of entries) {
  const name =
    `${entry}: ${CLIENTS} slow readers of a 2 GiB file, half of whom leave, cost little memory and no descriptor`;
  test(name, { skip: cannotLookInside }, async (t) => {
    const server = await ServerProcess.start(site, entry);
    try {
      await warmUp(server.port);
      const before = server.memory;
      let most = before;
      let open = 0;
      const watch = setInterval(() => {
        most = Math.max(most, server.memory);
        open = Math.max(open, server.descriptorsBelow(folder));
      }, 100);
      const leaving = Array.from({ length: CLIENTS / 2 }, () => readAndLeave(server.port));
      const staying = Array.from({ length: CLIENTS / 2 }, (_, i) => readSlowly(server.port, 1000 + i * RANGE * 3));
      await Promise.all(leaving);
      await Promise.all(staying);
      clearInterval(watch);
      assert.ok(open >= CLIENTS / 2, `only ${open} descriptors were ever open: were there any clients?`);
      await atLast(() => server.descriptorsBelow(folder) <= 0);
      assert.equal(server.descriptorsBelow(folder), 0, "descriptors that stay open");
      const figures = `${Math.round(before)} MB before, ${Math.round(most)} MB at most, ${open} descriptors at most`;
      (t as { diagnostic?: (text: string) => void } | undefined)?.diagnostic?.(figures);
      assert.ok(most - before < ALLOWED_GROWTH[entry], figures);
    } finally {
      await server.stop();
    }
  });
}
