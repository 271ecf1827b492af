import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { bundle } from "../../.ci/bundle.ts";
import { output } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { installsCopies, orders, seenOfCopies } from "./installed_copies.ts";

/*
 * Two copies of the package in a process, as when an application and a dependency each install one. They are two builds
 * of the modules, since on Deno each `#streams/…` of the sources leads to one file only.
 */

type Copy = typeof import("../../lib/streams/mod.ts");

/** The classes of a copy, or the runtime's own, with functions that pipe. */
type Classes = Pick<typeof globalThis, "ReadableStream" | "WritableStream" | "TransformStream">;

const native: Classes = { ReadableStream, WritableStream, TransformStream };
let folder = "";
let copies: readonly [Copy, Copy];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-copies-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of ["a", "b"]) {
    const outdir = join(folder, name);
    const entries = { mod: "lib/streams/mod.ts", install: "lib/streams/install.ts" };
    await bundle({ entries, outdir, codecs: join(outdir, "wasm") });
  }
  const load = (name: string): Promise<Copy> => import(pathToFileURL(join(folder, name, "mod.js")).href);
  copies = [await load("a"), await load("b")];
});

after(() => rm(folder, { recursive: true, force: true }));

/** Ways in which a source has its three chunks. */
const sources: Readonly<Record<string, (classes: Classes) => ReadableStream<number>>> = {
  started: ({ ReadableStream }) =>
    new ReadableStream({
      start(controller) {
        for (const chunk of [1, 2, 3]) controller.enqueue(chunk);
        controller.close();
      },
    }),
  pulled({ ReadableStream }) {
    let chunk = 0;
    return new ReadableStream({
      pull(controller) {
        if (++chunk > 3) controller.close();
        else controller.enqueue(chunk);
      },
    }, { highWaterMark: 0 });
  },
  "pulled late"({ ReadableStream }) {
    let chunk = 0;
    return new ReadableStream({
      async pull(controller) {
        await new Promise((passed) => setTimeout(passed));
        if (++chunk > 3) controller.close();
        else controller.enqueue(chunk);
      },
    });
  },
};

/** The ways to pipe a stream on, and to read it at the end. */
const pipes: Readonly<Record<string, (source: ReadableStream, pair: ReadableWritablePair) => ReadableStream>> = {
  method: (source, pair) => source.pipeThrough(pair),
  "the runtime's method": (source, pair) => native.ReadableStream.prototype.pipeThrough.call(source, pair),
  "a function": (source, pair) => copies[0].pipeThrough(source, pair),
};

const ends: Readonly<Record<string, (stream: ReadableStream, classes: Classes) => Promise<number[]>>> = {
  iterator: (stream) => Array.fromAsync(stream),
  async pipe(stream, { WritableStream }) {
    const chunks: number[] = [];
    await stream.pipeTo(new WritableStream<number>({ write: (chunk) => void chunks.push(chunk) }));
    return chunks;
  },
  async "the runtime's reader"(stream) {
    const chunks: number[] = [];
    const reader = native.ReadableStream.prototype.getReader.call(stream) as ReadableStreamDefaultReader<number>;
    for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value);
    return chunks;
  },
};

for (const [kind, make] of Object.entries(sources)) {
  for (const [way, pipe] of Object.entries(pipes)) {
    test(`chunks of a source that is ${kind} cross two copies and native streams, by ${way}`, async () => {
      const makers: Readonly<Record<string, Classes>> = { a: copies[0] as never, b: copies[1] as never, native };
      const names = Object.keys(makers);
      const wrong: string[] = [];
      for (const from of names) {
        for (
          const chain of [
            [],
            ...names.map((name) => [name]),
            ...names.flatMap((one) => names.map((two) => [one, two])),
          ]
        ) {
          for (const pause of [false, true]) {
            for (const [end, read] of Object.entries(ends)) {
              const program = [from, ...chain, end, pause ? "read late" : ""].join(" | ");
              let stream = make(makers[from]!);
              for (const name of chain) {
                stream = pipe(stream, new makers[name]!.TransformStream());
                if (pause) await new Promise((passed) => setTimeout(passed));
              }
              const chunks = await read(stream, makers[chain.at(-1) ?? "b"]!);
              if (chunks.join() !== "1,2,3") wrong.push(`${program}: ${chunks}`);
            }
          }
        }
      }
      assert.deepEqual(wrong, []);
    });
  }
}

test("each copy takes the other's streams for the runtime's own", async () => {
  const [a, b] = copies;
  assert.equal(a.fromNative(b.ReadableStream.from([1])) instanceof a.ReadableStream, true);
  assert.deepEqual(await Array.fromAsync(a.fromNative(b.ReadableStream.from([1, 2]))), [1, 2]);
  assert.equal(
    await new Response(a.ReadableStream.from([new Uint8Array([65])]).pipeThrough(new b.TransformStream())).text(),
    "A",
  );
  assert.throws(() => new Response(((stream) => (stream.getReader(), stream))(b.ReadableStream.from([]))), TypeError);
});

/** Makes the runtime one without byte streams, such as WebKitGTK 2.50. */
const withoutByteStreams = `
for (const name of ["ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableByteStreamController"]) {
  delete globalThis[name];
}`;

for (const [order, left] of orders) {
  test(`two copies are installed, and uninstalled in the order ${order}, and leave the runtime's own classes`, async () => {
    for (const [i, before] of ["", withoutByteStreams].entries()) {
      const program = join(folder, `installed_${left}_${i}.mjs`);
      const text = `${before}${installsCopies(".", order)}\nconsole.log(JSON.stringify(seen));\nprocess.exit();`;
      await writeFile(program, text);
      const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
      assert.deepEqual(JSON.parse(await output(process.execPath, [...flags, program], folder)), seenOfCopies(left));
    }
  });
}
