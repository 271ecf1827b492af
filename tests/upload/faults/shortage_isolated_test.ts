import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../../support/runtime.ts";
import { pause } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { content, GoodUploads } from "./good_uploads.ts";
import { assertStored } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { head, sha256 } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

const DESCRIPTORS = 100;
/** Each takes a connection and a file. */
const SENDERS = 60;
const SIZE = 200_000;

/** Sends half, the rest when `go` is fulfilled; the status of the answer, if there is one. */
async function send(port: number, name: string, go: Promise<unknown>): Promise<number | undefined> {
  const connection = await UploadConnection.open(port);
  const bytes = content.subarray(0, SIZE);
  await connection.send(head("PUT", `/${name}`, [`Content-Length: ${SIZE}`, "Connection: close"]));
  await connection.send(bytes.subarray(0, SIZE / 2));
  await go;
  await connection.send(bytes.subarray(SIZE / 2));
  const answer = await connection.answer();
  connection.leave();
  return answer?.status;
}

for (const entry of uploadEntries) {
  const name =
    `${entry}: when descriptors run out some are told to come again, and all is well when there are some again`;
  const ends = runtime === "deno" && "Deno itself ends when it cannot accept a connection";
  test(name, { skip: cannotLookInside || ends }, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry, {}, { descriptors: DESCRIPTORS });
      try {
        const { promise: go, resolve } = Promise.withResolvers<void>();
        const names = Array.from({ length: SENDERS }, (_, i) => `short-${i}`);
        const sending = Promise.all(names.map((name) => send(server.port, name, go)));
        let most = 0;
        for (let i = 0; i < 200 && most <= DESCRIPTORS - 10; i++) {
          await pause(100);
          most = server.descriptors;
        }
        resolve();
        const statuses = await sending;
        const stored = names.filter((_, i) => statuses[i] === 201);
        assert.ok(most > DESCRIPTORS - 10, `only ${most} descriptors: no shortage`);
        // A connection that cannot be accepted is closed, or waits.
        const odd = statuses.filter((status) => status !== 201 && status !== 503 && status !== undefined);
        assert.deepEqual(odd, []);
        const good = new GoodUploads(server.port, 0);
        for (let i = 0; i < 6; i++) await good.one();
        const whole = sha256(content.subarray(0, SIZE));
        await assertStored(folder, new Map([...stored.map((name) => [name, whole] as const), ...good.files]));
        assert.equal(server.descriptorsBelow(folder), 0);
      } finally {
        await server.stop();
      }
    }));
}
