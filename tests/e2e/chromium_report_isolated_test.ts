import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import type { AxeResults } from "axe-core";
import { mainHere } from "../cli/main_here.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { isLong } from "../support/long_run.ts";
import { root, runtime } from "../support/runtime.ts";
import { type Browser, noChromium, openBrowser } from "./chromium.ts";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const artefacts = process.env.MILLRACE_ARTEFACTS ?? join(root, "artefacts");

/** Returns the pairs of tiles of which one lies on another by more than their borders. */
function overlaps({ page }: Browser): Promise<string[]> {
  return page.evaluate(() => {
    const tiles = [...document.querySelectorAll(".tile")].map((tile) => tile.getBoundingClientRect());
    const pairs = tiles.flatMap((a, i) =>
      tiles.slice(i + 1).filter((b) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        return wide > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
      }).map((b) => JSON.stringify([a, b]))
    );
    return pairs.slice(0, 3);
  });
}

/** The number of files, including those of {@linkcode writeSite}. */
const FILES = isLong ? 2000 : 500;
const SHOWN = FILES.toLocaleString("en");
const HOSTILE = "x</script><img src=x onerror=globalThis.hit=1>.js";

/** A site of many files, most of them too small to take time. */
async function writeSite(folder: string): Promise<void> {
  const files: Record<string, string | Uint8Array> = {
    "index.html": `<!doctype html><script src=assets/app.js></script>${"<p>The mill turns.</p>".repeat(100)}`,
    "assets/app.js": sourceText(90_000, 1),
    "assets/<img src=x onerror=globalThis.hit=2>.css": "p { margin: 0 }\n".repeat(900),
    [HOSTILE]: sourceText(30_000, 2),
  };
  for (let i = Object.keys(files).length; i < FILES; i++) files[`data/${i % 20}/${i}.json`] = `{"id":${i}}`.padEnd(600);
  await writeTree(folder, files);
}

interface Axe {
  run(options?: { readonly runOnly: readonly string[] }): Promise<AxeResults>;
}

/** Returns what axe finds on the page by these rules, or by all. */
async function violations({ page }: Browser, rules?: readonly string[]): Promise<string[]> {
  const results = await page.evaluate(
    (rules) => (globalThis as unknown as { axe: Axe }).axe.run(rules && { runOnly: rules }),
    rules,
  );
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

test("a report in Chromium: no name runs, axe finds nothing, and of its rows only those in view exist", {
  skip: noChromium || (runtime !== "node" && !isLong && "a report has the same bytes everywhere"),
}, () =>
  inFolder(async (folder) => {
    const [site, report] = [join(folder, "site"), join(folder, "report.html")];
    await writeSite(site);
    const { stderr } = await mainHere([
      site,
      "--level-brotli",
      "5",
      "--level-zstd",
      "3",
      "--quiet",
      "--report",
      report,
    ]);
    assert.equal(stderr, "");
    const browser = await openBrowser(join(folder, "profile"));
    try {
      const { page, complaints, takeExchanges } = browser;
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(pathToFileURL(report).href);
      await page.evaluate(await readFile(axe, "utf8"));
      await mkdir(artefacts, { recursive: true });
      // The schemes differ in colors alone.
      for (const [colorScheme, rules] of [["light"], ["dark", ["color-contrast"]]] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(browser, rules), [], colorScheme);
        await page.screenshot({ path: join(artefacts, `report-${colorScheme}.png`), fullPage: true });
        assert.deepEqual(await overlaps(browser), []);
      }
      await page.setViewportSize({ width: 390, height: 800 });
      await page.screenshot({ path: join(artefacts, "report-phone.png"), fullPage: true });
      assert.deepEqual(await overlaps(browser), [], "on a phone");
      assert.match((await page.locator("div.tile").first().textContent())!, /^[\d,]+ smaller$/);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        "it is wider than a phone",
      );
      await page.setViewportSize({ width: 1280, height: 720 });
      // All rows can be reached, and few exist; the table is no higher than its rows.
      const frame = page.locator(".frame");
      assert.equal(await page.locator("#count").textContent(), `${SHOWN} files`);
      assert.equal(await page.locator(".table").getAttribute("aria-rowcount"), String(FILES + 1));
      await frame.evaluate((element) => element.scrollTop = element.scrollHeight);
      await page.locator(`.body .row[aria-rowindex="${FILES + 1}"]`).waitFor();
      assert.ok(await page.locator(".body .row").count() < 80);
      // Sorted, filtered, and found from the map by keys alone.
      await page.getByRole("button", { name: "File" }).click();
      await page.locator('.body .row[aria-rowindex="2"]').getByText("assets/<img src=x").waitFor();
      await page.locator("#find").fill("/script>");
      assert.equal(await page.locator("#count").textContent(), `1 of ${SHOWN} files`);
      assert.ok(await frame.evaluate((element) => element.clientHeight < 120), "below one row it is blank");
      await page.locator(".tile[tabindex='0']").focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Enter");
      const found = await page.locator("#pointed").textContent();
      const marked = await page.locator(".body .marked bdi").textContent();
      assert.ok(marked !== null && found?.includes(marked), `${found} and ${marked}`);
      assert.equal(await page.locator("#count").textContent(), `${SHOWN} files`);
      // On paper there are the first rows, one below the other.
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await page.locator(".body .row").count(), 300);
      assert.equal(await page.evaluate(() => (globalThis as { hit?: number }).hit), undefined);
      const asked = [...(await takeExchanges()).keys()].filter((path) => path !== ""); // that of the page, which is a file
      assert.deepEqual([complaints, asked], [[], []]);
    } finally {
      await browser.close();
    }
  }));
