import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { openFileReadable } from "../../lib/files/mod.ts";
import { LineStream } from "../../lib/text/mod.ts";
import { inFolder } from "../support/folders.ts";

test("a file's buffers are used again only when the lines in them have been taken", () =>
  inFolder(async (folder) => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index} ${"x".repeat(index % 50)}`);
    await writeFile(join(folder, "lines.txt"), lines.join("\n"));
    const source = await openFileReadable(join(folder, "lines.txt"));
    const taken: string[] = [];
    // One line a turn at first: the splitter waits with a chunk while the next ones are read.
    for await (const line of source.pipeThrough(new LineStream())) {
      taken.push(line);
      if (taken.length < 20) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.ok(taken.join("\n") === lines.join("\n"));
  }));
