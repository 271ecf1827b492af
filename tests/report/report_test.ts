import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { deflateRawSync } from "node:zlib";
import { typeOf } from "../../lib/precompress/internal.ts";
import { manifestName } from "../../lib/precompress/mod.ts";
import { pageDataOf } from "../../lib/report/page/files.ts";
import type { SiteFile } from "../../lib/report/changes.ts";
import { type ShownSite, siteFrom, unpacked } from "../../lib/report/page/files.ts";
import { formatBytes } from "../../lib/quantities/mod.ts";
import { mainHere } from "../cli/main_here.ts";
import { noise, sourceText } from "../support/bytes.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

const quick = ["--level-brotli", "5", "--level-zstd", "3", "--level-gzip", "6", "--jobs", "1", "--quiet"];

/** The folder `x<` and a file in it: together they would end a script and begin an image. */
const HOSTILE = "x</script><img src=x onerror=alert(1)>.js";

const page = (script: string): string =>
  `<!doctype html><title>Mill</title><script src="/assets/${script}"></script><link rel=stylesheet href=/style.css>
  <img src="https://elsewhere.example/a.png"><img src=picture.png>${"<p>The mill turns.</p>".repeat(100)}`;

async function writeSite(folder: string, script: string, seed: number): Promise<void> {
  await writeTree(folder, {
    "index.html": page(script),
    "about/index.html": page(script),
    [`assets/${script}`]: `/* ${new TextDecoder().decode(sourceText(30_000, 1))} */ const version = ${seed};`,
    "style.css": "@import '/more.css'; body { background: url(back.svg) }".padEnd(2000, "p { margin: 0 }\n"),
    "more.css": "p { color: red }\n".repeat(100),
    "back.svg": `<svg>${"<path d='M0 0L1 1'/>".repeat(100)}</svg>`,
    "picture.png": noise(20_000, 2),
    "unknown.bin": noise(20_000, 3),
    "small.txt": "too small to bother\n",
  });
}

/** Reads a report, and requires that no escape sequence of a source is in its text. */
async function reportAt(path: string): Promise<string> {
  const report = await readFile(path, "utf8");
  assert.doesNotMatch(report.replace(/<(script|style)\b[^]*?<\/\1>/g, ""), /\\[nrt]/);
  return report;
}

async function shownIn(html: string): Promise<ShownSite> {
  const [, text] = /<script type="text\/plain" id="data">([^<]*)<\/script>/.exec(html)!;
  return siteFrom(await unpacked(text));
}

test("--report writes a page that stands alone, in which no name is markup", () =>
  inFolder(async (folder) => {
    const [site, path] = [join(folder, "site"), join(folder, "report.html")];
    await writeSite(site, "app-9d8b7a6f.js", 1);
    await writeTree(site, { [HOSTILE]: sourceText(2000), "a\u202egpj.js": sourceText(2000), "`|_b.js": "tiny" });
    const { status, stderr } = await mainHere([site, ...quick, "--report", path]);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
    const html = await reportAt(path);
    assert.ok(html.length < 60_000, `${html.length} characters`);
    assert.equal(html.match(/<script/g)?.length, 2);
    assert.ok(!html.includes("<img") && !html.includes("\u202e"));
    assert.ok(!/(?:src|href)="(?!data:)/.test(html) && !html.includes("http://"), "it loads something");
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)!;
    const rules = policy.replaceAll("&#39;", "'").split("; ");
    const [script, style] = [/<script>([^]*?)<\/script>/, /<style>([^]*?)<\/style>/].map((element) => {
      return `'sha256-${createHash("sha256").update(element.exec(html)![1]).digest("base64")}'`;
    });
    assert.deepEqual(rules.slice(0, 3), ["default-src 'none'", `script-src ${script}`, `style-src ${style}`]);
    assert.deepEqual(
      (await shownIn(html)).files.map(({ path }) => path).sort(),
      [
        "`|_b.js",
        HOSTILE,
        "a\\u202egpj.js",
        "about/index.html",
        "assets/app-9d8b7a6f.js",
        "back.svg",
        "index.html",
        "more.css",
        "picture.png",
        "small.txt",
        "style.css",
        "unknown.bin",
      ].sort(),
    );
    for (const words of ["compressed in themselves", "smaller than 1.0 kB", "by their content", "A visit on 4G"]) {
      assert.ok(html.includes(words), words);
    }
    assert.ok(!html.includes("Since the previous"));
    assert.deepEqual(await listed(folder).then((paths) => paths.filter((each) => !each.startsWith("site"))), [
      "report.html",
    ]);
  }));

test("a page knows of each file its size, its type and the sizes of its variants, whatever it is called", () =>
  inFolder(async (folder) => {
    const [site, path] = [join(folder, "site"), join(folder, "report.html")];
    const names = [
      "a.js",
      "\u{1f600}a.js",
      "\u{1f601}b.js",
      "js",
      "no ending",
      "v1.0/x",
      "x.y.svg",
      "a.",
      "a\nb.js",
      "\u00fc.css",
    ];
    await writeTree(site, Object.fromEntries(names.map((name, i) => [name, sourceText(1500 + 700 * i, i)])));
    await writeTree(site, { "large.map": sourceText(300_000, 50), "empty.txt": "" });
    await mainHere([site, ...quick, "--report", path]);
    const { files, words } = await shownIn(await reportAt(path));
    const sizeOf = (name: string): Promise<number> => stat(join(site, name)).then(({ size }) => size, () => 0);
    const expected = await Promise.all([...names, "large.map", "empty.txt"].map(async (name) => {
      const sizes = await Promise.all(["br", "zst", "gz"].map((end) => sizeOf(`${name}.${end}`)));
      return [name.replace("\n", "\\u000a"), typeOf(name), await sizeOf(name), sizes];
    }));
    assert.deepEqual(
      files.map(({ path, type, size, sizes }) => [path, words.types[type], size, sizes]).sort(),
      expected.sort(),
    );
    assert.deepEqual(words.formats, ["brotli", "zstd", "gzip"]);
  }));

test("the data of 10,000 hashed files and their variants take less than 250,000 bytes of a page", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
  const random = randomNumbers(1);
  const files = Array.from({ length: 10_000 }, (_, i): SiteFile => {
    const hash = Array.from({ length: 8 }, () => letters[random(64)]).join("");
    const size = 300 + random(6000);
    const [brotli, zstd, gzip] = [0.3, 0.31, 0.32].map((share) => Math.round(size * share) + random(40));
    const path = `assets/${["Button", "Modal", "chart", "vendor"][i % 4]}-${hash}.${["js", "css", "svg"][random(3)]}`;
    return {
      path,
      type: typeOf(path),
      size,
      sizes: { brotli, zstd, gzip },
      state: "unchanged",
      isImmutable: true,
      change: "new",
    };
  }).sort((a, b) => a.path < b.path ? -1 : 1);
  const data = pageDataOf({ files, formats: ["brotli", "zstd", "gzip"] }, ["JavaScript", "CSS", "SVG"]);
  const { length } = deflateRawSync(JSON.stringify(data), { level: 9 }).toString("base64");
  assert.ok(length < 250_000, `${length} characters`);
});

test("--report FILE.md writes a summary, in which names are no markup either", () =>
  inFolder(async (folder) => {
    const [site, path] = [join(folder, "s_i|te"), join(folder, "summary.md")];
    await writeSite(site, "app-9d8b7a6f.js", 1);
    await mainHere([site, ...quick, "--report", path]);
    const text = await reportAt(path);
    assert.match(text, /^### <code>s&#95;i&#124;te<\/code>: [\d.]+ kB → [\d.]+ kB \(−\d\d%\)\n\n9 files: 6 compressed/);
    assert.match(text, /\n\| type \| files \| as built \| brotli \| zstd \| gzip \|\n\| --- \| ---: \|/);
    assert.match(text, /\| first, not compressed \| 6 \|/);
    assert.match(text, /\| back, nothing new \| 5 \| 0 B \| 1\.0 s \|/);
  }));

test("reports compare with the run before, and with the previous deploy for its deltas", () =>
  inFolder(async (folder) => {
    const [old, site, path, text] = ["old", "site", "r.html", "r.md"].map((name) => join(folder, name));
    await writeSite(old, "app-9d8b7a6f.js", 1);
    await writeTree(old, { "gone.txt": "g".repeat(5000) });
    await mainHere([old, ...quick]);
    await writeSite(site, "app-3f9a1c0b.js", 2);
    await writeTree(site, { "new.txt": "n".repeat(5000) });
    await mainHere([site, ...quick, "--previous", old, "--report", path, "--report", text]);
    const html = await reportAt(path);
    const { files, words } = await shownIn(html);
    const changes = Object.fromEntries(files.map(({ path, change }) => [path, words.changes[change!]]));
    assert.deepEqual(changes, {
      "about/index.html": "changed",
      "assets/app-3f9a1c0b.js": "changed",
      "back.svg": "same",
      "index.html": "changed",
      "more.css": "same",
      "new.txt": "new",
      "picture.png": "same",
      "small.txt": "same",
      "style.css": "same",
      "unknown.bin": "same",
    });
    assert.match(html, /Since the previous deploy/);
    assert.match(html, /<b>3<\/b> changed, <b>1<\/b> new, <b>1<\/b> gone/);
    assert.match(html, /Back after this deploy/);
    const summary = await reportAt(text);
    assert.match(summary, /\*\*Since the previous deploy:\*\* 3 changed, 1 new, 1 gone/);
    assert.match(summary, /<code>assets\/app-3f9a1c0b\.js<\/code> \| changed \|/);
    // The same folder again: its own manifest is what there was before.
    await writeFile(join(site, "new.txt"), "m".repeat(6000));
    await mainHere([site, ...quick, "--report", text]);
    assert.match(await reportAt(text), /\*\*Since the previous run:\*\* 1 changed, 0 new, 0 gone/);
    await mainHere([site, ...quick, "--report", text]);
    assert.match(await reportAt(text), /Nothing has changed since the previous run\./);
  }));

test("a report says for each previous deploy how many files its visitors get as deltas, and how many bytes", () =>
  inFolder(async (folder) => {
    const textOf = (seed: number): string => new TextDecoder().decode(sourceText(9000, seed));
    const deploys = ["one", "two", "three", "four"];
    for (const [i, name] of deploys.entries()) {
      await writeTree(join(folder, name), {
        [`assets/app-9d8b7a6${i}.js`]: textOf(1) + name,
        "style.css": textOf(2) + (i > 1 ? "b { color: red }" : ""), // the same twice
        "late.txt": textOf(3) + (i === 3 ? "late" : ""),
        "late.js.map": textOf(4) + name, // which no visitor loads
        ...(i === 3 && { "new.css": textOf(5) }),
      });
    }
    const [now, ...previous] = deploys.toReversed().map((name) => join(folder, name));
    await rm(join(folder, "two", manifestName), { force: true });
    const paths = ["report.md", "report.html"].map((name) => join(folder, name));
    const words = [...previous.flatMap((each) => ["--previous", each]), ...paths.flatMap((each) => ["--report", each])];
    assert.deepEqual(await mainHere([now!, ...quick, ...words]), { status: 0, stdout: "", stderr: "" });
    const [text, html] = await Promise.all(paths.map((path) => readFile(path, "utf8")));
    const rows = text!.split("\n").filter((line) => /^\| <code>(?:one|two|three)</.test(line));
    assert.deepEqual(rows.map((row) => row.split(" | ").slice(0, 3).join(" ")), [
      "| <code>three</code> 2 2",
      "| <code>two</code> 3 3",
      "| <code>one</code> 3 3",
    ]);
    const sizeOf = async (name: string): Promise<number> => (await stat(join(now!, name))).size;
    const least = async (name: string, ends: readonly string[]): Promise<number> =>
      Math.min(...await Promise.all(ends.map((end) => sizeOf(`${name}${end}`))));
    const plain = [".br", ".zst", ".gz"];
    const fresh = await least("new.css", plain);
    const third = [".3.dcb", ".3.dcz"];
    const script = "assets/app-9d8b7a63.js";
    // Of the style sheet there are two versions only: that of the first deploy is the second.
    const bytes = fresh + await least(script, third) + await least("late.txt", [".dcb", ".dcz"]) +
      await least("style.css", [".dcb", ".dcz"]);
    assert.ok(rows[2]!.includes(` | ${formatBytes(bytes)} | `), `${rows[2]}, ${bytes}`);
    assert.equal(html!.match(/<bdi>(?:one|two|three)<\/bdi>/g)?.length, 3);
    assert.ok(html!.includes("3 (100%)"));
    const types = text!.split("\n").filter((line) => line.startsWith("| JavaScript"));
    assert.ok(types[0]!.endsWith(` | ${formatBytes(await sizeOf(`${script}.3.dcz`))} |`), types[0]);
  }));

test("a report compares with the files of a previous deploy whose manifest is lost or unreadable, which is told", () =>
  inFolder(async (folder) => {
    const [old, site, text] = ["old", "site", "r.md"].map((name) => join(folder, name));
    await writeTree(old, { "a-9d8b7a6f.js": sourceText(3000, 1), "b.js": sourceText(3000, 2) });
    await mainHere([old, ...quick]);
    await writeTree(site, { "a-3f9a1c0b.js": sourceText(3100, 1), "b.js": sourceText(3000, 2) });
    for (const manifest of [undefined, "{"]) {
      if (manifest === undefined) await rm(join(old, manifestName));
      else await writeFile(join(old, manifestName), manifest);
      const { stderr } = await mainHere([site, ...quick, "--previous", old, "--report", text]);
      assert.match(stderr, manifest === undefined ? /^$/ : /is not a manifest.*; the report compares its files/);
      const summary = await reportAt(text);
      assert.match(summary, /\*\*Since the previous deploy:\*\* 1 changed, 0 new, 0 gone/);
      assert.match(summary, /<code>a-3f9a1c0b\.js<\/code> \| changed \| [\d.]+ kB \|/);
    }
  }));

test(
  "a report that cannot be written is refused before the run",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const [site, out] = [join(folder, "site"), join(folder, "out")];
      await writeSite(site, "app.js", 1);
      await mkdir(join(folder, "folder.md"));
      await symlink(join(site, "assets"), join(folder, "link"));
      await symlink(join(site, "report.html"), join(folder, "dangling.html"));
      const before = await listed(site);
      const refusals: readonly (readonly [string, RegExp])[] = [
        [join(site, "report.html"), /is in .*site, which is deployed: write it elsewhere/],
        [join(site, "assets/r.md"), /is in .*site, which is deployed/],
        [join(folder, "link/r.md"), /is in .*site, which is deployed/],
        [join(out, "r.html"), /there is no folder .*out/],
        [join(folder, "none/r.html"), /there is no folder .*none/],
        [join(folder, "folder.md"), /a folder, or what is no file, has this name/],
        [join(folder, "dangling.html"), /the symbolic link leads nowhere/],
        [join(folder, "report.pdf"), /name a page, report\.html, or a summary in Markdown, report\.md/],
      ];
      for (const [path, message] of refusals) {
        const { status, stderr } = await mainHere([site, ...quick, "--out", out, "--report", path]);
        assert.equal(status, 2, path);
        assert.match(stderr, message);
      }
      for (const action of ["--check", "--dry-run", "--clean"]) {
        const { status, stderr } = await mainHere([site, action, "--report", join(folder, "r.html")]);
        assert.deepEqual([status, stderr.split("\n")[0]], [
          2,
          `millrace: --report is about a run that compresses: leave out ${action}`,
        ]);
      }
      assert.deepEqual(await listed(site), before);
    }),
);

test("a report tells of problems, and of a site without pages or anything to compress", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeTree(site, { "a.js": sourceText(2000), "a.js.gz": "somebody's notes" });
    const html = join(folder, "r.html");
    assert.equal((await mainHere([site, ...quick, "--report", html])).status, 1);
    assert.match(
      await reportAt(html),
      /1 problem<\/h2>\s*<ul><li><bdi class="name">a\.js\.gz<\/bdi> it is in the/,
    );
    await rm(site, { recursive: true });
    await writeTree(site, { "empty.js": "" });
    await mainHere([site, ...quick, "--report", html, "--report", join(folder, "r.md")]);
    assert.match(await reportAt(html), /<strong>0%<\/strong>/);
    assert.match(await reportAt(join(folder, "r.md")), /0 B → 0 B \(0%\)/);
  }));
