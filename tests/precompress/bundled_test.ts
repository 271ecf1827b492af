import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { build, type Plugin, stop } from "esbuild";
import { inFolder } from "../support/folders.ts";
import { isLong } from "../support/long_run.ts";
import { run } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";

const program = `
  import { RotatingFileWritable } from "./lib/files/mod.ts";
  import { precompress } from "./lib/precompress/mod.ts";
  async function main(folder: string): Promise<void> {
    const { compressed, problems } = await precompress(folder + "/site");
    const options = { directory: folder + "/logs", name: "a.log", maxFileSize: 1000, append: true, compress: "gzip" } as const;
    const writer = new RotatingFileWritable(options).getWriter();
    for (let line = 0; line < 100; line++) await writer.write("a line of the log\\n");
    await writer.close();
    console.log(compressed.length, problems.length);
    if (problems.length > 0) console.error(problems);
  }
  void main(process.argv[2]!);`;

/** The plugin that replaces `import.meta.url` as webpack does: by a literal, here of a folder with other workers. */
const literalAddresses = (folder: string): Plugin => ({
  name: "literal-addresses",
  setup(builder) {
    builder.onLoad({ filter: /worker_address\.ts$/ }, async ({ path }) => {
      const url = JSON.stringify(pathToFileURL(join(folder, "other", relative(root, path))).href);
      return { contents: (await readFile(path, "utf8")).replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
});

const formats = ["esm", "esm with literal addresses", ...isLong ? ["cjs"] as const : []] as const;

for (const format of formats) {
  test(`in a bundle of ${format} without the workers' modules all is compressed, with one warning`, () =>
    inFolder(async (folder) => {
      const outfile = join(folder, format === "cjs" ? "program.cjs" : "program.mjs");
      const stdin = { contents: program, resolveDir: root, loader: "ts" } as const;
      await build({
        stdin,
        outfile,
        format: format === "cjs" ? "cjs" : "esm",
        plugins: format.includes("literal") ? [literalAddresses(folder)] : [],
        bundle: true,
        platform: "node",
        logLevel: "error",
        logOverride: { "empty-import-meta": "silent" },
      });
      await stop();
      for (const worker of ["lib/precompress/worker.ts", "lib/files/series/compress_worker.ts"]) {
        await mkdir(join(folder, "other", dirname(worker)), { recursive: true });
        await writeFile(join(folder, "other", worker), `console.log("another worker runs");`);
      }
      await mkdir(join(folder, "site"));
      for (const name of ["a.html", "b.js"]) {
        await writeFile(join(folder, "site", name), `${name} is a file. `.repeat(3000));
      }
      const args = "Deno" in globalThis ? ["run", "-A", "--no-check", outfile, folder] : [outfile, folder];
      const { code, stdout, stderr } = await run(process.execPath, args, folder);
      assert.deepEqual([code, stdout.trim()], [0, "2 0"], stderr);
      assert.equal(stderr.split("compresses in this thread").length, 2, stderr);
      const logs = (await readdir(join(folder, "logs"))).filter((name) => /\.(?:gz|log)$/.test(name));
      assert.ok(logs.filter((name) => name.endsWith(".gz")).length >= 1, logs.join());
      assert.equal(logs.filter((name) => name.endsWith(".log")).length, 1, logs.join());
    }));
}

test("workers have the loader of Yarn's Plug'n'Play", { skip: runtime !== "node" }, () =>
  inFolder(async (folder) => {
    const loader = `process.versions.pnp = "3"; require("node:fs").appendFileSync(__dirname + "/log",
      require("node:worker_threads").isMainThread ? "program " : "worker ");`;
    await writeFile(join(folder, "loader.cjs"), loader);
    await mkdir(join(folder, "site"));
    await writeFile(join(folder, "site/a.js"), "a line of code;\n".repeat(100));
    const cli = join(root, "lib/cli/cli.ts");
    const NODE_OPTIONS = `--require=${join(folder, "loader.cjs")} --max-old-space-size=500`;
    const { code, stderr } = await run(process.execPath, [cli, "site"], folder, { NODE_OPTIONS });
    assert.equal(code, 0, stderr);
    assert.match(await readFile(join(folder, "log"), "utf8"), /^program (?:worker )+$/);
  }));
