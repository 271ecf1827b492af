import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { type Browser, noChromium, openBrowser } from "../e2e/chromium.ts";
import { compress } from "../../lib/codecs/mod.ts";
import { builtPackage } from "../support/built_package.ts";
import { sourceText } from "../support/bytes.ts";
import { writeTree } from "../support/folders.ts";
import { runtime } from "../support/runtime.ts";
import { atLast } from "../support/waits.ts";
import { runBuilt, type ServedSite, serveSite } from "./served_site.ts";

const skip = runtime !== "node" && "the site is built on Node, and has the same bytes everywhere";
// Loaded under Node only: nothing else drives browsers.
const browsers = skip ? [] : (await import("../browser/browsers.ts")).browsers;
const textOf = (length: number, seed: number): string => new TextDecoder().decode(sourceText(length, seed));
const PAGE = "playground.html";

let folder = "";
let server: ServedSite;
let browser: Browser;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), "millrace-playground-"));
  const { makeSite } = await import("../../.ci/site/build.ts");
  await makeSite(join(folder, "site"), await builtPackage());
  server = await serveSite(join(folder, "site"));
  if (!noChromium) browser = await openBrowser(join(folder, "profile"));
});

after(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Returns the text of a cell of the table of a format, behind the level. */
function bytesAt(format: string, level: number): Promise<string | null> {
  const row = browser.page.locator(`#levels-${format} tr`, { has: browser.page.locator(`input[value="${level}"]`) });
  return row.locator("td").first().textContent();
}

test("in Chromium the playground's sizes are those of the files that its command writes", {
  skip: skip || noChromium,
}, async () => {
  const { page, complaints } = browser;
  const text = textOf(9_000, 1);
  await writeTree(folder, {
    "dist/app.js": text,
    "dist/tiny.js": "let a;",
    "previous/app.js": text.slice(700),
  });
  await page.goto(`${server.url}${PAGE}`);
  await page.locator("#former").setInputFiles(join(folder, "previous/app.js"));
  await page.locator("#files").setInputFiles(["app.js", "tiny.js"].map((name) => join(folder, "dist", name)));
  await page.locator("#status", { hasText: "all levels" }).waitFor();
  assert.match((await page.locator("#left").textContent())!, /^tiny\.js is left alone/);
  // One level stays that of the command itself.
  const levels = { brotli: 9, zstd: 19, gzip: 6 };
  for (const [format, level] of Object.entries(levels)) {
    await page.locator(`input[name="${format}"][value="${level}"]`).check();
  }
  const command = (await page.locator("#command").textContent())!;
  const words = command.replace("npx @millrace/streams ", "").split(" ").map((word) => {
    return word === "dist" || word === "previous" ? join(folder, word) : word;
  });
  assert.equal(words[0], "precompress");
  await runBuilt(...words, "--quiet");
  const made = (extension: string): string => {
    return statSync(join(folder, `dist/app.js.${extension}`)).size.toLocaleString("en");
  };
  const shown = await Promise.all(Object.entries(levels).map(([format, level]) => bytesAt(format, level)));
  assert.deepEqual(shown, ["br", "zst", "gz"].map(made), command);
  await page.waitForFunction((size) => {
    const cells = [...document.querySelectorAll("#deltas tbody td")].map(({ textContent }) => textContent);
    return cells[1] === size && cells.every((text) => text !== "");
  }, made("br"));
  const deltas = (await page.locator("#deltas tbody td").allTextContents()).slice(1);
  assert.deepEqual(deltas, ["br", "dcb", "zst", "dcz"].map(made), command);
  assert.deepEqual(complaints, []);
});

test(
  "in Chromium a run and a race can be cancelled, and leave no worker behind",
  { skip: skip || noChromium },
  async () => {
    const { page } = browser;
    await page.goto(`${server.url}${PAGE}`);
    await writeTree(folder, { "large.js": sourceText(400_000, 2) });
    await page.locator("#files").setInputFiles(join(folder, "large.js"));
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator("#status", { hasText: "cancelled" }).waitFor();
    await page.getByRole("button", { name: "Start the race" }).click();
    await page.locator("#race rect").first().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator("#race output", { hasText: "Cancelled" }).waitFor();
    await atLast(() => page.workers().length === 0);
  },
);

/** Compresses a text, and returns the bytes that the page shows at the highest level of each format. */
async function bestSizes(text: string): Promise<(string | undefined)[]> {
  const byId = (id: string): HTMLElement => document.getElementById(id)!;
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let tries = 0; !isSo() && tries < 1200; tries++) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await until(() => !byId("tool").hidden);
  (byId("text") as HTMLTextAreaElement).value = text;
  (byId("text-form") as HTMLFormElement).requestSubmit();
  await until(() => byId("status").textContent!.includes("all levels"));
  return ["brotli", "zstd", "gzip"].map((format) => {
    return document.querySelector(`#levels-${format} td`)?.textContent ?? undefined;
  });
}

/** Returns what the search of a page finds first. */
async function firstFound(words: string): Promise<string | null | undefined> {
  const field = document.querySelector<HTMLInputElement>(".search input")!;
  field.focus();
  field.value = words;
  field.dispatchEvent(new Event("input"));
  for (let tries = 0; tries < 600; tries++) {
    const found = document.querySelector(".search li b");
    if (found) return found.textContent;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

for (const { name, missing, open } of browsers.filter(({ name }) => name !== "Chromium")) {
  test(`in ${name} the playground makes the same bytes, and the search finds`, { skip: skip || missing }, async () => {
    const text = textOf(5_000, 3);
    const page = await open(join(folder, `profile-${name}`));
    try {
      await page.goto(`${server.url}${PAGE}`);
      const formats = [["brotli", 11], ["zstd", 22], ["gzip", 12]] as const;
      const sizes = await Promise.all(formats.map(async ([format, level]) => {
        return (await compress(new TextEncoder().encode(text), { format, level })).length.toLocaleString("en");
      }));
      assert.deepEqual(await page.call(bestSizes, text), sizes);
      await page.goto(`${server.url}guide/text.html`);
      assert.equal(await page.call(firstFound, "createStaticHandler"), "createStaticHandler");
      assert.deepEqual(page.complaints, []);
    } finally {
      await page.close();
    }
  });
}
