import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import {
  createStaticHandler,
  type StaticHandler,
  type StaticHandlerOptions,
  type StaticWarning,
} from "../../lib/static/mod.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";

const SCRIPT = "assets/app-3f9a1c0b.js";
const STYLE = "assets/app-9d8b7a6f.css";
const FILES = { "index.html": "1", [SCRIPT]: "1", [STYLE]: "1", "assets/logo.svg": "1" };

let folder = "";
let folders = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-changed-"));
});

after(() => rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly handler: StaticHandler;
  /** Replaces files of the site. */
  readonly change: (files: Readonly<Record<string, string>>) => Promise<void>;
  /** Returns the warnings since the previous call, except those about files that changed while they were read. */
  readonly warnings: () => StaticWarning[];
}

async function serving(options: StaticHandlerOptions, use: (scene: Scene) => Promise<void>): Promise<void> {
  const site = join(folder, `${++folders}`);
  await writeTree(site, FILES);
  const warnings: StaticWarning[] = [];
  await using handler = await createStaticHandler(site, {
    ...options,
    onWarning: (warning) => warnings.push(warning),
  });
  await use({
    handler,
    change: (files) => writeTree(site, files),
    warnings: () => warnings.splice(0).filter(({ message }) => !message.startsWith("is not what was scanned")),
  });
}

const pathsOf = (warnings: readonly StaticWarning[]): string[] => warnings.map(({ path }) => path).sort();

test("reload() warns of a file that was answered as immutable and has changed, once for each change", () =>
  serving({}, async ({ handler, change, warnings }) => {
    await change({ [SCRIPT]: "2", "index.html": "2", "assets/logo.svg": "2" });
    assert.deepEqual(warnings(), []);
    await handler.reload();
    const [warning, ...others] = warnings();
    assert.deepEqual(others, []);
    assert.equal(warning.path, SCRIPT);
    assert.match(warning.message, /was answered as immutable.*up to a year.*another name.*immutable to false/);
    await handler.reload();
    assert.deepEqual(warnings(), [], "it has not changed again");
    await change({ [SCRIPT]: "3", [STYLE]: "3" });
    await handler.reload();
    assert.deepEqual(pathsOf(warnings()), [STYLE, SCRIPT].sort());
  }));

test("reload() does not warn of files that are gone, new, or written anew with the same bytes", () =>
  serving({}, async ({ handler, change, warnings }) => {
    await change({ [SCRIPT]: "1", "assets/new-1a2b3c4d.js": "1" });
    await handler.reload();
    assert.deepEqual(warnings(), []);
  }));

test("reload() warns by the option immutable, where that is given", async () => {
  await serving({ immutable: "assets/**" }, async ({ handler, change, warnings }) => {
    await change({ [SCRIPT]: "2", "index.html": "2", "assets/logo.svg": "2" });
    await handler.reload();
    assert.deepEqual(pathsOf(warnings()), [SCRIPT, "assets/logo.svg"].sort());
  });
  await serving({ immutable: false }, async ({ handler, change, warnings }) => {
    await change({ [SCRIPT]: "2" });
    await handler.reload();
    assert.deepEqual(warnings(), []);
  });
});

test("reload() warns of a file that was answered as immutable for the company that it had", () =>
  serving({}, async ({ handler, change, warnings }) => {
    await change({ "assets/film-1a2b3c4d.mp4": "1" });
    await handler.reload();
    await change({ "assets/film-1a2b3c4d.mp4": "2", "assets/other.js": "", "assets/one.js": "", "assets/two.js": "" });
    await change(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`assets/plain-${i}.js`, ""])));
    await handler.reload();
    assert.deepEqual(pathsOf(warnings()), ["assets/film-1a2b3c4d.mp4"]);
    const response = await handler.fetch(new Request("http://site.example/assets/film-1a2b3c4d.mp4"));
    assert.equal(response.headers.get("cache-control"), "no-cache", "it is not believed any more");
  }));

test("a scan that the handler makes by itself warns, too", () =>
  serving({ watch: true }, async ({ change, warnings }) => {
    await change({ [SCRIPT]: "2" });
    const found: string[] = [];
    for (const end = Date.now() + 60_000; !found.includes(SCRIPT) && Date.now() < end; await pause(20)) {
      found.push(...pathsOf(warnings()));
    }
    assert.deepEqual(found, [SCRIPT]);
  }));
