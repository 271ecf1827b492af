import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { saveBody } from "../../lib/upload/mod.ts";
import { inFolder } from "../support/folders.ts";
import { within } from "../support/waits.ts";

const BYTES = 100_000;
/** A sender in a thread of its own, which sends the rest of a body on a signal. */
const SENDER = `
  const { connect } = require("node:net");
  const { workerData: { port, told } } = require("node:worker_threads");
  const socket = connect(port, "127.0.0.1", () => {
    socket.write("PUT /note HTTP/1.1\\r\\nHost: h\\r\\nContent-Length: ${BYTES}\\r\\n\\r\\nx");
    Atomics.wait(told, 0, 0);
    socket.write("x".repeat(${BYTES - 1}));
  });
  socket.on("error", () => {}).on("close", () => process.exit()).resume();
`;

test("a body that has come is received, though its time passed while the program was held up", () =>
  inFolder(async (folder) => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const told = new Int32Array(new SharedArrayBuffer(4));
    const { port } = server.address() as AddressInfo;
    const sender = new Worker(SENDER, { eval: true, workerData: { port, told } });
    try {
      const [request] = await within(once(server, "request"), "the request") as [IncomingMessage];
      const saving = saveBody(request, `${folder}/note`, { timeout: 100 });
      Atomics.store(told, 0, 1);
      Atomics.notify(told, 0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300);
      assert.equal((await within(saving, "the body")).bytes, BYTES);
    } finally {
      server.closeAllConnections();
      server.close();
      await sender.terminate();
    }
  }));
