import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { inFolder } from "../../support/folders.ts";
import { isLong } from "../../support/long_run.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import { atLast } from "../../support/waits.ts";
import { content } from "./good_uploads.ts";
import { cannotMount, onSmallDisk } from "./small_disk.ts";
import { assertUnhurt, type Fault, TIMES } from "./unhurt.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, form, formType, head } from "./upload_messages.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

/** Returns one upload of each kind, with `size` bytes. */
function uploadsOf(size: number): { head: (number: number) => string; body: Uint8Array }[] {
  const bytes = Buffer.alloc(size, content);
  const whole = form({ first: content.subarray(0, 1000), second: bytes });
  return [
    { head: (number) => head("PUT", `/huge-${number}`, [`Content-Length: ${size}`]), body: bytes },
    { head: (number) => head("PUT", `/huge-${number}`, ["Transfer-Encoding: chunked"]), body: chunked(bytes) },
    { head: () => head("POST", "/", [formType, `Content-Length: ${whole.length}`]), body: whole },
  ];
}

/** The growth of the server's memory after the first upload that allocators explain, in MB. */
const ALLOWED_LATER = 40;
/** The number of rounds of uploads: a leak exceeds the allowed growth in every round. */
const ROUNDS = 5;
const UPLOADS_IN_ROUND = isLong ? 100 : 50;

/** Asserts that memory is not lost with each upload, once its connection is closed and garbage is collected. */
async function assertNoLeak(server: UploadProcess, happen: Fault["happen"]): Promise<void> {
  const idle = server.channels.length;
  const held = [await server.heldMemory()];
  do {
    const numbers = Array.from({ length: UPLOADS_IN_ROUND }, (_, number) => 1000 + number);
    await forEachOf(numbers, 25, (number) => happen(server.port, number));
    await atLast(() => server.channels.length <= idle);
    held.push(await server.heldMemory());
  } while (held.at(-1)! - held.at(-2)! >= ALLOWED_LATER && held.length <= ROUNDS);
  const told = held.map((megabytes) => Math.round(megabytes)).join(", ");
  assert.ok(held.at(-1)! - held.at(-2)! < ALLOWED_LATER, `${told} MB are held, ${UPLOADS_IN_ROUND} uploads apart`);
}

/**
 * Returns a function that sends an upload for which there is no room. The response of one that `mayMiss` it may be lost:
 * on a busy machine a sender may read later than its server lingers, half a second.
 */
function overfill(size: number, mayMiss = false): Fault["happen"] {
  const uploads = uploadsOf(size);
  return async (port, number) => {
    const { head, body } = uploads[number % uploads.length];
    const connection = await UploadConnection.open(port);
    await connection.send(head(number)) && await connection.sendAll(body);
    const answer = await connection.answer();
    if (answer === undefined && mayMiss) return connection.leave();
    assert.equal(answer?.status, 507, answer?.body ?? "no answer");
    const problem = JSON.parse(answer!.body);
    assert.equal(problem.code, "NO_SPACE");
    assert.doesNotMatch(answer!.body, /millrace-test/, "the answer tells of the machine's folders");
    connection.leave();
  };
}

for (const entry of uploadEntries) {
  const full =
    `${entry}: ${TIMES} uploads that fill the disk are answered with 507, leave nothing behind and hurt no other`;
  test(
    full,
    { skip: cannotLookInside || cannotMount },
    () =>
      inFolder((folder) =>
        onSmallDisk(folder, 4, async (disk) => {
          const server = await UploadProcess.start(disk, entry);
          try {
            const fault = { status: 507, code: "NO_SPACE", happen: overfill(5 * 2 ** 20) } as const;
            await assertUnhurt(server, disk, fault, { refusals: [507], largest: 65_536 });
            await assertNoLeak(server, overfill(5 * 2 ** 20, true));
          } finally {
            await server.stop();
          }
        })
      ),
  );

  const large =
    `${entry}: ${TIMES} uploads of files larger than allowed are answered with 507, leave nothing and hurt no other`;
  test(large, { skip: cannotLookInside }, () =>
    inFolder(async (folder) => {
      const server = await UploadProcess.start(folder, entry, {}, { largestFile: 2048 });
      try {
        await assertUnhurt(server, folder, { status: 507, code: "NO_SPACE", happen: overfill(2_500_000) });
      } finally {
        await server.stop();
      }
    }));
}
