import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { inFolder } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

/** The superuser may write to every file, so that another user does it. */
const NOBODY = 65534;

test("files that their owner may not write to are compressed, and stored at a second attempt, with their bits", {
  skip: needs("modes"),
}, () =>
  inFolder(async (folder) => {
    await chmod(folder, 0o777);
    await mkdir(join(folder, "deno"));
    await chmod(join(folder, "deno"), 0o777);
    const script = fileURLToPath(new URL("read_only_files.ts", import.meta.url));
    const words = "deno" in process.versions ? ["run", "-A", "--no-check", script] : [script];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...words, folder], {
      encoding: "utf8",
      env: { ...process.env, HOME: folder, DENO_DIR: join(folder, "deno") },
      ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    });
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), []);
  }));
