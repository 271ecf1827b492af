import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";
import { root, runtime } from "../support/runtime.ts";
import { noNativeServer } from "./native_server.ts";

const script = fileURLToPath(new URL("./short_site.ts", import.meta.url));
const LIMIT = 200;
const skip = needs("shell", "proc");

/** Runs a scene of `short_site.ts` on a site without a manifest, with few descriptors. */
async function played(scene: string): Promise<{ outcome: unknown; warnings: string[] }> {
  let result: { outcome: unknown; warnings: string[] } | undefined;
  await inFolder(async (folder) => {
    const files: Record<string, string | Uint8Array> = {};
    const sizes: Record<string, number> = { small: 20_000, middle: 200_000 };
    for (let i = 0; i < 8; i++) sizes[`large${i}`] = 500_000 + i;
    for (const [name, size] of Object.entries(sizes)) {
      const content = sourceText(size, size);
      const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
      Object.assign(files, { [`${name}.js`]: content, [`${name}.js.br`]: brotliCompressSync(content, { params }) });
    }
    for (let i = 0; i < 200; i++) files[`folder${i % 20}/${i}.txt`] = String(i).repeat(10_000);
    await writeTree(join(folder, "site"), files);
    const run = runtime === "deno" ? ["run", "-A", "--no-check", "--quiet", script] : [script];
    const command = ["-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", process.execPath, ...run];
    const { stdout, stderr, status } = spawnSync("sh", [...command, join(folder, "site"), scene], {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    result = JSON.parse(stdout);
  });
  return result!;
}

test("a variant that is first requested while no descriptor is free is sent afterwards", { skip }, async () => {
  const { outcome, warnings } = await played("first");
  assert.deepEqual(warnings, []);
  for (const [i, answers] of (outcome as string[][]).entries()) {
    if (i % 2 === 1) assert.deepEqual(answers, ["200 br", "200 br"]);
    else for (const each of answers) assert.match(each, /^(503 1|200 -|200 br)$/);
  }
});

test("reload() replaces nothing by what it could not read for lack of descriptors", { skip }, async () => {
  const { outcome, warnings } = await played("reload");
  const [short, ...others] = outcome as string[];
  assert.match(short, /^rejected: cannot serve .*: the process has too many files open: .*, 0 more files$/);
  for (const each of others) assert.match(each, /^(resolved|rejected: .* too many .*), 0 more files$/);
  assert.deepEqual(warnings, []);
});

test("a change that a watched folder gets while no descriptor is free is served afterwards", { skip }, async () => {
  const { outcome, warnings } = await played("watch");
  assert.deepEqual(outcome, ["200", true]);
  assert.deepEqual(warnings, []);
});

test(
  "a file that is read behind the start is answered with 503 without descriptors, and then served",
  { skip },
  async () => {
    const { outcome, warnings } = await played("hasty");
    assert.deepEqual(outcome, ["503 1", "200"]);
    assert.deepEqual(warnings, []);
  },
);

test(
  "the runtime's server answers with 503 if no descriptor is free for a file",
  { skip: skip || noNativeServer },
  async () => {
    const { outcome, warnings } = await played("server");
    assert.deepEqual(outcome, ["206 ", "503 1", "503 1", "200 "]);
    assert.deepEqual(warnings, []);
  },
);
