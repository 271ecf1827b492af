import assert from "node:assert/strict";
import test from "node:test";
import { inFolder } from "../../support/folders.ts";
import { content } from "./good_uploads.ts";
import { assertUnhurt, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, digestField, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

const bytes = content.subarray(0, 300_000);
const other = content.subarray(1, 300_001);
const right = digestField(bytes, "sha-256");

const fields: readonly (readonly string[])[] = [
  [digestField(other, "sha-256")],
  [digestField(other, "sha-512")],
  [digestField(other, "sha-256", "Repr-Digest")],
  [right, digestField(other, "sha-512", "Repr-Digest")],
  [`${right}, ${digestField(other, "sha-512").replace("Content-Digest: ", "")}`],
];

async function sendOther(port: number, number: number): Promise<void> {
  const method = number % 2 ? "PUT" : "POST";
  const isChunked = number % 4 > 1;
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
  const connection = await UploadConnection.open(port);
  await connection.send(head(method, number % 2 ? `/other-${number}` : "/", [length, ...fields[number % 5]]));
  await connection.sendAll(isChunked ? chunked(bytes) : bytes);
  const answer = await connection.answer();
  assert.equal(answer?.status, 422, answer?.body ?? "no answer");
  assert.equal(JSON.parse(answer!.body).code, "DIGEST_MISMATCH");
  connection.leave();
}

for (const entry of uploadEntries) {
  const name =
    `${entry}: ${TIMES} uploads with a wrong digest are answered with 422, leave nothing behind and hurt no other`;
  test(name, { skip: cannotLookInside }, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry);
      try {
        await assertUnhurt(server, folder, { status: 422, code: "DIGEST_MISMATCH", happen: sendOther });
      } finally {
        await server.stop();
      }
    }));
}
