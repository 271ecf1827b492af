import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import type { PrecompressReport } from "../../lib/precompress/mod.ts";
import { pause } from "../support/waits.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { writeSite } from "./site.ts";
import { mainHere } from "../cli/main_here.ts";

const quick = ["--level-brotli", "5", "--level-zstd", "3", "--level-gzip", "6", "--jobs", "1"];

test("millrace precompress prints a table by type and exits with 0", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const { status, stdout, stderr } = await millrace(["precompress", folder, ...quick]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^type +files +before +brotli +zstd +gzip +time\nJavaScript +1 +40\.0 kB.* m?s\n/);
    assert.match(stdout, /\ntotal +4 /);
    assert.match(stdout, /8 files: 4 compressed, 0 unchanged, 4 left alone, in [\d.]+ m?s\n$/);
    assert.equal(stderr, "");
    assert.match((await millrace([folder, ...quick])).stdout, /0 compressed, 4 unchanged/);
  }));

test("--json prints the report, --quiet nothing", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const report: PrecompressReport = JSON.parse((await mainHere([folder, ...quick, "--json"])).stdout);
    assert.equal(report.files, 8);
    assert.equal(report.compressed.length, 4);
    assert.deepEqual(await mainHere([folder, ...quick, "--quiet"]), { status: 0, stdout: "", stderr: "" });
  }));

test("--check exits with 1 and writes nothing where a variant is missing or stale, else with 0", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const before = await listed(folder);
    const first = await mainHere([folder, ...quick, "--check"]);
    assert.equal(first.status, 1);
    assert.match(first.stderr, /4 files to compress, copy or remove: run millrace precompress/);
    assert.deepEqual(await listed(folder), before);
    await mainHere([folder, ...quick]);
    assert.equal((await mainHere([folder, ...quick, "--check"])).status, 0);
    await writeFile(join(folder, "index.html"), "<p>changed</p>".repeat(200));
    assert.equal((await mainHere([folder, ...quick, "--check"])).status, 1);
    // Deltas are checked where the previous deploy is named.
    await writeTree(`${folder}/former`, { "a.js": sourceText(9000, 1) });
    await writeTree(`${folder}/site`, { "a.js": sourceText(9100, 1) });
    await mainHere([`${folder}/site`, ...quick, "--previous", `${folder}/former`]);
    assert.ok((await listed(`${folder}/site`)).includes("a.js.dcb"));
    for (const more of [[], ["--previous", `${folder}/former`]]) {
      assert.equal((await mainHere([`${folder}/site`, ...quick, "--check", ...more])).status, 0);
    }
  }));

test("a changed file is one to compress, whose variants are not removed: lists, counts and runs agree", () =>
  inFolder(async (folder) => {
    const [former, site] = [join(folder, "former"), join(folder, "site")];
    const previous = ["--previous", former];
    await writeTree(folder, { "former/a.js": sourceText(9000, 1), "site/a.js": sourceText(9100, 1) });
    await mainHere([site, ...quick, ...previous]);
    const outputs = (await listed(site)).filter((path) => path.startsWith("a.js."));
    assert.deepEqual(outputs, ["a.js.br", "a.js.dcb", "a.js.dcz", "a.js.gz", "a.js.zst"]);
    const checked = async (words: readonly string[], paths: readonly string[]): Promise<void> => {
      const { stdout, stderr } = await mainHere([site, ...quick, "--check", ...words]);
      assert.deepEqual(stdout.split("\n").slice(0, paths.length), paths);
      const count = `${paths.length} file${paths.length === 1 ? "" : "s"}`;
      assert.equal(stderr, `millrace: ${count} to compress, copy or remove: run millrace precompress\n`);
    };
    await writeFile(join(site, "a.js"), sourceText(9200, 1));
    await checked(previous, ["a.js"]);
    await checked([], ["a.js"]);
    const { compressed, removed } = JSON.parse((await mainHere([site, ...quick, ...previous, "--json"])).stdout);
    assert.deepEqual([compressed, removed], [["a.js"], []]);
    await rm(join(site, "a.js"));
    await checked(previous, outputs);
    await checked([], ["a.js.br", "a.js.gz", "a.js.zst"]);
  }));

test("--dry-run tells what a run would do and exits with 0", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const before = await listed(folder);
    const { status, stdout } = await mainHere([folder, "--dry-run"]);
    assert.equal(status, 0);
    assert.match(stdout, /^assets\/app\.4f3a9c1e\.js\n.*index\.html\n/s);
    assert.match(stdout, /4 to compress/);
    assert.deepEqual(await listed(folder), before);
  }));

test("--clean removes what was made, also from the folder of --out", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeSite(site);
    const before = await listed(site);
    await mainHere([site, ...quick]);
    assert.equal((await mainHere([site, "--clean"])).status, 0);
    assert.deepEqual(await listed(site), before);
    await mainHere([site, ...quick, "--out", out]);
    await mainHere([site, "--clean", "--out", out]);
    assert.deepEqual(await listed(out), []);
  }));

test("--help and --version are answered", async () => {
  const { status, stdout } = await millrace(["--help"]);
  assert.equal(status, 0);
  for (const flag of ["--out", "--formats", "--min-size", "--previous", "--check", "--clean", "--json"]) {
    assert.ok(stdout.includes(flag), flag);
  }
  assert.match((await millrace(["--version"])).stdout, /^millrace \d+\.\d+\.\d+\n$/);
});

test("wrong usage exits with 2 and says what is wrong", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "file.txt": "x", "project/node_modules/package/index.js": "x" });
    const project = join(folder, "project");
    const cases: [string[], RegExp][] = [
      [[], /^usage: millrace precompress DIR .*\n +millrace serve DIR /],
      [["precompress"], /name the folder to compress\nsee --help\n$/],
      [[project], /project seems to be no build \(it has node_modules in it\): name the folder that is/],
      [[folder, folder], /one folder, not 2/],
      [[folder, "--colour"], /unknown option --colour\n/],
      [[folder, "--formats", "lzma"], /millrace: --formats must be "brotli", "zstd" or "gzip", not "lzma"/],
      [[folder, "--level-zstd", "23"], /millrace: --level-zstd 23 is out of range: use a whole number from 1 to 22/],
      [[folder, "--level-zstd", "high"], /--level-zstd high is not a whole number/],
      [[folder, "--min-size", "big"], /--min-size big is not a number of bytes/],
      [[folder, "--min-saving", "100"], /--min-saving 100 is not a percentage below 100/],
      [[folder, "--check", "--clean"], /--check and --clean exclude each other/],
      [[folder, "--clean", "--formats", "gzip"], /--clean removes all that former runs wrote/],
      [[folder, "--out", join(folder, "x")], /must not hold each other: choose a folder elsewhere for out/],
      [[folder, "--previous", folder], /previous is the folder that is written to/],
      [[folder, "--cache", join(folder, "x")], /must not hold each other: choose a folder elsewhere for the cache/],
    ];
    for (const [words, message] of cases) {
      const { status, stderr } = await mainHere(words);
      assert.equal(status, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, message);
    }
  }));

test("a folder that is missing or is a file is wrong usage, one with a broken manifest has failed", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "file.txt": "x", "broken/.millrace.json": "{" });
    const cases: [number, string[], RegExp][] = [
      [2, ["none"], /cannot read .*none: there is no such folder/],
      [2, ["none", "--check"], /cannot read .*none: there is no such folder/],
      [2, ["file.txt"], /cannot read .*file\.txt: it is a file, not a folder/],
      [2, ["file.txt/none"], /cannot read .*none: there is no such folder/],
      [2, ["broken", "--previous", join(folder, "none")], /--previous: cannot read .*none: there is no such folder/],
      [1, ["broken"], /broken.\.millrace\.json is not a manifest: delete it and run again/],
    ];
    for (const [expected, [path, ...flags], message] of cases) {
      const { status, stderr } = await mainHere([join(folder, path), ...flags]);
      assert.equal(status, expected, stderr);
      assert.match(stderr, message);
    }
  }));

test("a project is compressed if its packages are excluded, and cleaned", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    await writeTree(folder, { "node_modules/package/index.js": "x".repeat(5000) });
    assert.equal((await mainHere([folder, ...quick, "--exclude", "node_modules/**"])).status, 0);
    const found = await listed(folder);
    assert.ok(found.includes("assets/style.css.gz"));
    assert.ok(!found.includes("node_modules/package/index.js.gz"));
    assert.equal((await mainHere([folder, "--clean"])).status, 0);
    assert.ok(!(await listed(folder)).includes("assets/style.css.gz"));
  }));

test("a project's own folder is refused, with the build in it as the way out; a build with a package.json is not", () =>
  inFolder(async (folder) => {
    const app = { "package.json": "{}", "src/main.ts": "run()" };
    await writeTree(folder, {
      ...under("plain", app),
      ...under("built", { ...app, "public/icon.svg": "<svg/>", "build/index.html": "x" }),
      ...under("installed", { "node_modules/package/index.js": "x", "dist/index.html": "x" }),
      // As builds for servers are, those of packages for two kinds of modules, and sites without a build.
      ...under("adapter", { "package.json": "{}", "index.js": "run()", "client/app.js": "run()" }),
      ...under("sources", { "src/main.ts": "run()", "index.html": "x" }),
      ...under("file", { "package.json": "{}", "src": "no folder" }),
    });
    const at = (name: string) => join(folder, name);
    const refused: [name: string, sign: string, wayOut: string][] = [
      ["plain", "package.json and src", "name the folder that is deployed, such as dist, or say what to compress"],
      ["built", "package.json and src", `name its build, ${at("built/build")}, or say what to compress`],
      ["installed", "node_modules", `name its build, ${at("installed/dist")}, or say what to compress`],
    ];
    for (const [name, sign, wayOut] of refused) {
      for (const words of [[], ["--dry-run"], ["--check"]]) {
        const { status, stdout, stderr } = await mainHere([at(name), ...words]);
        assert.equal(status, 2);
        assert.equal(stdout, "");
        assert.equal(
          stderr,
          `millrace: ${at(name)} seems to be no build (it has ${sign} in it): ${wayOut}, as in --include ` +
            '"**/*.html"\nsee --help\n',
        );
      }
      assert.equal((await mainHere([at(name), "--include", "**/*", "--dry-run"])).status, 0);
      assert.equal((await mainHere([at(name), "--clean"])).status, 0);
    }
    for (const name of ["adapter", "sources", "file"]) {
      const { status, stderr } = await mainHere([at(name), "--dry-run"]);
      assert.deepEqual([status, stderr], [0, ""], name);
    }
    for (const root of ["/", "//", "/usr/.."]) {
      const { status, stderr } = await mainHere([root, "--dry-run"]);
      assert.equal(status, 2);
      assert.match(stderr, /^millrace: .* seems to be no build \(it is the root of a disk\): name /);
    }
    const here = await millrace(["."], undefined, { cwd: at("built") });
    assert.match(here.stderr, /^millrace: \. seems to be .*: name its build, build, or/);
  }));

/** `files` in a folder of that name. */
function under(name: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${name}/${path}`, content]));
}

test("numbers of bytes may have a unit, in capitals or not", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "page.html": "<p>The mill turns.</p>".repeat(150) }); // 3,300 bytes
    const isCompressed = async (size: string): Promise<boolean> => {
      const { status, stdout, stderr } = await mainHere([folder, "--min-size", size, "--dry-run"]);
      assert.equal(status, 0, stderr);
      return / 1 to compress/.test(stdout);
    };
    for (const size of ["0", "3300", "3k", "3K", "3.2k"]) assert.equal(await isCompressed(size), true, size);
    for (const size of ["3301", "3.25K", "1M", "1m", "0.5g", "1G"]) assert.equal(await isCompressed(size), false, size);
    for (const size of ["1.5", "-1", "1kk", "1 k", "k", ".5k", "1.k", "1e3", "1T", "0x10"]) {
      const { status, stderr } = await mainHere([folder, `--min-size=${size}`]);
      assert.equal(status, 2, size);
      assert.match(stderr, /^millrace: --min-size .* is not a number of bytes: use 500, 2k, 1\.5M or 1G\n/);
    }
  }));

test("patterns that no file matches are named, and leave the variants as they are", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    await mainHere([folder, ...quick]);
    const { status, stderr } = await mainHere([folder, ...quick, "--include", "*.wasm", "--include", "*.css"]);
    assert.equal(status, 1);
    assert.match(stderr, /^millrace: no file in .* is to be compressed by include \*\.wasm, \*\.css: a pattern is for/);
    assert.ok((await listed(folder)).includes("assets/style.css.gz"));
  }));

test("a file that cannot be handled is named, the others are done, and the exit status is 1", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    await mkdir(join(folder, "index.html.gz/in-the-way"), { recursive: true });
    const { status, stderr } = await mainHere([folder, ...quick, "--force"]);
    assert.equal(status, 1);
    assert.match(stderr, /^millrace: index\.html\.gz: a folder is in the way/);
    assert.ok((await listed(folder)).includes("assets/style.css.gz"));
  }));

test("SIGINT stops at once and leaves no temporary file", () =>
  inFolder(async (folder) => {
    for (let i = 0; i < 4; i++) await writeTree(folder, { [`big${i}.js`]: sourceText(900_000, i + 1) });
    const { status, stderr } = await millrace([folder], async (child) => {
      while (!(await listed(folder)).includes(".millrace.journal")) await pause(50); // it begins to compress
      child.kill("SIGINT");
    });
    assert.equal(status, 130, stderr);
    assert.match(stderr, /stopped by SIGINT/);
    assert.ok(!(await listed(folder)).some((path) => path.endsWith(".tmp")));
  }));

test(
  "a full disk is named, nothing is half-written, and the next run completes",
  mountable(),
  () =>
    inFolder(async (folder) => {
      const [site, out] = [join(folder, "site"), join(folder, "disk")];
      await mkdir(out);
      mount(["-t", "tmpfs", "-o", "size=600k", "tmpfs", out]);
      try {
        await writeTree(site, { "a.js": sourceText(300_000, 1), "b.js": sourceText(200_000, 2) });
        const { status, stderr } = await mainHere([site, ...quick, "--out", out]);
        assert.equal(status, 1);
        assert.match(stderr, /no space is left on the device: free some and run again/);
        assert.ok(!(await listed(out)).some((path) => path.endsWith(".tmp")));
        mount(["-o", "remount,size=4m", out]);
        assert.equal((await mainHere([site, ...quick, "--out", out])).status, 0);
        assert.equal((await listed(out)).filter((path) => /\.(br|gz|zst)$/.test(path)).length, 6);
      } finally {
        spawnSync("umount", [out]);
      }
    }),
);

test("a second mount of the site is refused as out, cache and previous", mountable(), () =>
  inFolder(async (folder) => {
    const [site, second] = [join(folder, "site"), join(folder, "second")];
    await mkdir(second);
    await writeTree(site, { "a.js": sourceText(3000, 1) });
    mount(["--bind", site, second]);
    try {
      for (const [option, path] of [["--out", second], ["--out", join(second, "out")], ["--previous", second]]) {
        const { status, stderr } = await mainHere([site, ...quick, "--force", option, path]);
        assert.notEqual(status, 0, option);
        assert.match(stderr, /must not hold each other|is the folder that is written to/);
      }
      assert.notEqual((await mainHere([site, ...quick, "--cache", join(second, "cache")])).status, 0);
      assert.deepEqual(await listed(site), ["a.js"]);
    } finally {
      spawnSync("umount", [second]);
    }
  }));

function mount(words: string[]): void {
  const { status, stderr } = spawnSync("mount", words);
  assert.equal(status, 0, String(stderr));
}

/** Returns the options of a test that mounts a small disk. */
function mountable(): { skip: string | false } {
  const probe = `${process.cwd()}/node_modules/.mount-probe-${process.pid}`;
  spawnSync("mkdir", ["-p", probe]);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", probe]);
  if (status === 0) spawnSync("umount", [probe]);
  spawnSync("rmdir", [probe]);
  return { skip: status === 0 ? false : "a small disk can be mounted by root only" };
}
