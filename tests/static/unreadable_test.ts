import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { inFolder, writeTree } from "../support/folders.ts";
import type { Outcome } from "./unreadable_site.ts";
import { needs } from "../support/needs.ts";

const script = fileURLToPath(new URL("./unreadable_site.ts", import.meta.url));
const isDeno = "deno" in process.versions;
/** Root may read everything, so that the folder is served by another user. */
const NOBODY = 65534;
const notHere = { skip: needs("modes") };

function servedByOthers(folder: string, ...paths: string[]): Outcome {
  const args = [...(isDeno ? ["run", "-A", "--no-check"] : []), script, folder, ...paths];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, HOME: folder, DENO_DIR: join(folder, "..", "deno") },
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test(
  "files, variants and folders that may not be read are left out, and warned of by name",
  notHere,
  () =>
    inFolder(async (outer) => {
      const folder = join(outer, "site");
      const text = "The mill turns.\n".repeat(200);
      await writeTree(folder, {
        "open.txt": text,
        "open.txt.br": "is not looked at",
        "open.txt.gz": gzipSync(text),
        "closed.txt": "secret",
        "closed.txt.gz": gzipSync("secret"),
        "closed/index.html": "secret",
      });
      await mkdir(join(outer, "deno"));
      await chmod(join(outer, "deno"), 0o777);
      await chmod(outer, 0o755);
      for (const path of ["open.txt.br", "closed.txt", "closed"]) await chmod(join(folder, path), 0);
      try {
        const { answers, warnings } = servedByOthers(folder, "/open.txt", "/closed.txt", "/closed/", "/closed.txt.gz");
        assert.deepEqual(warnings, [
          "closed.txt: it is left out: permission denied",
          "closed: this folder is left out: permission denied",
          "open.txt.br: this variant is left out: permission denied",
        ]);
        assert.deepEqual(answers.map(([status, , coding]) => [status, coding]), [
          [200, "gzip"],
          [404, null],
          [404, null],
          [404, null],
        ]);
        assert.ok(!JSON.stringify(answers).includes("secret"));
      } finally {
        await chmod(join(folder, "closed"), 0o755);
      }
    }),
);

test("a folder that may not be read cannot be served", notHere, () =>
  inFolder(async (outer) => {
    await writeTree(outer, { "site/index.html": "secret" });
    await mkdir(join(outer, "deno"));
    await chmod(join(outer, "deno"), 0o777);
    await chmod(outer, 0o755);
    await chmod(join(outer, "site"), 0o111);
    try {
      const folder = join(outer, "site");
      assert.throws(() => servedByOthers(folder, "/"), new RegExp(`cannot serve ${folder}: permission denied`));
    } finally {
      await chmod(join(outer, "site"), 0o755);
    }
  }));
