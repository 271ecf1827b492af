import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { buildIn, projectSign } from "../../lib/cli/precompress_command.ts";
import { requireServed, serveArguments } from "../../lib/cli/serve_arguments.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

test(
  "what is in a folder above that of a link is found where the system finds it",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "real/app.html": "app", "real/node_modules/a.js": "1", "real/dist/a.js": "1" });
      await mkdir(join(folder, "real/inner"));
      await symlink("real/inner", join(folder, "link"));
      const directory = `${folder}/link/..`;
      const parsed = await serveArguments(["serve", directory, "--fallback", "app.html"]);
      if (typeof parsed !== "string") requireServed(parsed);
      assert.match(projectSign(directory)!, /node_modules/);
      assert.ok(buildIn(directory));
    }),
);
