import assert from "node:assert/strict";
import test from "node:test";
import { atLast } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import { content } from "./good_uploads.ts";
import { assertStored, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, head, sha256 } from "./upload_messages.ts";
import { type Logged, uploadEntries, UploadProcess } from "./upload_process.ts";

/** Sends a whole body and says at once that no more will come; the status of the answer, if there is one. */
async function putAndEnd(port: number, name: string, bytes: Uint8Array): Promise<number | undefined> {
  const isChunked = bytes.length % 2 === 1;
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
  const connection = await UploadConnection.open(port);
  await connection.send(head("PUT", `/${name}`, [length]));
  await connection.sendAll(isChunked ? chunked(bytes) : bytes);
  connection.leave("half-close");
  const answer = await connection.answer();
  connection.leave();
  return answer?.status;
}

for (const entry of uploadEntries) {
  test(`${entry}: what senders have sent who then end their side is stored whole or not at all`, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry);
      try {
        const numbers = Array.from({ length: TIMES }, (_, number) => number);
        const bodies = numbers.map((number) => content.subarray(0, [3, 300_000, 2_000_001, 70_000][number % 4]));
        const answered: string[] = [];
        await forEachOf(numbers, 25, async (number) => {
          const status = await putAndEnd(server.port, `file-${number}`, bodies[number]);
          // Some servers close the connection without an answer, or take it for a sender who left.
          assert.ok(status === undefined || status === 201 || status === 499, `${status}`);
          if (status === 201) answered.push(`/file-${number}`);
        });
        const log: Logged[] = [];
        await atLast(async () => log.push(...await server.takeLog()) >= TIMES);
        const stored = new Set(log.filter(({ status }) => status === 201).map(({ path }) => path));
        assert.equal(log.filter(({ status }) => status === 499).length + stored.size, TIMES);
        for (const path of answered) assert.ok(stored.has(path), path);
        const files = numbers.filter((number) => stored.has(`/file-${number}`));
        await assertStored(folder, new Map(files.map((number) => [`file-${number}`, sha256(bodies[number])])));
        assert.equal(server.complaints, "");
      } finally {
        await server.stop();
      }
    }));
}
