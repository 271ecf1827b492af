import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { isLong } from "../support/long_run.ts";
import { root, runtime } from "../support/runtime.ts";
import type { OpenPage, TestedBrowser } from "./browsers.ts";
import type { Group } from "./page/groups.ts";
import type { PageApi, Place } from "./page/page.ts";
import { type PageServer, servePage, STRICT } from "./server.ts";
import type { Files } from "./site.ts";

// Loaded under Node only: nothing else drives browsers.
const browsers = runtime === "node" ? (await import("./browsers.ts")).browsers : [];
/** The folder of pictures of the pages. */
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

/** The inputs that compress quickly at every level; a short run takes a third of their hashes. */
const quick = /(a sentence|one repeated byte|text between noise|streamed)$/;

async function goldenHashes(): Promise<Uint8Array> {
  const all = Object.entries(JSON.parse(await readFile(join(root, "tests/codecs/golden.json"), "utf8")));
  const chosen = all.filter(([name]) => quick.test(name));
  assert.ok(chosen.length > 80);
  const tried = chosen.filter((_, index) => isLong || index % 3 === 0);
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(tried)));
}

function codecsOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => /\w+_(?:en|de)coder/.exec(path)?.[0] ?? []).sort();
}

/** Rejects with `name` if a promise takes longer than a minute. */
async function withinAMinute<Value>(promise: Promise<Value>, name: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: not done after a minute`)), 60_000);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The group whose hashes take as long as all others, in short runs of one place. */
const HASHES: Group = "The same bytes everywhere";

/** Runs all groups in the page, then in its worker; in short runs hashes in one of four places. */
async function runAll(page: OpenPage, server: PageServer, name: "bundled" | "unbundled"): Promise<void> {
  for (const place of ["page", "worker"] as const) {
    for (const group of Object.keys(loads) as Group[]) {
      if (group === HASHES && !isLong && !(name === "unbundled" && place === "worker")) continue;
      const run = ([group, place]: readonly [Group, Place]) =>
        (globalThis as unknown as PageApi).runGroup(group, place);
      const rows = await withinAMinute(page.call(run, [group, place] as const), `${group} in the ${place}`);
      for (const { name, passed, seen } of rows) assert.ok(passed, `${place}: ${name}: ${seen}`);
      assert.deepEqual(codecsOf(server.takePaths()), loads[group], `codecs that ${group} loads in the ${place}`);
    }
  }
}

/** Waits for the page's script, which WebDriver may not do. */
async function started(ms: number): Promise<boolean> {
  for (let waited = 0; waited < ms && !("runGroup" in globalThis); waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return "runGroup" in globalThis;
}

/** Whether the installed streams replace the page's, until they are uninstalled. */
async function installed(folder: string): Promise<boolean> {
  const native = ReadableStream;
  const { uninstall } = await import(`${folder}install.js`);
  const ours = (await import(`${folder}streams.js`)).ReadableStream;
  const isInstalled = ReadableStream === ours && await new Response(new Blob(["blob"]).stream()).text() === "blob";
  uninstall();
  return isInstalled && ReadableStream === native;
}

/** Returns the error in a page whose policy allows no WebAssembly. */
async function refusal(folder: string): Promise<string> {
  const { decompress } = await import(`${folder}codecs.js`);
  return await decompress(new Uint8Array(9), { format: "zstd" }).catch(String);
}

/** A service worker, which may not load anything later: the codecs of the entries come with them. */
const SERVICE_WORKER = `
import * as brotli from "./brotli.js";
import { compress } from "./codecs.js";
import * as gzip from "./gzip.js";
import * as zstd from "./zstd.js";
addEventListener("message", async ({ source }) => {
  const rows = [await compress(new Uint8Array(9), { format: "gzip" }).catch(String)];
  for (const { compress, decompress, CompressionStream, DecompressionStream } of [gzip, brotli, zstd]) {
    const body = new Blob([await decompress(await compress(new Uint8Array(1000)))]).stream();
    const stream = body.pipeThrough(new CompressionStream()).pipeThrough(new DecompressionStream());
    rows.push(await new Response(stream).arrayBuffer().then(({ byteLength }) => byteLength, String));
  }
  source.postMessage(rows);
});`;

/** Returns the codecs' results in a service worker: the error of those imported on first use, and sizes. */
async function servedRows(url: string): Promise<(string | number)[]> {
  const registration = await navigator.serviceWorker.register(url, { type: "module" });
  const worker = (registration.installing ?? registration.waiting ?? registration.active)!;
  while (worker.state !== "activated") await new Promise((changed) => worker.onstatechange = changed);
  const rows = await new Promise<(string | number)[]>((resolve) => {
    navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
    navigator.serviceWorker.startMessages();
    worker.postMessage(undefined);
  });
  await registration.unregister();
  return rows;
}

async function check(browser: TestedBrowser, name: "bundled" | "unbundled"): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-page-"));
  // Loaded here: nothing but Node runs the builds.
  const { bundledSite, unbundledSite } = await import("./site.ts");
  const files: Files = await (name === "bundled" ? bundledSite : unbundledSite)();
  files.set("/golden.json", await goldenHashes());
  files.set("/millrace/service_worker.js", new TextEncoder().encode(SERVICE_WORKER));
  const server = await servePage(files);
  const page = await browser.open(join(folder, "profile"));
  try {
    await page.goto(server.url);
    assert.ok(await page.call(started, 10_000), "the page's script has not run");
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(codecsOf(server.takePaths()), [], "codecs that the page loads before they are used");
    await page.call((about) => {
      document.getElementById("about")!.textContent = about;
    }, `${name}, in ${page.version}`);
    try {
      if (name === "unbundled") assert.equal(await page.call(installed, "/millrace/"), true);
      await runAll(page, server, name);
    } finally {
      await mkdir(artefacts, { recursive: true });
      const path = join(artefacts, `${browser.name.toLowerCase()}-${name}.png`);
      await page.screenshot(path);
      console.log(`what ${page.version} shows is kept in ${path}`);
    }
    assert.deepEqual(page.complaints, []);
    if (name === "unbundled") {
      const [error, ...sizes] = await page.call(servedRows, "/millrace/service_worker.js");
      assert.match(
        String(error),
        /^TypeError: cannot load gzip_encoder: import @millrace\/streams\/codecs\/gzip by a static/,
      );
      assert.deepEqual(sizes, [1000, 1000, 1000]);
      await page.goto(new URL(STRICT, server.url).href);
      assert.match(await page.call(refusal, "/millrace/"), /^TypeError: codecs cannot run.*'wasm-unsafe-eval'/);
    }
  } finally {
    await page.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

if (browsers.length === 0) test("pages work in browsers", { skip: "Node alone drives the browsers" }, () => {});

for (const browser of browsers) {
  const { name, missing: skip } = browser;
  test(
    `a page that esbuild bundled works in ${name}, in a module worker too`,
    { skip },
    () => check(browser, "bundled"),
  );
  test(
    `a page that imports the package without a bundler does in ${name}`,
    { skip },
    () => check(browser, "unbundled"),
  );
}
