import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { exchange } from "../../support/raw_exchange.ts";
import { bytesOf } from "./request_case.ts";
import { contentsOf, entries, inUploads } from "./serving_handler.ts";
import { needs } from "../../support/needs.ts";

const targets = [
  "/../outside",
  "/%2e%2e/outside",
  "/%2E%2e%2foutside",
  "/..%2foutside",
  "/..%5coutside",
  "/..\\outside",
  "/sub/../../outside",
  "/sub/%2e%2e/%2e%2e/outside",
  "//outside",
  "///outside",
  "/./outside/.",
  "/sub/./outside",
  "/%00/../outside",
  "/..;/outside",
  "/%c0%ae%c0%ae/outside",
  "/%252e%252e/outside",
  "http://other.example/../outside",
  "/link/outside",
  "/link",
  "/former",
  "/?/../outside",
  "*",
];

for (const entry of Object.keys(entries)) {
  for (const overwrite of [false, true]) {
    test(`${entry}: whatever the path, nothing is stored elsewhere, with overwrite ${overwrite}`, () =>
      inUploads(async (folder) => {
        const directory = join(folder, "uploads");
        const handler = createUploadHandler({ directory, overwrite, log: () => {} });
        await mkdir(join(directory, "sub"));
        await writeFile(join(folder, "victim"), "former");
        if (!needs("links")) {
          await symlink("..", join(directory, "link"));
          await symlink("../victim", join(directory, "former"));
        }
        const server = await entries[entry](handler);
        try {
          for (const target of targets) {
            const request = bytesOf({ name: "", request: ["PUT", target], body: "hello", status: 0 });
            const answer = await exchange(server.port, request, "PUT");
            const status = answer?.status ?? 0;
            assert.ok([200, 201, 400, 404, 409].includes(status), `${target}: ${status}`);
          }
        } finally {
          await server.close();
        }
        const elsewhere = Object.entries(await contentsOf(folder)).filter(([path]) => !path.startsWith("uploads/"));
        assert.deepEqual(elsewhere, [["victim", "former"]]);
      }));
  }
}
