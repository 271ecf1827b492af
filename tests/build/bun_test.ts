import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { precompress, type PrecompressPlugin } from "../../lib/build/bun.ts";
import { runtime } from "../support/runtime.ts";
import { writeTree } from "../support/folders.ts";
import { inProject, namedIn, quick } from "./project.ts";

/** The part of Bun's global that the tests use. */
interface BunGlobal {
  build(options: {
    entrypoints: string[];
    outdir?: string;
    splitting?: boolean;
    sourcemap?: string;
    naming?: { entry?: string; chunk?: string; asset?: string };
    plugins: PrecompressPlugin[];
  }): Promise<{ readonly success: boolean }>;
}

const skip = runtime !== "bun" && "Bun's bundler is only there on Bun";
const { Bun } = globalThis as unknown as { Bun: BunGlobal };

test(
  "after a build with Bun the folder is compressed, and the manifest says which names have hashes",
  { skip },
  () =>
    inProject(async (root) => {
      const outdir = join(root, "dist");
      await writeTree(outdir, { "robots-abcd1234.txt": "mill ".repeat(400) });
      const entrypoints = [join(root, "src/main.js"), join(root, "src/lazy.js")];
      await Bun.build({ entrypoints, outdir, splitting: true, sourcemap: "linked", plugins: [precompress(quick)] });
      const { immutable, other } = await namedIn(outdir);
      assert.deepEqual(immutable, ["logo-*.svg"]);
      assert.deepEqual(other.filter((path) => !path.endsWith(".map")), [
        ...["lazy.js", "main.css", "main.js", "robots-*.txt"],
      ]);
      const hashed = join(root, "hashed");
      const naming = { entry: "[name]-[hash].[ext]", asset: "[name].[ext]" };
      await Bun.build({ entrypoints, outdir: hashed, naming, sourcemap: "linked", plugins: [precompress(quick)] });
      const named = await namedIn(hashed);
      assert.ok(named.immutable.includes("main-*.js") && named.immutable.includes("lazy-*.js"), named.immutable.join());
      const inFolders = join(root, "folders");
      const below = { entry: "[hash]/[name].[ext]", asset: "assets/[hash]/[name].[ext]" };
      await Bun.build({ entrypoints, outdir: inFolders, naming: below, plugins: [precompress(quick)] });
      assert.deepEqual((await namedIn(inFolders)).other, []);
      assert.ok(named.other.includes("main-*.js.map") && named.other.includes("logo.svg"), named.other.join());
    }),
);

test(
  "nothing is compressed of a build in memory, or one that failed, and a failure fails the build",
  { skip },
  () =>
    inProject(async (root) => {
      await Bun.build({ entrypoints: [join(root, "src/lazy.js")], plugins: [precompress(quick)] });
      const outdir = join(root, "dist");
      await assert.rejects(Bun.build({ entrypoints: [join(root, "no.js")], outdir, plugins: [precompress(quick)] }));
      assert.ok(!existsSync(outdir));
      await writeTree(outdir, { "a.js": "mill ".repeat(400), "a.js.gz": "somebody's own" });
      const failing = Bun.build({ entrypoints: [join(root, "src/lazy.js")], outdir, plugins: [precompress(quick)] });
      await assert.rejects(failing, /cannot compress all of .*: it is in the way/s);
    }),
);
