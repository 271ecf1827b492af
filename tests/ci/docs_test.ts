import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { makeDocs } from "../../.ci/docs.ts";
import { root, runtime } from "../support/runtime.ts";
import { inFolder } from "../support/folders.ts";

const skip = runtime !== "node" && "it runs Deno itself, whichever runs it";

test(
  "the API reference has every subpath and page, and its links lead somewhere",
  { skip },
  () =>
    inFolder(async (folder) => {
      makeDocs(folder);
      const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
      for (const subpath of Object.keys(exports)) {
        if (subpath !== "./cli") assert.ok(existsSync(join(folder, subpath, "index.html")), subpath);
      }
      const index = await readFile(join(folder, "index.html"), "utf8");
      assert.ok(index.includes('src="pages/lib/data_flow.svg"'));
      const written = globSync("pages/**/*.html", { cwd: folder });
      assert.ok(written.length > 15, `${written.length} pages`);
      for (const page of ["index.html", ...written]) {
        const html = readFileSync(join(folder, page), "utf8");
        const links = [...html.matchAll(/(?:href|src)="(?!\w+:|#)([^"#]+)/g)].map(([, link]) => link);
        assert.ok(links.length > 0, page);
        // What the repository alone holds, such as sources and tables of figures, is not in the reference.
        const own = links.filter((link) => /\.(?:html|svg)$/.test(link));
        for (const link of own) assert.ok(existsSync(join(folder, dirname(page), link)), `${page}: ${link}`);
      }
    }),
);
