import assert from "node:assert/strict";
import process from "node:process";
import { join } from "node:path";
import test, { before } from "node:test";
import { noChromium, openBrowser } from "../../e2e/chromium.ts";
import { inFolder } from "../../support/folders.ts";
import { output } from "../../support/processes.ts";
import { root, runtime } from "../../support/runtime.ts";
import { StarterProject } from "./project.ts";
import { starters } from "./starters.ts";

/** `1` for all, or the names of some; they are installed from npm, some 2 GB in all. */
const asked = process.env.MILLRACE_STARTERS;
const chosen = asked === "1" ? Object.keys(starters) : asked?.split(",") ?? [];
const reason = runtime !== "node"
  ? "the starters run on Node"
  : asked === undefined
  ? "needs MILLRACE_STARTERS=1"
  : false;

before(async () => {
  if (reason === false) await output(process.execPath, [join(root, ".ci/build.ts")], root);
});

for (const [name, { hasDeltas }] of Object.entries(starters)) {
  const skip = reason || noChromium || !chosen.includes(name) && "not chosen";
  test(
    `${name}: a page is opened, deployed again and opened again, with deltas where files are named`,
    { skip },
    () =>
      inFolder(async (folder) => {
        const project = new StarterProject(name);
        await project.make();
        await project.say(false);
        await project.build();
        const first = await project.immutable();
        assert.ok(first.size > 0);
        let running = await project.serve(0);
        const url = `http://127.0.0.1:${running.port}/`;
        const browser = await openBrowser(join(folder, "profile"));
        try {
          await browser.page.goto(url, { waitUntil: "networkidle" });
          assert.doesNotMatch(await browser.page.locator("body").innerText(), /once more/);
          await browser.page.waitForTimeout(1500); // Chromium keeps dictionaries a little later
          const cold = [...(await browser.takeExchanges()).values()];

          await project.keep();
          await project.say(true);
          await project.build();
          await running.stop();
          running = await project.serve(running.port);
          for (const [path, hash] of first) {
            const now = await project.hashOf(path);
            assert.ok(now === undefined || now === hash, `${path} is wrongly immutable`);
          }
          await browser.page.goto(url, { waitUntil: "networkidle" });
          assert.match(await browser.page.locator("body").innerText(), /once more/);
          const warm = [...(await browser.takeExchanges()).values()];
          const deltas = warm.filter(({ response }) => /^dc[bz]$/.test(response["content-encoding"] ?? ""));
          const bytes = (all: typeof warm): number => all.reduce((sum, { transferred }) => sum + transferred, 0);
          console.log(
            `${name}: ${first.size} immutable; first visit ${bytes(cold)} bytes, after the deploy ${bytes(warm)}; ` +
              `deltas: ${deltas.map(({ path, transferred }) => `${path} ${transferred}`).join(", ") || "none"}`,
          );
          if (hasDeltas) assert.ok(deltas.length > 0, warm.map(({ path, status }) => `${path} ${status}`).join("\n"));
          assert.deepEqual(browser.complaints.filter((text) => !/favicon|404/.test(text)), []);
        } finally {
          await browser.close();
          await running.stop();
          await project.say(false);
        }
      }),
  );
}
