import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { JobWorker } from "../../lib/runtime/mod.ts";
import { inFolder } from "../support/folders.ts";
import { pause, within } from "../support/waits.ts";

const runtimeModule = new URL("../../lib/runtime/mod.ts", import.meta.url).href;

const ends: Readonly<Record<string, string>> = {
  "at a job": 'parentPort.postMessage(null);parentPort.on("message", () => process.exit(3));',
  "at a job, with an error":
    'parentPort.postMessage(null);parentPort.on("message", () => { throw new Error("broken"); });',
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

const starts: Readonly<Record<string, string>> = {
  "exits at once": "process.exit(0);",
  "throws at once": 'throw new Error("broken");',
  "is kept by nothing": "",
  "imports what is missing": 'await import("./missing.mjs");',
};

for (const [what, program] of Object.entries(starts)) {
  test(`a job whose worker ${what} runs in the program's own thread`, () =>
    inFolder(async (folder) => {
      const module = join(folder, "worker.mjs");
      await writeFile(module, `import process from "node:process";\n${program}\n`);
      const { promise: done, resolve, reject } = Promise.withResolvers<string>();
      const run = (job: string, post: (message: string) => void): Promise<void> => Promise.resolve(post(`${job} here`));
      const worker = new JobWorker<string, string>(() => pathToFileURL(module), () => Promise.resolve(run), {
        message: resolve,
        error: reject,
      });
      worker.post("a job");
      assert.equal(await within(done, "the job"), "a job here");
      await worker.stop();
    }));
}

test("a worker that does not start for want of descriptors is started for a later job", () =>
  inFolder(async (folder) => {
    const programs = [
      'throw new Error("EMFILE: too many open files");',
      `import { serveJobs } from ${
        JSON.stringify(runtimeModule)
      };\nserveJobs(async (job, post) => post(job + " there"));`,
    ];
    const modules = programs.map((_, i) => join(folder, `worker_${i}.mjs`));
    for (const [i, program] of programs.entries()) await writeFile(modules[i]!, program);
    let done = Promise.withResolvers<string>();
    const address = (): URL => pathToFileURL(modules.shift()!);
    const run = (job: string, post: (message: string) => void): Promise<void> => Promise.resolve(post(`${job} here`));
    const worker = new JobWorker<string, string>(address, () => Promise.resolve(run), {
      message: (message) => done.resolve(message),
      error: (error) => done.reject(error),
    });
    for (const place of ["here", "there"]) {
      done = Promise.withResolvers();
      worker.post("a job");
      assert.equal(await within(done.promise, "the job"), `a job ${place}`);
    }
    await worker.stop();
  }));

/** A job that says that it has begun, and a while after it is stopped that it has ended: by a file, as it is heard no more. */
const endless = async (path: string, post: (message: string) => void, signal: AbortSignal): Promise<void> => {
  post("begun");
  while (!signal.aborted) await pause(1);
  await pause(20);
  await writeFile(path, "ended");
};

const endlessModule = `import { readFile, writeFile } from "node:fs/promises";
import { serveJobs } from ${JSON.stringify(runtimeModule)};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
serveJobs(${String(endless)});
`;

for (const place of ["a thread", "the program's own thread, without the worker's module"]) {
  test(`a job in ${place} has ended when its worker is stopped, and posts nothing any more`, () =>
    inFolder(async (folder) => {
      const [module, path] = [join(folder, "worker.mjs"), join(folder, "end")];
      if (place === "a thread") await writeFile(module, endlessModule);
      const messages: string[] = [];
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      const worker = new JobWorker<string, string>(() => pathToFileURL(module), () => Promise.resolve(endless), {
        message: (message) => (messages.push(message), resolve()),
        error: (error) => assert.fail(error),
      });
      worker.post(path);
      await within(begun, "the beginning of the job");
      await within(worker.stop(), "the end of the worker");
      assert.equal(await readFile(path, "utf8"), "ended");
      assert.deepEqual(messages, ["begun"]);
    }));
}

test("a worker that does not answer is ended all the same", () =>
  inFolder(async (folder) => {
    const module = join(folder, "worker.mjs");
    await writeFile(
      module,
      `import { parentPort } from "node:worker_threads";\nparentPort.on("message", () => { parentPort.postMessage("begun"); for (;;); });\nparentPort.postMessage(null);\n`,
    );
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const worker = new JobWorker<string, string>(() => pathToFileURL(module), () => assert.fail("replaced"), {
      message: () => resolve(),
      error: (error) => assert.fail(error),
    });
    worker.post("a job");
    await within(begun, "the beginning of the job");
    await within(worker.stop(), "the end of the worker");
  }));
