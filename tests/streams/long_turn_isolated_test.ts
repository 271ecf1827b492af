import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pipeTo, ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import type { Stopped } from "./endless_pipes.ts";
import type { Turns } from "./waited_turns.ts";

const folder = dirname(fileURLToPath(import.meta.url));

/** Runs a program to its end, which a pipe that starves it would never reach: then it is killed. */
async function result<T>(program: string): Promise<T> {
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const limits = { timeout: 120_000, killSignal: "SIGKILL" } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(folder, program)], limits);
  return JSON.parse(stdout) as T;
}

/** Returns a finite source of slow chunks, many of which make a long turn. */
function slowSource(chunks: number): ReadableStream<number> {
  let left = chunks;
  return new ReadableStream({
    pull(controller): void {
      for (const end = performance.now() + 0.05; performance.now() < end;);
      controller.enqueue(left);
      if (--left === 0) controller.close();
    },
  });
}

test("pipes that never end let timers and sockets have their turn, and are stopped by their signal", async () => {
  const stopped = await result<Stopped[]>("endless_pipes.ts");
  const wrong = stopped.filter(({ error, turns }) => error !== "TimeoutError" || turns[0] !== "interval");
  assert.deepEqual(wrong, []);
  assert.ok(stopped.length > (isLong ? 50 : 20));
  assert.ok(stopped.filter(({ turns }) => turns.includes("socket")).length > (isLong ? 5 : 1));
});

test("a short pipe waits for no turn of the event loop, a long one for some", async () => {
  const { short, long } = await result<Turns>("waited_turns.ts");
  assert.equal(short, 0);
  assert.ok(long > 0);
});

test("a long pipe goes on though timers are faked", async () => {
  const { setImmediate } = globalThis;
  globalThis.setImmediate = (() => {}) as never;
  let chunks = 0;
  try {
    await pipeTo(slowSource(2000), new WritableStream({ write: () => void chunks++ }));
  } finally {
    globalThis.setImmediate = setImmediate;
  }
  assert.equal(chunks, 2000);
});

test("a long pipe calls source and sink in the asynchronous context that it was started in", async () => {
  const context = new AsyncLocalStorage<string>();
  const seen = new Set<string | undefined>();
  let ticks = 0;
  const ticking = context.run("the interval's", () => setInterval(() => ticks++, 1));
  const see = (): void => void seen.add(context.getStore());
  const source = slowSource(2000);
  await context.run("the pipe's", () => pipeTo(source, new WritableStream({ write: see })));
  clearInterval(ticking);
  assert.ok(ticks > 0);
  assert.deepEqual([...seen], ["the pipe's"]);
});

test("pipes that take turns with the event loop lose nothing and keep their order", async () => {
  const piped = Array.from({ length: 5 }, async () => {
    const got: number[] = [];
    await pipeTo(slowSource(500), new WritableStream({ write: (chunk: number) => void got.push(chunk) }));
    return got;
  });
  const expected = Array.from({ length: 500 }, (_, i) => 500 - i);
  for (const got of await Promise.all(piped)) assert.deepEqual(got, expected);
});
