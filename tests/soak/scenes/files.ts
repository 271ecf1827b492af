import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NumberFileWriter, openFileReadable, openFileWritable, RotatingFileWritable } from "../../../lib/files/mod.ts";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { noise } from "../../support/bytes.ts";
import type { Scene } from "../scene.ts";

export const files: Scene = {
  name: "files",
  what: "files written, rotated, read, cancelled and aborted; the folder ends empty",
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-soak-"));
    const path = join(folder, "file");
    return {
      async round(): Promise<void> {
        for (let i = 0; i < 10; i++) {
          await ReadableStream.from([noise(300_000), noise(10)]).pipeTo(
            await openFileWritable(path, { atomic: i % 2 === 0 }),
          );
          let read = 0;
          for await (const chunk of await openFileReadable(path)) read += chunk.length;
          assert.equal(read, 300_010);
          const reader = (await openFileReadable(path)).getReader();
          await reader.read();
          await reader.cancel();
          const writer = (await openFileWritable(path, { atomic: true })).getWriter();
          await writer.write(noise(1000));
          await writer.abort("enough");
        }
        const directory = join(folder, "parts");
        await ReadableStream.from([noise(15_000), noise(15_000)])
          .pipeTo(new RotatingFileWritable({ directory, maxFileSize: 20_000 }));
        const numbers = new NumberFileWriter({ directory: join(folder, "numbers"), maxFileSize: 10_000 });
        await ReadableStream.from(Array.from({ length: 5000 }, (_, i) => i)).pipeTo(numbers);
        for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
      },
      close: () => rm(folder, { recursive: true }),
    };
  },
};
