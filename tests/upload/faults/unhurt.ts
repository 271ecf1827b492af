import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runtime } from "../../support/runtime.ts";
import { atLast, pause } from "../../support/waits.ts";
import { listed } from "../../support/folders.ts";
import { forEachOf } from "../../support/raw_exchange.ts";
import type { UploadErrorCode } from "../../../lib/upload/mod.ts";
import { GoodUploads, type GoodUploadsOptions } from "./good_uploads.ts";
import { sha256 } from "./upload_messages.ts";
import type { Logged, UploadProcess } from "./upload_process.ts";
import { isLong } from "../../support/long_run.ts";

/** The number of times that each thing goes wrong. */
export const TIMES: number = isLong ? 100 : 15;
/** The default number of concurrent faults. */
const AT_ONCE = 25;
/**
 * The limit of the server's growth in memory, in MB, for up to 2,500 MB of uploads. Deno buffers input while it
 * responds to a refused upload of unknown length; its allocator keeps some of that.
 */
const ALLOWED_GROWTH = runtime === "deno" ? 280 : 160;

/** A fault that an upload can have. */
export interface Fault {
  /** The status that the handler logs for each. */
  readonly status: number;
  /** The code of the logged error. */
  readonly code: UploadErrorCode;
  /** Causes the fault for the `number`-th time. */
  readonly happen: (port: number, number: number) => Promise<void>;
  /** The number of concurrent faults. Default: 25. */
  readonly atOnce?: number;
}

/**
 * Has something go wrong many times, with good uploads meanwhile, and asserts that they are stored whole, that nothing
 * else is, that the handler logged what it should, and that the server has nothing open and nothing to complain about.
 */
export async function assertUnhurt(
  server: UploadProcess,
  folder: string,
  fault: Fault,
  options: GoodUploadsOptions = {},
): Promise<void> {
  const warm = await warmedUp(server, fault, options);
  const { channels, memory } = server;
  const numbers = Array.from({ length: TIMES }, (_, number) => number);
  const good = new GoodUploads(server.port, 2, options);
  try {
    await forEachOf(numbers, fault.atOnce ?? AT_ONCE, (number) => fault.happen(server.port, number));
    await atLast(() => good.answered > 3);
    await good.end();
    await good.one();
  } catch (error) {
    const log = (await server.takeLog()).filter(({ status }) => status >= 500);
    throw new Error(`${(error as Error).message}\nLogged: ${JSON.stringify(log)}`, { cause: error });
  }
  assert.ok(good.answered > 3, `only ${good.answered} good uploads meanwhile`);
  await assertLogged(server, good, fault);
  await assertStored(folder, new Map([...warm.files, ...good.files]));
  await assertLetGo(server, folder, channels.length);
  const growth = server.memory.most - memory.now;
  assert.ok(growth < ALLOWED_GROWTH, `${Math.round(growth)} MB more than before`);
  assert.equal(server.complaints, "");
}

/** Warms up, so that the runtime has all it needs from now on. */
async function warmedUp(server: UploadProcess, fault: Fault, options: GoodUploadsOptions): Promise<GoodUploads> {
  const good = new GoodUploads(server.port, 0, options);
  await forEachOf([0, 1, 2, 3, 4, 5], 6, () => good.one());
  await forEachOf([0, 1, 2, 3], 4, (number) => fault.happen(server.port, number));
  for (let i = 0, before = -1; i < 100 && before !== server.channels.length; i++) {
    before = server.channels.length;
    await pause(100);
  }
  const log: Logged[] = [];
  await atLast(async () => log.push(...await server.takeLog()) >= 10); // those of clients that left are logged late
  return good;
}

async function assertLogged(server: UploadProcess, good: GoodUploads, { status, code }: Fault): Promise<void> {
  const expected = new Map([[201, good.answered]]);
  expected.set(status, TIMES + good.refused);
  const all = TIMES + good.answered + good.refused;
  const log: Logged[] = [];
  await atLast(async () => log.push(...await server.takeLog()) >= all);
  const statuses = new Map<number, number>();
  for (const entry of log) statuses.set(entry.status, (statuses.get(entry.status) ?? 0) + 1);
  const others = log.filter((entry) => !expected.has(entry.status)).slice(0, 3);
  assert.deepEqual(Object.fromEntries(statuses), Object.fromEntries(expected), JSON.stringify(others));
  const codes = new Set(log.filter((entry) => entry.status === status).map((entry) => entry.code));
  assert.deepEqual(codes, new Set([code]));
}

/** Asserts that a folder has the files named and no others, hidden ones included. */
export async function assertStored(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const expected = [...files.keys()].sort();
  await atLast(async () => (await listed(folder)).length <= expected.length); // being removed
  assert.deepEqual(await listed(folder), expected);
  for (const name of expected) assert.equal(sha256(await readFile(join(folder, name))), files.get(name), name);
}

async function assertLetGo(server: UploadProcess, folder: string, most: number): Promise<void> {
  await atLast(() => server.channels.length <= most);
  assert.equal(server.descriptorsBelow(folder), 0, "files that stay open");
  assert.ok(server.channels.length <= most, `more than ${most} descriptors: ${server.channels}`);
}
