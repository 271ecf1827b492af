import assert from "node:assert/strict";
import { pause } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { content } from "./good_uploads.ts";
import { assertUnhurt, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, form, formType, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";
import { overlapping } from "../../support/overlapping.ts";

const test = overlapping(4);

const LIMIT = 2_000_000;
const tooMuch = content.subarray(0, LIMIT + 1);
const largeForm = form({ first: content.subarray(0, 1000), second: tooMuch });

/** Request heads, and the bytes sent after them. */
const announced: readonly { head: (number: number) => string; body: Uint8Array }[] = [
  { head: (number) => head("PUT", `/large-${number}`, [`Content-Length: ${LIMIT + 1}`]), body: tooMuch },
  { head: (number) => head("PUT", `/large-${number}`, [`Content-Length: ${LIMIT + 1}`]), body: new Uint8Array() },
  { head: (number) => head("PUT", `/large-${number}`, [`Content-Length: ${10 ** 8}`]), body: content },
  { head: () => head("POST", "/", [formType, `Content-Length: ${largeForm.length}`]), body: largeForm },
];
const unannounced: typeof announced = [
  { head: (number) => head("PUT", `/large-${number}`, ["Transfer-Encoding: chunked"]), body: chunked(content) },
  { head: () => head("POST", "/", ["Transfer-Encoding: chunked"]), body: chunked(tooMuch) },
  { head: () => head("POST", "/", [formType, "Transfer-Encoding: chunked"]), body: chunked(largeForm) },
];

function send(requests: typeof announced): (port: number, number: number) => Promise<void> {
  return async (port, number) => {
    const { head, body } = requests[number % requests.length];
    const connection = await UploadConnection.open(port);
    await connection.send(head(number)) && await connection.sendAll(body);
    const answer = await connection.answer();
    assert.equal(answer?.status, 413, answer?.body ?? "no answer");
    assert.equal(answer?.fields.get("content-type"), "application/problem+json");
    assert.equal(JSON.parse(answer!.body).code, "TOO_LARGE");
    if (number % 3 === 0) await pause(800); // it does not care
    connection.leave();
  };
}

const cases = { "whose length is too large": announced, "that turn out too large on the way": unannounced };
for (const entry of uploadEntries) {
  for (const [what, requests] of Object.entries(cases)) {
    const name = `${entry}: ${TIMES} uploads ${what} are answered with 413, leave nothing behind and hurt no other`;
    test(name, { skip: cannotLookInside }, () =>
      inFolder(async (folder) => {
        const server = await UploadProcess.start(folder, entry, { maxBytes: LIMIT });
        try {
          await assertUnhurt(server, folder, { status: 413, code: "TOO_LARGE", happen: send(requests), atOnce: 50 });
        } finally {
          await server.stop();
        }
      }));
  }
}
