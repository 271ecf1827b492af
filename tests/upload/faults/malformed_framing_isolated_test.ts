import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { pause } from "../../support/waits.ts";
import { inFolder, listed } from "../../support/folders.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import { content, GoodUploads } from "./good_uploads.ts";
import { assertStored, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunk, head, lastChunk, sha256 } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

const bytes = content.subarray(0, 70_000);
const inChunks = "Transfer-Encoding: chunked";

/** Field lines, and the bytes after the head. None of these may be stored. */
const malformed: readonly (readonly [fields: readonly string[], body: Uint8Array | string])[] = [
  [[inChunks], Buffer.concat([chunk(bytes), Buffer.from("zz\r\nabc\r\n0\r\n\r\n")])],
  [[inChunks], Buffer.concat([chunk(bytes), Buffer.from("FFFFFFFFFFFFFFFFF\r\nabc")])],
  [[inChunks], "-5\r\nabcde\r\n0\r\n\r\n"],
  [[inChunks], "3\r\nabcdef\r\n0\r\n\r\n"],
  [[inChunks], Buffer.concat([chunk(bytes), Buffer.from("\r\n\r\n\r\n")])],
  [["Content-Length: 3", inChunks], `5\r\nabcde\r\n${lastChunk}`],
  [[inChunks, "Content-Length: 3"], `5\r\nabcde\r\n${lastChunk}`],
  [["Content-Length: 3", "Content-Length: 4"], "abcd"],
  [["Content-Length: 3, 4"], "abcd"],
  [["Content-Length: -3"], "abc"],
  [["Content-Length: 1e3"], "abc"],
  [["Content-Length: 0x3"], "abc"],
  [["Content-Length: 99999999999999999999999"], "abc"],
  [["Transfer-Encoding: xchunked"], `3\r\nabc\r\n${lastChunk}`],
  [["Transfer-Encoding: identity", "Content-Length: 3"], "abc"],
];

const followers: readonly ((name: string) => string)[] = [
  () => "defgh\r\n\r\n",
  (name) => `${head("PUT", `/${name}`, ["Content-Length: 2"])}de`,
];

/** Sends it, and then no more; whatever the server says to it, it is no success. */
async function sendMalformed(port: number, number: number): Promise<void> {
  const [fields, body] = malformed[number % malformed.length];
  const connection = await UploadConnection.open(port);
  await connection.send(head("PUT", `/malformed-${number}`, fields)) && await connection.send(body);
  await pause(50);
  connection.leave("half-close");
  const answer = await connection.answer();
  assert.ok(answer === undefined || answer.status >= 400, `${fields} was answered with ${answer?.status}`);
  connection.leave();
}

for (const entry of uploadEntries) {
  test(`${entry}: ${TIMES} requests with malformed framing leave nothing behind and hurt no other`, {
    skip: cannotLookInside,
  }, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry);
      try {
        const good = new GoodUploads(server.port, 2);
        const numbers = Array.from({ length: TIMES }, (_, number) => number);
        await forEachOf(numbers, 25, (number) => sendMalformed(server.port, number));
        await good.end();
        await good.one();
        await assertStored(folder, good.files);
        assert.equal(server.descriptorsBelow(folder), 0);
        const log = await server.takeLog();
        assert.deepEqual(log.filter(({ status }) => status < 400 && status !== 201), []);
        assert.equal(log.filter(({ status }) => status === 201).length, good.answered);
        assert.equal(server.complaints, "");
      } finally {
        await server.stop();
      }
    }));

  test(`${entry}: what follows a body on its connection is none of it`, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry);
      try {
        const stored = new Map<string, string>();
        for (const [i, follows] of followers.entries()) {
          for (const framing of ["length", "chunks"]) {
            const name = `${framing}-${i}`;
            const length = framing === "length" ? "Content-Length: 3" : inChunks;
            const body = framing === "length" ? "abc" : `3\r\nabc\r\n${lastChunk}`;
            const connection = await UploadConnection.open(server.port);
            await connection.send(head("PUT", `/${name}`, [length]) + body + follows(`${name}-second`));
            await connection.answer();
            await connection.answer();
            connection.leave();
            stored.set(name, "abc");
            // Some runtimes close the connection after the first request, or store the second and do not say so.
            if ((await listed(folder)).includes(`${name}-second`)) stored.set(`${name}-second`, "de");
          }
        }
        await assertStored(folder, new Map([...stored].map(([name, text]) => [name, sha256(Buffer.from(text))])));
      } finally {
        await server.stop();
      }
    }));
}
