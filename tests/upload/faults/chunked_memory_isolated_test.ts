import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { inFolder } from "../../support/folders.ts";
import { isLong } from "../../support/long_run.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import { content } from "./good_uploads.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

const bodies = chunked(Buffer.alloc(20_000_000, content));
const SENDERS = isLong ? 20 : 12;
/** The limit of growth in MB, of 240 that arrive at once, or 400 in a long run. */
const ALLOWED_GROWTH = 150;

for (const entry of uploadEntries) {
  const name = `${entry}: ${SENDERS} bodies in chunks that come faster than they are written are not held in memory`;
  test(name, { skip: cannotLookInside }, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry, { overwrite: true });
      try {
        const { now } = server.memory;
        const numbers = Array.from({ length: SENDERS }, (_, number) => number);
        await forEachOf(numbers, SENDERS, async (number) => {
          const connection = await UploadConnection.open(server.port);
          await connection.send(head("PUT", `/${number % 4}`, ["Transfer-Encoding: chunked"]));
          await connection.sendAll(bodies);
          const { status } = (await connection.answer())!;
          assert.ok(status === 201 || status === 200, String(status));
          connection.leave();
        });
        const growth = server.memory.most - now;
        assert.ok(growth < ALLOWED_GROWTH, `${Math.round(growth)} MB more than before`);
      } finally {
        await server.stop();
      }
    }));
}
