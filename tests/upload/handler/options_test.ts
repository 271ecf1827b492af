import assert from "node:assert/strict";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { temporaryPath } from "../../../lib/files/mod.ts";
import { createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { contentsOf, inUploads } from "./serving_handler.ts";
import { until } from "../../support/waits.ts";

const wrongTypes: Readonly<Record<string, unknown[]>> = {
  directory: [undefined, "", 7, "a\0b", new URL("http://localhost/")],
  basePath: ["/a//b", "/a?b", "/a#b", "a\\b", 7],
  name: ["note", {}],
  log: ["note"],
  accept: ["", [], "image", "image/", "*/png", ".png", [7], 7, "image/*, text"],
  maxBytes: ["1"],
  overwrite: [1, "yes"],
  dotfiles: [1, "yes"],
  extensions: ["png", [], [""], ["."], ["a/b"], ["*"], ["*.png"], ["png "], [7], {}],
  flush: [0],
  digest: ["md5", 256],
  onProgress: [true],
};

const wrongNumbers: Readonly<Record<string, unknown[]>> = {
  maxBytes: [-1, NaN, 1.5],
  idleTimeout: [-1, 0, NaN, 2 ** 40],
  timeout: [-1, NaN],
  maxParts: [-1, 0.5],
  maxFileBytes: [-1],
  maxHeaderBytes: [0, 1e9],
  mode: [-1, 0o10000],
};

for (const [kind, wrong] of [["TypeError", wrongTypes], ["RangeError", wrongNumbers]] as const) {
  for (const [option, values] of Object.entries(wrong)) {
    test(`createUploadHandler() refuses ${option} that is not what it should be with a ${kind} that names it`, () =>
      inUploads((folder) => {
        for (const value of values) {
          const options = { directory: folder, [option]: value } as unknown as UploadHandlerOptions;
          assert.throws(() => createUploadHandler(options), { name: kind, message: new RegExp(option) }, String(value));
        }
        return Promise.resolve();
      }));
  }
}

test("createUploadHandler() refuses options of single bodies, which it would not respect", () =>
  inUploads((directory) => {
    const more = {
      root: "..",
      expectedBytes: 1,
      signal: AbortSignal.abort(),
      contentType: "text/plain",
      rateWindow: 1,
    };
    for (const [option, value] of Object.entries(more)) {
      const options = { directory, [option]: value };
      assert.throws(() => createUploadHandler(options), {
        name: "TypeError",
        message: new RegExp(`^createUploadHandler\\(\\): unknown option "${option}"`),
      });
    }
    return Promise.resolve();
  }));

test("createUploadHandler() refuses options that are none", () => {
  for (const options of [undefined, null, "folder"]) {
    assert.throws(() => createUploadHandler(options as unknown as UploadHandlerOptions), TypeError);
  }
});

test("createUploadHandler() makes the directory, also of a URL, and its parents", () =>
  inUploads(async (folder) => {
    createUploadHandler({ directory: join(folder, "a/b") });
    createUploadHandler({ directory: pathToFileURL(join(folder, "c/d")) });
    for (const path of ["a/b", "c/d"]) assert.ok((await stat(join(folder, path))).isDirectory());
  }));

test("createUploadHandler() says so if the directory cannot be made", () =>
  inUploads(async (folder) => {
    await writeFile(join(folder, "file"), "");
    const words = /^cannot make the directory .*file.* for uploads: there is a file of that name already$/;
    for (const place of ["file", "file/below"]) {
      assert.throws(() => createUploadHandler({ directory: join(folder, place) }), { name: "Error", message: words });
    }
  }));

test("createUploadHandler() takes options that are undefined for such that are not given", () =>
  inUploads(async (directory) => {
    const handler = createUploadHandler({ directory, maxBytes: undefined, basePath: undefined, accept: undefined });
    const response = await handler.fetch(new Request("http://localhost/note", { method: "PUT", body: "hello" }));
    assert.equal(response.status, 201);
  }));

test("createUploadHandler() removes what a killed server left in the directory", () =>
  inUploads(async (folder) => {
    // No process has an id that large.
    const abandoned = temporaryPath(join(folder, "x")).replace(`${process.pid}-`, "4194399-");
    await writeFile(abandoned, "half of it");
    await writeFile(join(folder, "note"), "whole");
    createUploadHandler({ directory: folder });
    let isThere = true;
    await until(() => {
      void stat(abandoned).catch(() => isThere = false);
      return !isThere;
    }, "it is removed");
    assert.deepEqual(await contentsOf(folder), { note: "whole" });
  }));

test("files get random names by POST, with the extension of their type", () =>
  inUploads(async (directory) => {
    const { fetch } = createUploadHandler({ directory });
    const form = new FormData();
    form.append("f", new File(["hello"], "../../etc/Pass.TXT", { type: "image/png" }));
    const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
    for (const [body, type, extension] of [["hello", "image/png", "png"], [form, undefined, "txt"]] as const) {
      const headers: Record<string, string> = type ? { "Content-Type": type } : {};
      const response = await fetch(new Request("http://localhost/", { method: "POST", body, headers }));
      assert.equal(response.status, 201);
      assert.match(response.headers.get("location")!, new RegExp(`^/${uuid}\\.${extension}$`));
    }
    assert.deepEqual(Object.values(await contentsOf(directory)), ["hello", "hello"]);
  }));

test("name() is told all there is to know of a file", () =>
  inUploads(async (directory) => {
    const told: unknown[] = [];
    const { fetch } = createUploadHandler({
      directory,
      basePath: "/files",
      name: ({ headers, ...others }) => {
        told.push({ ...others, token: headers.get("x-token") });
        return `note-${told.length}`;
      },
    });
    const headers = { "X-Token": "secret", "Content-Type": "text/csv" };
    await fetch(new Request("http://localhost/files/a%20b/c?d", { method: "PUT", body: "hello", headers }));
    const form = new FormData();
    form.append("f", new File(["hello"], "a.bin", { type: "image/png" }));
    await fetch(new Request("http://localhost/files/", { method: "POST", body: form, headers: { "X-Token": "x" } }));
    assert.deepEqual(told, [
      { method: "PUT", path: "a b/c", contentType: "text/csv", token: "secret" },
      { method: "POST", path: "", contentType: "image/png", field: "f", filename: "a.bin", token: "x" },
    ]);
  }));
