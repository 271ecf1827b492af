import assert from "node:assert/strict";
import test from "node:test";
import { currentPageAssets, pageAssets } from "../../.ci/report_page.ts";

test("the script and the style of reports are those that their sources make: npm run build:report", async () => {
  assert.equal(currentPageAssets(), await pageAssets());
});
