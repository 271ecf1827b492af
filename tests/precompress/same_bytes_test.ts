import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { concatenated, sourceText } from "../support/bytes.ts";
import { changedAt, contents, inFolder, listed, writeTree } from "../support/folders.ts";
import { millraceOn } from "../support/command.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { pagesOfSite } from "./pages.ts";
import { writeSite } from "./site.ts";

const runtimes = ["node", "bun", "deno"] as const;
/** The reason to skip the tests on one runtime: each test runs the command on all three. */
const skip = runtime !== "node" && !isLong && "the tests on Node run the command on this runtime, too";
const bin = (name: string) => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));

test(
  "the command writes the same tree on Node, Bun and Deno, byte for byte",
  { skip },
  () =>
    inFolder(async (folder) => {
      const [site, former] = [join(folder, "site"), join(folder, "former")];
      await writeSite(site);
      const large = sourceText(50_000, 4);
      await writeTree(site, { "large.txt": concatenated(Array.from({ length: 340 }, () => large)) });
      await writeTree(former, { "assets/app.00000000.js": sourceText(39_000, 1) });
      for (const path of await listed(site)) await utimes(join(site, path), 1.7e9, 1.7e9 + 0.25);
      const options = ["--previous", former, "--level-brotli", "5", "--level-zstd", "3", "--level-gzip", "3"];
      for (const name of runtimes) {
        const words = [site, "--out", join(folder, name), ...options];
        const { status, stderr } = await millraceOn(bin(name), name === "deno", words);
        assert.equal(status, 0, `${name}: ${stderr}`);
      }
      const expected = await contents(join(folder, "node"));
      assert.ok(Object.keys(expected).some((path) => path.endsWith(".dcb")));
      for (const name of runtimes.slice(1)) {
        const actual = await contents(join(folder, name));
        assert.deepEqual(Object.keys(actual), Object.keys(expected), name);
        for (const path of Object.keys(expected)) {
          assert.ok(actual[path] === expected[path], `${name}: ${path}`);
          if (path.startsWith(".")) continue;
          assert.equal(await changedAt(join(folder, name, path)), 1.7e12 + 250, `${name}: time of ${path}`);
        }
      }
    }),
);

test("a run on one runtime finds nothing to do after a run on another", { skip }, () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const quick = ["--level-brotli", "3", "--level-zstd", "3", "--level-gzip", "3"];
    await millraceOn(bin("node"), false, [folder, ...quick]);
    for (const name of ["bun", "deno"]) {
      const { status, stderr } = await millraceOn(bin(name), name === "deno", [folder, ...quick, "--check"]);
      assert.equal(status, 0, `${name}: ${stderr}`);
    }
  }));

test(
  "the dictionary of a site and the deltas against it are the same on Node, Bun and Deno, byte for byte",
  { skip },
  () =>
    inFolder(async (folder) => {
      const site = join(folder, "site");
      await writeTree(site, pagesOfSite({ count: 9 }));
      for (const path of await listed(site)) await utimes(join(site, path), 1.7e9, 1.7e9 + 0.25);
      const options = ["--site-dictionary", "--level-brotli", "5", "--level-zstd", "3", "--formats", "brotli,zstd"];
      for (const name of runtimes) {
        const words = [site, "--out", join(folder, name), ...options];
        const { status, stderr } = await millraceOn(bin(name), name === "deno", words);
        assert.equal(status, 0, `${name}: ${stderr}`);
      }
      const expected = await contents(join(folder, "node"));
      const dictionary = Object.keys(expected).find((path) => path.endsWith(".dict"))!;
      assert.ok("index.html.site.dcb" in expected && "index.html.site.dcz" in expected);
      for (const name of runtimes.slice(1)) {
        assert.deepEqual(await contents(join(folder, name)), expected, name);
        assert.equal(await changedAt(join(folder, name, dictionary)), 1.7e12, name);
      }
      const { status } = await millraceOn(bin("bun"), false, [
        site,
        "--out",
        join(folder, "node"),
        ...options,
        "--check",
      ]);
      assert.equal(status, 0);
    }),
);
