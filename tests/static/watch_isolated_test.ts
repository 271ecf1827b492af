import assert from "node:assert/strict";
import { renameSync, symlinkSync } from "node:fs";
import { appendFile, chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before } from "node:test";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { needs } from "../support/needs.ts";
import { runtime } from "../support/runtime.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { entries } from "./served_handler.ts";
import { ServerProcess } from "./server_process.ts";
import { overlapping } from "../support/overlapping.ts";

const test = overlapping();

const LIMIT = 60_000;

let folder = "";
let folders = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-watch-"));
});

after(() => rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly site: string;
  readonly handler: StaticHandler;
  /** Returns the number of scans of the folder. */
  readonly scans: () => number;
}

/** Watches a site that consists of `always.txt` and the given files. */
function watching(files: Readonly<Record<string, string>>, use: (scene: Scene) => Promise<void>): Promise<void> {
  return serving(files, { watch: true }, use);
}

async function serving(
  files: Readonly<Record<string, string>>,
  { watch }: { readonly watch: boolean },
  use: (scene: Scene) => Promise<void>,
): Promise<void> {
  const site = join(folder, `${++folders}`);
  await writeTree(site, { "always.txt": "always", ...files });
  let scans = 0;
  const handler = await createStaticHandler(site, {
    watch,
    headers: (path) => {
      if (path === "always.txt") scans++;
      return undefined;
    },
  });
  try {
    await use({ site, handler, scans: () => scans });
  } finally {
    await handler.close();
  }
}

/** Returns the content at a path; the status if that is not 200. */
async function contentAt(handler: StaticHandler, path: string): Promise<string | number> {
  const response = await handler.fetch(new Request(`http://site.example/${path}`));
  const text = await response.text();
  return response.status === 200 ? text : response.status;
}

async function becomes(handler: StaticHandler, path: string, expected: string | number): Promise<void> {
  const deadline = Date.now() + LIMIT;
  let found = await contentAt(handler, path);
  while (found !== expected && Date.now() < deadline) {
    await pause(20);
    found = await contentAt(handler, path);
  }
  assert.equal(found, expected, path);
}

test("watch: a file that is edited is answered as it is now", () =>
  watching({ "page.html": "former" }, async ({ site, handler }) => {
    assert.equal(await contentAt(handler, "page.html"), "former");
    await writeFile(join(site, "page.html"), "latter");
    await becomes(handler, "page.html", "latter");
    await writeFile(join(site, "page.html.new"), "last");
    await rename(join(site, "page.html.new"), join(site, "page.html"));
    await becomes(handler, "page.html", "last");
    assert.equal(await contentAt(handler, "page.html.new"), 404);
  }));

test("watch: files come, move and go, in folders old and new", () =>
  watching({ "old/file.txt": "in the old folder", "gone.txt": "to go" }, async ({ site, handler }) => {
    await writeFile(join(site, "new.txt"), "new");
    await becomes(handler, "new.txt", "new");
    await writeFile(join(site, "old/new.txt"), "new in the old folder");
    await becomes(handler, "old/new.txt", "new in the old folder");
    await mkdir(join(site, "new/deep"), { recursive: true });
    await writeFile(join(site, "new/deep/file.txt"), "deep");
    await becomes(handler, "new/deep/file.txt", "deep");
    await writeFile(join(site, "new/deep/file.txt"), "deep and edited");
    await becomes(handler, "new/deep/file.txt", "deep and edited");
    await rename(join(site, "old"), join(site, "moved"));
    await becomes(handler, "moved/file.txt", "in the old folder");
    assert.equal(await contentAt(handler, "old/file.txt"), 404);
    await rm(join(site, "gone.txt"));
    await becomes(handler, "gone.txt", 404);
    await rm(join(site, "new"), { recursive: true });
    await becomes(handler, "new/deep/file.txt", 404);
  }));

test("watch: links that lead nowhere, in whatever way, keep no other file from being watched", {
  skip: needs("links"),
}, () =>
  watching({ "page.html": "first", "sub/page.html": "first" }, async ({ site, handler }) => {
    const targets = { loop: "loop", within: "page.html/x", long: "x".repeat(300), nowhere: "nowhere", up: ".." };
    for (const folder of ["", "sub"]) {
      for (const [name, target] of Object.entries(targets)) symlinkSync(target, join(site, folder, name));
      await writeFile(join(site, folder, "page.html"), "second");
      await becomes(handler, join(folder, "page.html"), "second");
    }
    const other = await createStaticHandler(site, { watch: true, onWarning() {} });
    await writeFile(join(site, "sub/page.html"), "third");
    await becomes(other, "sub/page.html", "third");
    await other.close();
  }));

test(
  "watch: what links lead to is watched, and each link on the way, in hidden folders, too",
  {
    skip: needs("links"),
  },
  () =>
    watching({ ".store/v1/page.html": "first", ".store/v2/page.html": "second", ".empty/x": "" }, async ({ site }) => {
      const at = (path: string): string => join(site, path);
      symlinkSync("v1", at(".store/current"));
      symlinkSync(".store/current", at("folder"));
      symlinkSync(".store/current/page.html", at("file.html"));
      const handler = await createStaticHandler(site, { watch: true });
      const both = async (expected: string): Promise<void> => {
        for (const path of ["folder/page.html", "file.html"]) await becomes(handler, path, expected);
      };
      await both("first");
      await writeFile(at(".store/v1/page.html"), "written over");
      await both("written over");
      await writeFile(at(".store/v1/new"), "replaced");
      await rename(at(".store/v1/new"), at(".store/v1/page.html"));
      await both("replaced");
      symlinkSync("v2", at(".store/next"));
      await rename(at(".store/next"), at(".store/current"));
      await both("second");
      await writeFile(at(".store/v2/page.html"), "written over");
      await both("written over");
      for (const path of [".empty/below", ".missing/page.html", ".empty/x/page.html"]) {
        symlinkSync(path, at(path.split("/")[0].slice(1) + path.split("/")[1])); // they lead nowhere yet
      }
      await writeFile(at("sign"), "");
      await becomes(handler, "sign", "");
      await writeTree(site, { ".empty/below/page.html": "below" });
      await becomes(handler, "emptybelow/page.html", "below");
      await writeTree(site, { ".missing/page.html": "there" });
      await becomes(handler, "missingpage.html", "there");
      await handler.close();
    }),
);

test("watch: a folder that may not be read, which comes or is there, keeps no other from being watched", {
  skip: process.getuid?.() === 0
    ? "root may read all"
    : runtime === "deno"
    ? "Deno watches no tree with such a folder"
    : needs("modes"),
}, () =>
  watching({ "page.html": "first" }, async ({ site, handler }) => {
    await mkdir(join(site, "locked"), { mode: 0 });
    await writeFile(join(site, "page.html"), "second");
    await becomes(handler, "page.html", "second");
    const other = await createStaticHandler(site, { watch: true, onWarning() {} });
    await writeFile(join(site, "page.html"), "third");
    await becomes(other, "page.html", "third");
    await other.close();
    await chmod(join(site, "locked"), 0o755);
    await writeFile(join(site, "locked/page.html"), "readable");
    await becomes(handler, "locked/page.html", "readable");
  }));

test("watch: a burst of 500 changes is scanned a few times at most", () =>
  watching({ "last.txt": "former" }, async ({ site, handler, scans }) => {
    const before = scans();
    for (let i = 0; i < 499; i++) await writeFile(join(site, `file-${i % 100}.txt`), `change ${i}`);
    await writeFile(join(site, "last.txt"), "latter");
    await becomes(handler, "last.txt", "latter");
    for (const i of [0, 50, 98]) await becomes(handler, `file-${i}.txt`, `change ${i + 400}`);
    const after = scans();
    assert.ok(after > before && after - before < 50, `${after - before} scans`);
  }));

test("watch: changes without an end do not put off the scan for ever", () =>
  watching({ "page.html": "former" }, async ({ site, handler }) => {
    let isOver = false;
    const noisy = (async () => {
      while (!isOver) {
        await appendFile(join(site, "busy.log"), "one more line\n");
        await pause(10);
      }
    })();
    await writeFile(join(site, "page.html"), "latter");
    try {
      await becomes(handler, "page.html", "latter");
    } finally {
      isOver = true;
      await noisy;
    }
  }));

test("watch: a folder that is removed and built anew is served as before until it is whole, time and again", () =>
  watching({ "index.html": "build 0", "assets/a.js": "0", "assets/b.js": "0" }, async ({ site, handler }) => {
    for (let build = 1; build <= 3; build++) {
      const answers = new Set<string | number>();
      let isOver = false;
      const asking = (async () => {
        while (!isOver) {
          answers.add(await contentAt(handler, ""));
          await pause(5);
        }
      })();
      await rm(site, { recursive: true });
      await pause(300);
      await writeTree(site, { "assets/a.js": `${build}`, "assets/c.js": `${build}` });
      await pause(700);
      await writeTree(site, { "always.txt": "always", "index.html": `build ${build}` });
      await becomes(handler, "", `build ${build}`);
      await becomes(handler, "assets/a.js", `${build}`);
      assert.equal(await contentAt(handler, "assets/b.js"), 404);
      isOver = true;
      await asking;
      answers.add(`build ${build}`); // a request may have come too late for it
      assert.deepEqual([...answers].sort(), [`build ${build - 1}`, `build ${build}`]);
    }
  }));

test("watch: a folder that takes its place, by a link or by two renames at once, is served and watched then", {
  skip: needs("links"),
}, () =>
  watching({ "page.html": "0" }, async ({ site, handler }) => {
    for (const [i, isLink] of [false, true, true, false].entries()) {
      await writeTree(`${site}-${i}`, { "always.txt": "always", "page.html": `${i + 1}` });
      if (isLink) symlinkSync(`${site}-${i}`, `${site}-next`, "dir");
      // Synchronous: a watcher that looks at the name finds a folder there each time.
      renameSync(site, `${site}-old-${i}`);
      renameSync(isLink ? `${site}-next` : `${site}-${i}`, site);
      await becomes(handler, "page.html", `${i + 1}`);
      // The first may be seen by a scan that the watcher's begin brings about.
      for (const text of ["edited", "edited again"]) {
        await writeFile(join(site, "page.html"), text);
        await becomes(handler, "page.html", text);
      }
    }
  }));

test("watch: a folder below that another one replaces by two renames at once is served and watched then", () =>
  watching({ "sub/deep/page.html": "0", "sub/index.html": "0" }, async ({ site, handler }) => {
    await writeTree(`${site}-next`, { "deep/page.html": "1", "index.html": "1" });
    renameSync(join(site, "sub"), `${site}-former`);
    renameSync(`${site}-next`, join(site, "sub"));
    await becomes(handler, "sub/deep/page.html", "1");
    for (const text of ["edited", "edited again"]) {
      await writeFile(join(site, "sub/deep/page.html"), text);
      await becomes(handler, "sub/deep/page.html", text);
    }
  }));

test("watch: nothing is scanned any more once the handler is closed", () =>
  watching({}, async ({ site, handler, scans }) => {
    await writeFile(join(site, "new.txt"), "new");
    await becomes(handler, "new.txt", "new");
    await pause(200);
    await writeFile(join(site, "another.txt"), "another"); // a scan for it may be due
    await handler.close();
    const before = scans();
    await writeFile(join(site, "last.txt"), "last");
    await pause(500);
    assert.equal(scans(), before);
    assert.equal(await contentAt(handler, "new.txt"), 503);
  }));

test("without watch a file stays as it was scanned until reload()", () =>
  serving({ "page.html": "former" }, { watch: false }, async ({ site, handler }) => {
    assert.equal(await contentAt(handler, "page.html"), "former");
    await writeFile(join(site, "page.html"), "latter");
    await writeFile(join(site, "new.html"), "new");
    await pause(500);
    assert.equal(await contentAt(handler, "page.html"), "former");
    assert.equal(await contentAt(handler, "new.html"), 404);
    await handler.reload();
    assert.equal(await contentAt(handler, "page.html"), "latter");
    assert.equal(await contentAt(handler, "new.html"), "new");
  }));

for (const entry of entries) {
  test(`${entry}: a process that watches ends by itself once all is closed`, async () => {
    const site = join(folder, `${++folders}`);
    await writeTree(site, { "index.html": "<!doctype html><title>Mill</title>" });
    const server = await ServerProcess.start(site, entry, { watch: true });
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/`);
      assert.equal(response.status, 200);
      await response.text();
      await writeFile(join(site, "new.txt"), "new");
      await pause(20); // a scan is due
      assert.equal(await server.leave(), 0);
    } finally {
      await server.stop();
    }
  });
}
