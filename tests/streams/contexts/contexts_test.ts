import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import test from "node:test";
import { pipeTo, ReadableStream, TransformStream, WritableStream } from "../../../lib/streams/mod.ts";
import { native } from "../differential/implementations.ts";
import { ours } from "./library_streams.ts";
import { type ProgramClasses, runProgram, Wakes } from "./programs.ts";

/** The number of callbacks; more by `MILLRACE_CONTEXTS=1000000 npm run test:node -- tests/streams/contexts`. */
const CALLBACKS = Number(process.env.MILLRACE_CONTEXTS ?? 30_000);
/** The seed, which a failure prints: `MILLRACE_SEED=123` repeats the run. */
const SEED = Number(process.env.MILLRACE_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The number of programs that run at the same time, each in a context. */
const CONTEXTS = 50;

/** Runs programs, and returns the callbacks that ran in the context of another program. */
async function strayed(classes: ProgramClasses, callbacks: number): Promise<string[]> {
  const wrong: string[] = [];
  for (let seed = SEED, done = 0; done < callbacks; seed += CONTEXTS) {
    const wakes = new Wakes();
    const programs = Array.from({ length: CONTEXTS }, (_, i) => {
      return runProgram(classes, { seed: seed + i, wakes, contexts: 1 });
    });
    for (const [i, seen] of (await Promise.all(programs)).entries()) {
      for (const [callback, counts] of seen) {
        for (const [context, count] of counts) {
          done += count;
          if (context !== `${seed + i}.0`) wrong.push(`MILLRACE_SEED=${seed + i}: ${callback} in ${context}`);
        }
      }
    }
  }
  return wrong;
}

test("programs of streams that wait for the same promises run in their own contexts", async () => {
  assert.deepEqual(await strayed(ours, CALLBACKS), []);
});

// Bun's own streams let a few callbacks stray.
test("so do the runtime's own streams", { skip: "bun" in process.versions }, async () => {
  assert.deepEqual(await strayed(native, CALLBACKS / 10), []);
});

test("pages that wait for one cold start are each written in the context of their own request", async () => {
  const user = new AsyncLocalStorage<string>();
  const start = Promise.withResolvers<void>();
  const page = async (): Promise<string> => {
    const parts = new ReadableStream<string>({
      async pull(controller) {
        await start.promise;
        controller.enqueue(user.getStore()!);
        controller.close();
      },
    });
    let text = "";
    const write = (chunk: string): void => void (text += `${chunk} ${user.getStore()} `);
    const close = (): void => void (text += user.getStore());
    const mark = new TransformStream<string, string>({
      transform: (chunk, controller) => controller.enqueue(`${chunk} ${user.getStore()}`),
    });
    await pipeTo(parts.pipeThrough(mark), new WritableStream({ write, close }));
    return text;
  };
  const names = ["alice", "bob", "carol"];
  const pages = names.map((name) => user.run(name, page));
  setTimeout(() => user.run("the timer", start.resolve), 5);
  assert.deepEqual(await Promise.all(pages), names.map((name) => `${name} ${name} ${name} ${name}`));
});

test("what somebody enqueues or pulls from another context is moved in that of the pipe", async () => {
  const context = new AsyncLocalStorage<string>();
  const seen = new Set<string>();
  const see = (callback: string) => (): void => void seen.add(`${callback} in ${context.getStore()}`);
  let source: ReadableStreamDefaultController<number> | undefined;
  const readable = new ReadableStream<number>({ start: (controller) => void (source = controller) });
  const writable = new WritableStream<number>({ write: see("write"), close: see("close") });
  const transform = new TransformStream<number, number>({ flush: see("flush") });
  const piped = context.run("the pipe", () => pipeTo(readable.pipeThrough(transform), writable));
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    context.run(`sender ${i}`, () => source!.enqueue(i));
  }
  context.run("another sender", () => source!.close());
  await piped;
  assert.deepEqual([...seen], ["write in the pipe", "flush in the pipe", "close in the pipe"]);
});

test("a callback that enters another context keeps that to itself", async () => {
  const context = new AsyncLocalStorage<string>();
  const seen = new Set<string | undefined>();
  const enter = new TransformStream<number, number>({
    transform(chunk, controller) {
      context.enterWith("of a callback");
      controller.enqueue(chunk);
    },
  });
  await context.run("the pipe", async () => {
    const chunks = ReadableStream.from([1, 2, 3]).pipeThrough(enter).pipeThrough(new TransformStream());
    await pipeTo(chunks, new WritableStream({ write: () => void seen.add(context.getStore()) }));
  });
  assert.deepEqual([...seen], ["the pipe"]);
});
