import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { JobWorker } from "../../lib/runtime/mod.ts";
import { inFolder } from "../support/folders.ts";
import { pause, within } from "../support/waits.ts";

const ends: Readonly<Record<string, string>> = {
  "at once": "process.exit(0);",
  "at once, with an error": 'throw new Error("broken");',
  "at a job": 'parentPort.on("message", () => process.exit(3));',
  "at a job, with an error": 'parentPort.on("message", () => { throw new Error("broken"); });',
  "as nothing keeps it": "",
};

for (const [when, program] of Object.entries(ends)) {
  test(`the owner of a worker that ends ${when} is called with that, once`, () =>
    inFolder(async (folder) => {
      const module = join(folder, "worker.mjs");
      await writeFile(
        module,
        `import process from "node:process";\nimport { parentPort } from "node:worker_threads";\n${program}\n`,
      );
      const errors: Error[] = [];
      const worker: JobWorker<string, string> = await within(
        new Promise((resolve) => {
          const made = new JobWorker<string, string>(() => pathToFileURL(module), () => assert.fail("replaced"), {
            message: () => {},
            error: (error) => resolve((errors.push(error), made)),
          });
          made.post("a job");
        }),
        "the end of the worker",
      );
      await worker.stop();
      await pause(0);
      assert.equal(errors.length, 1);
      assert.ok(errors[0] instanceof Error);
    }));
}
