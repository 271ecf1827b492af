import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { inFolder } from "../../support/folders.ts";
import { runtime } from "../../support/runtime.ts";
import { filesIn } from "./exchange_case.ts";

/** `MILLRACE_KILLS=all` kills some 200 servers, which takes minutes. */
const isAsked = process.env.MILLRACE_KILLS === "all";

/** The files that a flow stores. */
const flows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  draft: { note: "hello world" },
  tus: { note: "hello world" },
};

/** Runs the client, and returns its output; undefined if it was killed. */
function run(folder: string, flow: string, number: number): Promise<string | undefined> {
  const script = fileURLToPath(new URL("killing_client.ts", import.meta.url));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, folder, flow, String(number)], { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.signal === "SIGKILL" && !error.killed) resolve(undefined);
      else reject(new Error(`${error.message}${stderr}`));
    });
  });
}

const skip = !isAsked ? "MILLRACE_KILLS=all asks for it" : runtime === "node" ? false : "Node's calls are counted";

for (const [flow, files] of Object.entries(flows)) {
  test(
    `${flow}: a server that is killed ahead of any call of the file system stores each file once`,
    { skip },
    async () => {
      let total = 0;
      await inFolder(async (folder) => void (total = Number(await run(folder, flow, 0))));
      assert.ok(total > 10, `${total} calls`);
      for (let number = 1; number <= total; number++) {
        await inFolder(async (folder) => {
          const what = `killed ahead of call ${number} of ${total}`;
          assert.equal(await run(folder, flow, number), undefined, what);
          assert.notEqual(
            await run(folder, flow, 0).catch((error) => assert.fail(`${what}: ${error.message}`)),
            undefined,
          );
          assert.deepEqual(await filesIn(join(folder, "uploads")), files, what);
          const told = (await readFile(join(folder, "told"), "utf8")).trimEnd().split("\n");
          assert.deepEqual([...new Set(told)].sort(), Object.keys(files), what);
          assert.ok(told.length <= Object.keys(files).length + 1, `${what}: told of ${told}`);
        });
      }
    },
  );
}
