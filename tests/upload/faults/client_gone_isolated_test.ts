import { Buffer } from "node:buffer";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { until } from "../../support/waits.ts";
import { inFolder } from "../../support/folders.ts";
import { content } from "./good_uploads.ts";
import { assertUnhurt, TIMES } from "./unhurt.ts";
import { type Leaving, UploadConnection } from "./upload_connection.ts";
import { chunk, form, formType, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

const leavings: readonly Leaving[] = ["close", "reset", "half-close"];
const SIZE = 800_000;
/** The sent parts of the body, in bytes. */
const amounts = [0, 1, 40_000, 500_000, SIZE - 1];

/** The heads and beginnings of uploads that would have another end. */
const uploads: readonly ((number: number, bytes: Uint8Array) => { head: string; body: Uint8Array })[] = [
  (number, bytes) => ({ head: head("PUT", `/gone-${number}`, [`Content-Length: ${SIZE}`]), body: bytes }),
  // The received bytes do not show the server that more follow.
  (number, bytes) => ({
    head: head("PUT", `/deep/gone-${number}`, ["Transfer-Encoding: chunked"]),
    body: bytes.length === 0 ? bytes : chunk(bytes),
  }),
  (_, bytes) => ({
    head: head("POST", "/", ["Content-Type: image/png", "Transfer-Encoding: chunked"]),
    body: Buffer.concat([Buffer.from(`${SIZE.toString(16)}\r\n`), bytes]),
  }),
  // The first file is complete.
  (_, bytes) => {
    const body = form({ whole: content.subarray(0, 1000), half: content.subarray(0, SIZE) });
    const size = bytes.length * (body.length / SIZE);
    return { head: head("POST", "/", [formType, `Content-Length: ${body.length}`]), body: body.subarray(0, size) };
  },
];

let requests = 0;

async function leaveHalfWay(server: UploadProcess, number: number): Promise<void> {
  const upload = uploads[number % 4];
  const leaving = leavings[(number >> 2) % 3];
  const amount = amounts[(number / 12 | 0) % 5];
  const { head, body } = upload(number, content.subarray(0, amount));
  const id = String(requests++);
  const connection = await UploadConnection.open(server.port);
  await connection.send(head.replace("\r\n", `\r\nX-Request: ${id}\r\n`)) && await connection.sendAll(body);
  await until(() => server.hasBegun(id), "the request at the handler");
  connection.leave(leaving);
  await connection.closed();
  connection.leave();
}

for (const entry of uploadEntries) {
  const name = `${entry}: ${TIMES} clients that leave half-way leave nothing behind and hurt no other`;
  test(name, { skip: cannotLookInside }, () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "deep"));
      const server = await UploadProcess.start(folder, entry);
      try {
        const happen = (_: number, number: number): Promise<void> => leaveHalfWay(server, number);
        await assertUnhurt(server, folder, { status: 499, code: "ABORTED", happen });
      } finally {
        await server.stop();
      }
    }));
}
