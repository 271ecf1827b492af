import assert from "node:assert/strict";
import { pause } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { content } from "./good_uploads.ts";
import { assertUnhurt, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunk, form, formType, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";
import { overlapping } from "../../support/overlapping.ts";

const test = overlapping(4);

const SIZE = 100_000;

/** Heads, and bodies that are sent to some part only. */
const uploads: readonly { head: (number: number) => string; body: Uint8Array }[] = [
  { head: (number) => head("PUT", `/slow-${number}`, [`Content-Length: ${SIZE}`]), body: content.subarray(0, SIZE) },
  { head: () => head("POST", "/", ["Transfer-Encoding: chunked"]), body: chunk(content.subarray(0, SIZE)) },
  { head: () => head("POST", "/", [formType, `Content-Length: ${SIZE}`]), body: form({ file: content }) },
];

/** Sends nothing, a part, or all but a byte, and then waits. */
async function stop(port: number, number: number): Promise<void> {
  const { head, body } = uploads[number % 3];
  const connection = await UploadConnection.open(port);
  await connection.send(head(number)) &&
    await connection.sendAll(body.subarray(0, [0, 50_000, SIZE - 1][number % 4 % 3]));
  await assertTooSlow(connection);
  if (number % 2) await pause(1000); // it does not care
  connection.leave();
}

/** Sends a byte now and then. */
async function trickle(port: number, number: number): Promise<void> {
  const { head, body } = uploads[number % 3];
  const connection = await UploadConnection.open(port);
  let isWanted = await connection.send(head(number));
  for (let at = 0, more = number % 2 ? 20 : 0; isWanted || more-- > 0; at++) {
    isWanted = await connection.send(body.subarray(at, at + 1));
    await pause(50);
  }
  await assertTooSlow(connection);
  connection.leave();
}

async function assertTooSlow(connection: UploadConnection): Promise<void> {
  const answer = await connection.answer();
  assert.equal(answer?.status, 408, answer?.body ?? "no answer");
  assert.equal(JSON.parse(answer!.body).code, "TIMEOUT");
}

const cases = {
  "stop sending": { options: { idleTimeout: 2500 }, happen: stop },
  "send a byte every 50 ms": { options: { idleTimeout: 30_000, timeout: 4000 }, happen: trickle },
};
for (const entry of uploadEntries) {
  for (const [what, { options, happen }] of Object.entries(cases)) {
    const name =
      `${entry}: ${TIMES} clients that ${what} are answered with 408, leave nothing behind and hurt no other`;
    test(name, { skip: cannotLookInside }, () =>
      inFolder(async (folder) => {
        const server = await UploadProcess.start(folder, entry, options);
        try {
          await assertUnhurt(server, folder, { status: 408, code: "TIMEOUT", happen, atOnce: 100 });
        } finally {
          await server.stop();
        }
      }));
  }
}
