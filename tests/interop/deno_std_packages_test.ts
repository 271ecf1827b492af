import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import test, { after, before, describe } from "node:test";
import { run } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { bin, publishCopy, type Published } from "../e2e/published.ts";
import { modules } from "./deno_std/modules.ts";
import { publishStd } from "./deno_std/publish_std.ts";

/** A checkout of denoland/std. */
const std = process.env.DENO_STD_ROOT ? resolve(process.env.DENO_STD_ROOT) : undefined;
const packages = ["@std/assert", "@std/csv", "@std/http", "@std/json", "@std/streams", "@std/tar"];

let published: Published;
let app = "";

describe("packages of Deno's standard library from a registry, beside ours", { skip: unable() }, () => {
  before(async () => {
    published = await publishCopy("deno");
    await publishStd(std!, packages, published.jsr);
    app = join(published.folder, "app");
    await mkdir(app);
    const imports = Object.fromEntries(["@millrace/streams", ...packages].map((name) => [name, `jsr:${name}`]));
    await writeFile(join(app, "deno.json"), JSON.stringify({ imports }));
    for (const [name, source] of Object.entries(modules)) await writeFile(join(app, name), source);
  });

  after(() => published?.[Symbol.asyncDispose]());

  const deno = (...args: string[]) => run(join(bin, "deno"), args, app, published.env);

  test("are type checked together", async () => {
    const { code, stderr } = await deno("check", "--quiet", "--allow-import", ...Object.keys(modules));
    assert.equal(code, 0, stderr);
  });

  for (const name of Object.keys(modules)) {
    test(`work together: ${name}`, { timeout: 60_000 }, async () => {
      const { code, stdout, stderr } = await deno("test", "-A", "--no-check", "--quiet", name);
      assert.equal(code, 0, stdout + stderr);
      const count = modules[name].match(/^Deno\.test\(/gm)!.length;
      assert.match(stdout, new RegExp(`\\| ${count} passed`));
    });
  }
});

/** Returns the reason to skip the test; false if it can run. */
function unable(): string | false {
  if (runtime !== "node") return "it runs Deno itself";
  if (std === undefined) return "DENO_STD_ROOT names no checkout of denoland/std";
  return existsSync(join(std, "tar/deno.json")) ? false : `${std} has no folder tar with a deno.json`;
}
