import assert from "node:assert/strict";
import test from "node:test";
import { openDecoder } from "../../lib/codecs/internal.ts";
import { compress, CompressionStream, type Format } from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, noise, piecesOf } from "../support/bytes.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { samples } from "./samples.ts";
import { readFrameWindow } from "./zstd_frame.ts";

type Plain = Exclude<Format, "dcb" | "dcz">;
const plain: readonly Plain[] = ["zstd", "brotli", "gzip", "deflate", "deflate-raw"];

/** Decodes `pieces` into a buffer of `size` bytes that is used again and again. */
async function decoded(pieces: readonly Uint8Array[], format: Plain, size: number): Promise<Uint8Array> {
  const decoder = await openDecoder(format);
  const target = new Uint8Array(size);
  const parts: Uint8Array[] = [];
  try {
    for (const piece of pieces) {
      decoder.write(piece);
      while (decoder.more) parts.push(target.slice(0, decoder.read(target)));
    }
    do parts.push(target.slice(0, decoder.finish(target))); while (decoder.more);
    return concatenated(parts);
  } finally {
    decoder.close();
  }
}

for (const format of plain) {
  test(`a decoder of ${format} fills buffers of any size from pieces of any size`, async () => {
    for (const [name, bytes] of Object.entries(samples)) {
      const small = await compress(bytes, { format, level: 3 });
      for (const [most, size] of [[7, 4096], [1000, 61], [100_000, 100_000]] as const) {
        const result = await decoded(piecesOf(small, most), format, size);
        assert.deepEqual(result, bytes, `${name}, pieces of ${most}, buffers of ${size}`);
      }
    }
  });

  test(`a decoder of ${format} refuses what is corrupt and what ends too early`, async () => {
    const small = await compress(noise(5000), { format, level: 3 });
    await assert.rejects(decoded([small.subarray(0, -1)], format, 1000), { name: "TypeError" });
    await assert.rejects(decoded([small, new Uint8Array(1)], format, 1000), { name: "TypeError" });
  });
}

test("a decoder of zstd refuses windows larger than told", async () => {
  const bytes = new Uint8Array(2 ** 22).fill(7);
  const small = await compress(bytes, { format: "zstd", level: 1, windowLog: 21 });
  for (const [windowLog, refused] of [[20, true], [21, false]] as const) {
    const decoder = await openDecoder("zstd", { windowLog });
    decoder.write(small);
    const read = () => decoder.read(new Uint8Array(1000));
    if (refused) assert.throws(read, { name: "TypeError", message: /too much memory/ });
    else assert.equal(read(), 1000);
    decoder.close();
    decoder.close();
  }
});

test("a decoder that needs a dictionary cannot be opened", async () => {
  await assert.rejects(openDecoder("dcz" as Plain), { name: "TypeError", message: /needs a dictionary/ });
});

test("many decoders have more memory together than one instance of WebAssembly has", {
  skip: runtime === "bun" && !isLong && "Bun clears 5 GiB for it, in six seconds, and the codecs are the same",
}, async () => {
  const encoder = new CompressionStream("zstd", { level: 1, windowLog: 27 });
  const small = await collected(streamOf([new Uint8Array(2 ** 21)]).pipeThrough(encoder));
  assert.equal(readFrameWindow(small), 2 ** 27);
  const decoders = await Promise.all(Array.from({ length: 40 }, () => openDecoder("zstd")));
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
  const instances = await instancesMadeBy(async () => {
    for (let wave = 0; wave < 3; wave++) {
      const decoders = await Promise.all(Array.from({ length: 40 }, () => openDecoder("gzip")));
      for (const decoder of decoders) decoder.close();
    }
  });
  assert.ok(instances <= 40 / 8, `${instances} instances`);
});

/** How many instances of WebAssembly `work` makes. */
async function instancesMadeBy(work: () => Promise<void>): Promise<number> {
  const { Instance } = WebAssembly;
  let made = 0;
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      made++;
    }
  };
  try {
    await work();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return made;
}
