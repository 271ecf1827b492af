import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { runtime } from "../support/runtime.ts";
import { atLast, pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { PersistentConnection } from "./persistent_connection.ts";
import { entries } from "./served_handler.ts";
import { cannotLookInside, ServerProcess } from "./server_process.ts";

const HUGE = 24_000_000;
const LIMIT = 100;
const CLIENTS = 70;

const content = Buffer.alloc(HUGE, "the content of a large file\n");
let folder = "";

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-shortage-")));
  await writeTree(folder, { "large.bin": content, "small.txt": "small" });
});

after(() => rm(folder, { recursive: true, force: true }));

/** Requests the large file, and stops reading after the head; the socket, and the status if there is one. */
function stall(port: number): { readonly socket: Socket; status: number | undefined } {
  const socket = connect(port, "127.0.0.1");
  const stalled: ReturnType<typeof stall> = { socket, status: undefined };
  socket.on("error", () => {});
  socket.write("GET /large.bin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  socket.once("data", (chunk: Buffer) => {
    socket.pause();
    stalled.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))?.[1]);
  });
  return stalled;
}

for (const entry of entries) {
  const name = `${entry}: when descriptors run out no file is blamed for it, and all is well when there are some again`;
  const ends = runtime === "deno" && "servers of Deno may end when they cannot accept a connection";
  test(name, { skip: cannotLookInside || ends }, async () => {
    const server = await ServerProcess.start(folder, entry, {}, LIMIT);
    const stalled: ReturnType<typeof stall>[] = [];
    let most = 0;
    const watch = setInterval(() => most = Math.max(most, server.descriptors), 10);
    try {
      const client = new PersistentConnection(server.port);
      /** Asks for what is in memory, also lest the connection is closed as idle; returns whether a condition holds. */
      const holds = async (condition: () => boolean): Promise<boolean> => {
        assert.equal((await client.ask("GET", "/small.txt")).body.toString(), "small");
        return condition();
      };
      await holds(() => true);
      stalled.push(...Array.from({ length: CLIENTS }, () => stall(server.port)));
      const isShort = (): boolean => most > LIMIT - 10 && stalled.some(({ status }) => status === 200);
      await atLast(() => holds(isShort));
      await pause(500); // for those that the server cannot even accept
      assert.ok(most > LIMIT - 10, `${most} of ${LIMIT} descriptors: no shortage`);
      const statuses = stalled.map(({ status }) => status);
      assert.ok(statuses.includes(200) && statuses.some((status) => status !== 200), statuses.join());
      await holds(() => true);
      for (const { socket } of stalled) socket.destroy();
      await atLast(() => holds(() => server.descriptorsBelow(folder) <= 0));
      assert.equal(server.descriptorsBelow(folder), 0);
      const answer = await client.ask("GET", "/large.bin");
      assert.equal(answer.status, 200);
      assert.ok(answer.body.equals(content));
      assert.deepEqual(await server.warnings(), []);
      client.close();
    } finally {
      clearInterval(watch);
      for (const { socket } of stalled) socket.destroy();
      await server.stop();
    }
  });
}
