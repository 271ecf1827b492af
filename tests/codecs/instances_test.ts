import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { openDecoder, openEncoder, releaseIdleInstances } from "../../lib/codecs/internal.ts";
import { CompressionStream, compressSync, decompressSync, ready } from "../../lib/codecs/mod.ts";
import { noise } from "../support/bytes.ts";
import { isLong } from "../support/long_run.ts";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { collected, streamOf } from "../support/streams.ts";
import { readFrameWindow } from "./zstd_frame.ts";

test("many decoders have more memory together than one instance of WebAssembly has", {
  skip: runtime === "bun" && !isLong && "Bun clears 5 GiB for it, in six seconds, and the codecs are the same",
}, async () => {
  const encoder = new CompressionStream("zstd", { level: 1, windowLog: 27 });
  const small = await collected(streamOf([new Uint8Array(2 ** 21)]).pipeThrough(encoder));
  assert.equal(readFrameWindow(small), 2 ** 27);
  const decoders = await Promise.all(Array.from({ length: 40 }, () => openDecoder("zstd", { maxWindow: 2 ** 27 })));
  try {
    for (const decoder of decoders) {
      decoder.write(small);
      assert.equal(decoder.read(new Uint8Array(1000)), 1000);
    }
  } finally {
    for (const decoder of decoders) decoder.close();
  }
});

test("memory that many decoders had is used again by the next ones", async () => {
  const { length: instances } = await instancesMadeBy(async () => {
    for (let wave = 0; wave < 3; wave++) {
      const decoders = await Promise.all(Array.from({ length: 40 }, () => openDecoder("gzip")));
      for (const decoder of decoders) decoder.close();
    }
  });
  assert.ok(instances <= 1, `${instances} instances`);
});

test("streams that together need more memory than there is, and take it later, have instances of their own", async () => {
  await ready(["zstd"]);
  const open: { close(): void }[] = [];
  const instances = await instancesMadeBy(() => {
    // Some 800 MB each, once they have input.
    for (let i = 0; i < 8; i++) open.push(openEncoder("zstd", { level: 22, windowLog: 27 }));
  });
  for (const each of open) each.close();
  assert.ok(instances.length >= 7, `${instances.length} instances`);
});

test("an instance's memory grows a few times, however many streams come, and one beside others once", async () => {
  await ready(["gzip", "zstd"]);
  for (const [format, level, count, most] of [["gzip", 6, 300, 4], ["zstd", 3, 60, 12]] as const) {
    for (let i = 0; i < 2; i++) releaseIdleInstances(); // those of the cases before
    const open: { close(): void }[] = [];
    const sizes = new Map<WebAssembly.Memory, Set<number>>();
    await instancesMadeBy(() => {
      for (let i = 0; i < count; i++) {
        const encoder = openEncoder(format, { level });
        open.push(encoder);
        encoder.write(noise(1000, i));
        for (const [memory, seen] of sizes) seen.add(memory.buffer.byteLength);
      }
    }, (memory) => sizes.set(memory, new Set()));
    for (const each of open) each.close();
    assert.ok(sizes.size >= 2 && sizes.size <= most, `${format}: ${sizes.size} instances`);
    const [first, ...others] = [...sizes.values()].map((seen) => seen.size);
    assert.ok(first <= 15, `${format}: the first grew ${first} times`);
    for (const other of others) assert.ok(other <= 1, `${format}: one beside others grew ${other} times`);
  }
});

test("a codec that stops has its instance taken out of use, and the error is about memory", async () => {
  await ready(["gzip"]);
  const { Instance } = WebAssembly;
  let stops = true;
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      const { exports } = this;
      const open = (...given: unknown[]): unknown => {
        if (stops) throw new WebAssembly.RuntimeError("unreachable");
        return (exports.open as (...given: unknown[]) => unknown)(...given);
      };
      Object.defineProperty(this, "exports", { value: { ...exports, open } });
    }
  };
  const held: { close(): void }[] = [];
  try {
    // Earlier instances may have room; the new instance must be gone afterwards.
    assert.throws(() => {
      for (let i = 0; i < 1000; i++) held.push(openEncoder("gzip", { level: 1 }));
    }, { name: "RangeError", message: "cannot compress gzip: the codec stopped, most likely out of memory" });
    stops = false;
    held.push(openEncoder("gzip", { level: 1 }));
  } finally {
    WebAssembly.Instance = Instance;
    for (const each of held) each.close();
  }
  assert.equal(decompressSync(compressSync(new Uint8Array(9), { format: "zstd" }), { format: "zstd" }).length, 9);
});

test("memory that runs out is told as such, never as bad data, and what is open goes on", {
  skip: runtime === "bun" && "it has no way to give an instance less memory",
}, async () => {
  const flag = "--wasm-max-mem-pages=130";
  const script = join(root, "tests/codecs/little_memory.ts");
  const args = runtime === "deno"
    ? ["run", "-A", "--no-check", `--v8-flags=${flag}`, script]
    : ["--no-warnings", flag, script];
  const { later, ...faults } = JSON.parse(await output(process.execPath, args, root));
  assert.deepEqual(new Set(Object.values(faults)), new Set(["memory"]));
  assert.deepEqual(later, [100, 100, 100]);
});

/** Returns the memories of the instances of WebAssembly that `work` makes. */
async function instancesMadeBy(
  work: () => void | Promise<void>,
  onMade: (memory: WebAssembly.Memory) => void = () => {},
): Promise<WebAssembly.Memory[]> {
  const { Instance } = WebAssembly;
  const made: WebAssembly.Memory[] = [];
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      const memory = this.exports.memory as WebAssembly.Memory;
      made.push(memory);
      onMade(memory);
    }
  };
  try {
    await work();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return made;
}
