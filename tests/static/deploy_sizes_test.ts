import assert from "node:assert/strict";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { ContentColumns } from "../../lib/static/scan/found_files.ts";
import { inFolder, writeTree } from "../support/folders.ts";

/** The numbers of files of successive deploys: those at which the columns of a tree grow, and far from each other. */
const SIZES = [513, 512, 20, 769];

test("ContentColumns.isSame() compares contents whichever of two trees is larger", () => {
  const columnsOf = (length: number): ContentColumns => {
    const columns = new ContentColumns();
    for (let i = 0; i < length; i++) {
      columns.add();
      columns.set(i, 1, i.toString(16).padStart(64, "0"), "hex");
    }
    return columns;
  };
  for (const size of SIZES) {
    for (const other of SIZES) {
      const [now, then] = [columnsOf(size), columnsOf(other)];
      for (const [index, earlier] of [[0, 0], [size - 1, other - 1], [0, other - 1], [size - 1, 0]] as const) {
        assert.equal(
          now.isSame(index, then, earlier),
          index === earlier,
          `${index} of ${size}, ${earlier} of ${other}`,
        );
      }
    }
  }
});

test("reload() serves a deploy with fewer files, and with more, and warns of changed immutable names in both", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    const deploy = async (number: number): Promise<void> => {
      const files: Record<string, string> = {};
      for (let i = 0; i < SIZES[number]; i++) files[`page${i}.html`] = `page ${i}`;
      files["app-4f2a9c1b.js"] = `deploy ${number}`;
      await writeTree(join(folder, `deploy${number}`), files);
      await rm(site, { recursive: true, force: true });
      await rename(join(folder, `deploy${number}`), site);
    };
    await deploy(0);
    const warnings: string[] = [];
    await using handler = await createStaticHandler(site, {
      onWarning: ({ path, message }) => warnings.push(`${path}: ${message}`),
    });
    for (let number = 1; number < SIZES.length; number++) {
      await deploy(number);
      await handler.reload();
      assert.equal(handler.stats().files, SIZES[number] + 1);
      const response = await handler.fetch(new Request("http://site/app-4f2a9c1b.js"));
      assert.equal(await response.text(), `deploy ${number}`);
      assert.deepEqual(warnings.splice(0).map((each) => each.slice(0, 28)), ["app-4f2a9c1b.js: has changed"]);
    }
  }));
