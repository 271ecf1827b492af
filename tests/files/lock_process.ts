/**
 * Uses the lock of a folder, as a process or a thread. The argument, or the data of the thread, is JSON of {@linkcode Task}.
 */
import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { isMainThread, workerData } from "node:worker_threads";
import { LockLostError, ProcessLock } from "../../lib/files/internal.ts";
import { pause } from "../support/waits.ts";

/** The task of a process that uses the lock. */
export interface Task {
  readonly directory: string;
  /** The name of the process in the log. */
  readonly id: string;
  /**
   * The work with the lock: `contend` takes it again and again, and logs that; `hold` keeps it until its release is
   * requested, or the process killed; `write` appends to a file as long as it has the lock; `obey` reads methods of the
   * lock from its input, a line for each, and prints "ok", or the error's code or name.
   */
  readonly work: "contend" | "hold" | "write" | "obey";
  /** The number of times that `contend` has the lock. */
  readonly rounds?: number;
  readonly waitFor?: number;
  readonly heartbeat?: number;
  /** Whether `hold` releases the lock on request. */
  readonly handsOver?: boolean;
  /** The number of the user and group that the process becomes. */
  readonly user?: number | undefined;
}

const task = (isMainThread ? JSON.parse(process.argv[2]) : workerData) as Task;
const { directory, id, heartbeat = 5000, handsOver = false, user } = task;
if (user !== undefined) {
  process.setgid!(user);
  process.setuid!(user);
}

function newLock(waitFor = task.waitFor ?? 0, onHandOverRequested?: () => void): ProcessLock {
  const busy = () => Object.assign(new Error("busy"), { code: "EBUSY" });
  return new ProcessLock({ directory, subject: "the test", heartbeat, waitFor, onHandOverRequested, busy });
}

/** Acquires the lock once, logs it, and increments a number that concurrent holders would corrupt. */
async function haveTurn(round: number): Promise<void> {
  // Some callers wait for the lock, others try again themselves.
  const lock = newLock(round % 3 === 0 ? 0 : 60_000);
  try {
    await lock.take();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EBUSY") throw error;
    await pause(Math.random() * 2);
    return await haveTurn(round);
  }
  appendFileSync(join(directory, "log"), `${id} ${round} in\n`);
  const number = Number(readFileSync(join(directory, "number"), "utf8"));
  if (Math.random() < 0.5) await pause(Math.random() * 2);
  lock.requireHeld();
  writeFileSync(join(directory, "number"), String(number + 1));
  appendFileSync(join(directory, "log"), `${id} ${round} out\n`);
  lock.release();
}

if (task.work === "contend") {
  for (let round = 0; round < task.rounds!; round++) await haveTurn(round);
} else if (task.work === "obey") {
  let lock = newLock();
  for await (const line of createInterface({ input: process.stdin })) {
    const method = line as "take" | "renew" | "release" | "requireHeld";
    if (method === "take") lock = newLock();
    try {
      await lock[method]();
      writeSync(1, "ok\n");
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      writeSync(1, `${code ?? name}\n`);
    }
  }
} else {
  const lock = newLock(task.waitFor, () => {
    writeSync(1, "asked\n");
    if (handsOver) lock.release();
  });
  await lock.take();
  writeSync(1, "held\n");
  // It is killed long before, unless its test has ended by a time limit.
  setTimeout(() => process.exit(1), 60_000);
  try {
    while (task.work === "write") {
      lock.requireHeld();
      appendFileSync(join(directory, "written"), `${id}\n`);
      await pause(5);
    }
  } catch (error) {
    if (!(error instanceof LockLostError)) throw error;
    writeSync(1, "lost\n");
    process.exit(0);
  }
}
