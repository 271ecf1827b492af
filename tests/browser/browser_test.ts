import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { type Browser, noChromium, openBrowser } from "../e2e/chromium.ts";
import { root, runtime } from "../e2e/consumer.ts";
import type { Group } from "./page/groups.ts";
import type { PageApi, Place } from "./page/page.ts";
import { type PageServer, servePage } from "./server.ts";
import type { Files } from "./site.ts";

const skip = runtime === "node" ? noChromium : "what runs is the browser, under Node only";
/** Where pictures of the pages are kept. */
const artefacts = process.env.MILLRACE_ARTEFACTS ?? join(root, "artefacts");

/** The codecs that each group may ask the server for, once: the page and its worker each load their own. */
const loads: Readonly<Record<Group, readonly string[]>> = {
  "Streams": [],
  "Batches and text": [],
  "A fetch": ["zstd_decoder"],
  "Codecs": [
    "brotli_decoder",
    "brotli_encoder",
    "deflate_decoder",
    "deflate_encoder",
    "zstd_encoder",
  ],
  "The same bytes everywhere": [],
};

/** Those whose inputs take no time at any level. */
const quick = /(a sentence|one repeated byte|text between noise|streamed)$/;

async function goldenHashes(): Promise<Uint8Array> {
  const all = Object.entries(JSON.parse(await readFile(join(root, "tests/codecs/golden.json"), "utf8")));
  const chosen = all.filter(([name]) => quick.test(name));
  assert.ok(chosen.length > 80);
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(chosen)));
}

function codecsOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => /\w+_(?:en|de)coder/.exec(path)?.[0] ?? []).sort();
}

/** A stream that never ends should fail by its name. */
async function withinAMinute<Value>(promise: Promise<Value>, name: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: not done after a minute`)), 60_000);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs all groups in the page, then in its worker. */
async function runAll({ page }: Browser, server: PageServer): Promise<void> {
  for (const place of ["page", "worker"] as const) {
    for (const group of Object.keys(loads) as Group[]) {
      const run = ([group, place]: readonly [Group, Place]) =>
        (globalThis as unknown as PageApi).runGroup(group, place);
      const rows = await withinAMinute(page.evaluate(run, [group, place] as const), `${group} in the ${place}`);
      for (const { name, passed, seen } of rows) assert.ok(passed, `${place}: ${name}: ${seen}`);
      assert.deepEqual(codecsOf(server.takePaths()), loads[group], `codecs that ${group} loads in the ${place}`);
    }
  }
}

async function check(name: "bundled" | "unbundled"): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-page-"));
  // Loaded here: nothing but Node runs the builds.
  const { bundledSite, unbundledSite } = await import("./site.ts");
  const files: Files = await (name === "bundled" ? bundledSite : unbundledSite)(folder);
  files.set("/golden.json", await goldenHashes());
  const server = await servePage(files);
  const browser = await openBrowser(join(folder, "profile"));
  try {
    const { page, complaints } = browser;
    await page.goto(server.url);
    assert.deepEqual(complaints, []);
    assert.deepEqual(codecsOf(server.takePaths()), [], "codecs that the page loads before they are used");
    await page.evaluate(
      ([name, agent]) => document.getElementById("about")!.textContent = `${name}, in ${agent}`,
      [name, `Chromium ${page.context().browser()?.version() ?? ""}`],
    );
    try {
      await runAll(browser, server);
    } finally {
      await mkdir(artefacts, { recursive: true });
      const path = join(artefacts, `browser-${name.replaceAll(" ", "-")}.png`);
      await page.screenshot({ path, fullPage: true });
      console.log(`what the page shows is kept in ${path}`);
    }
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test("a page that esbuild bundled works in Chromium, in a module worker too", { skip }, () => check("bundled"));

test("a page that imports the package without a bundler does too", { skip }, () => check("unbundled"));
