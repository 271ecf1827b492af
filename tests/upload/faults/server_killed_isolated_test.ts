import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { isTemporaryName, temporaryPath } from "../../../lib/files/mod.ts";
import { pause, until } from "../../support/waits.ts";
import { inFolder, listed } from "../../support/folders.ts";
import { content } from "./good_uploads.ts";
import { UploadConnection } from "./upload_connection.ts";
import { chunked, form, formType, head, sha256 } from "./upload_messages.ts";
import { isLong } from "../../support/long_run.ts";
import { cannotLookInside, uploadEntries, UploadProcess } from "./upload_process.ts";

/**
 * The number of kills; more by `MILLRACE_KILLS=100 npm test -- node
 * tests/upload/faults/server_killed_isolated_test.ts`, other tests take "all".
 */
const KILLS = Number(process.env.MILLRACE_KILLS) || 4;
const SENDERS = isLong ? 30 : 20;

/** The uploads sent in all rounds. */
class Sent {
  /** The SHA-256 of each upload whose sending began. */
  readonly wholes = new Set<string>();
  /** The SHA-256 of the uploads confirmed with 201, by name. */
  readonly confirmed = new Map<string, string>();
  /** The number of uploads that a kill of the server interrupted. */
  cut = 0;
}

/** Sends one upload after the other until the server has ended. */
async function sendOn(port: number, lane: string, sent: Sent): Promise<void> {
  for (let i = 0;; i++) {
    const start = (i * 7919 + lane.length * 104_729) % 2_000_000;
    const bytes = content.subarray(start, start + 1 + (i * 333_667) % 900_000);
    sent.wholes.add(sha256(bytes));
    const connection = await UploadConnection.open(port).catch(() => undefined);
    if (!connection) return;
    const answer = await send(connection, `${lane}-${i}`, bytes).catch(() => undefined);
    connection.leave();
    if (answer?.status !== 201) {
      sent.cut++;
      return;
    }
    for (const { name } of JSON.parse(answer.body).files) sent.confirmed.set(name, sha256(bytes));
  }
}

async function send(
  connection: UploadConnection,
  name: string,
  bytes: Uint8Array,
): ReturnType<UploadConnection["answer"]> {
  const kind = bytes.length % 3;
  const body = kind === 0 ? bytes : kind === 1 ? chunked(bytes) : form({ first: bytes, second: bytes });
  const length = kind === 1 ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
  const fields = kind === 2 ? [formType, length] : [length];
  await connection.send(kind === 2 ? head("POST", "/", fields) : head("PUT", `/${name}`, fields));
  for (let at = 0; at < body.length; at += 100_000) {
    if (!await connection.sendAll(body.subarray(at, at + 100_000))) break;
    await pause(isLong ? 3 : 12); // so that most of them are half-way at any time
  }
  return await connection.answer();
}

async function assertWhole(folder: string, sent: Sent): Promise<void> {
  const final = (await listed(folder)).filter((path) => !isTemporaryName(basename(path)));
  for (const path of final) {
    const isWhole = sent.wholes.has(sha256(await readFile(join(folder, path))));
    assert.ok(isWhole, `${path} is not what was sent under that name`);
  }
  for (const [name, digest] of sent.confirmed) {
    assert.ok(final.includes(name), `${name} was confirmed and is not there`);
    assert.equal(sha256(await readFile(join(folder, name))), digest, name);
  }
}

/** Returns the temporary files left by killed servers. */
async function temporariesIn(folder: string, except: string): Promise<string[]> {
  return (await listed(folder)).filter((path) => isTemporaryName(basename(path)) && path !== basename(except));
}

/** Asserts that a new server on the same folder removes a killed server's temporary files, and no others. */
async function assertClearedUp(server: UploadProcess, folder: string, sent: Sent, foreign: string): Promise<void> {
  let left = await temporariesIn(folder, foreign);
  for (const end = Date.now() + 60_000; left.length > 0 && Date.now() < end;) {
    await pause(20);
    left = await temporariesIn(folder, foreign);
  }
  assert.deepEqual(left, []);
  await assertWhole(folder, sent);
  assert.equal(server.complaints, "");
}

for (const entry of uploadEntries) {
  const name = `${entry}: a server that is killed leaves no half file under a final name, and the next one clears up`;
  test(name, { skip: cannotLookInside }, () =>
    inFolder(async (folder) => {
      const sent = new Sent();
      const foreign = temporaryPath(join(folder, "of a process that lives"));
      await writeFile(foreign, "the next server has no business with this");
      let abandoned = 0;
      let server = await UploadProcess.start(folder, entry);
      try {
        for (let round = 0; round < KILLS; round++) {
          const { port } = server;
          const lanes = Array.from({ length: SENDERS }, (_, lane) => sendOn(port, `${round}-${lane}`, sent));
          await pause(150 + 400 * Math.random());
          await until(async () => (await temporariesIn(folder, foreign)).length > 1, "two uploads under way");
          await server.kill();
          await Promise.all(lanes);
          await assertWhole(folder, sent);
          abandoned += (await temporariesIn(folder, foreign)).length;
          server = await UploadProcess.start(folder, entry);
          await assertClearedUp(server, folder, sent, foreign);
          for (const path of await listed(folder)) if (path !== basename(foreign)) await rm(join(folder, path));
          sent.confirmed.clear(); // no need to read them again
        }
      } finally {
        await server.stop();
      }
      assert.ok(sent.cut > KILLS * SENDERS / 2 && abandoned > KILLS, `${sent.cut} uploads cut, ${abandoned} abandoned`);
      assert.equal(await readFile(foreign, "utf8"), "the next server has no business with this");
    }));
}
