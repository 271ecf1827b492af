import assert from "node:assert/strict";
import test from "node:test";
import {
  AtomicFile,
  copyFileAtomic,
  NumberFileWriter,
  openFileWritable,
  RotatingFileWritable,
  type RotationOptions,
} from "../../lib/files/mod.ts";
import { HttpClient } from "../../lib/http/mod.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { createUploadHandler, saveBody, saveForm } from "../../lib/upload/mod.ts";
import { inFolder } from "../support/folders.ts";
import { writeSite } from "../precompress/site.ts";

/** Options as they come from JavaScript. */
type Options = Record<string, never>;
const request = (): Request => new Request("http://localhost/", { method: "PUT", body: "text" });

const takers: Readonly<Record<string, (folder: string, options: Options) => unknown>> = {
  "HttpClient": (_, options) => new HttpClient(options),
  "precompress()": (folder, options) => precompress(folder, options),
  "createStaticHandler()": (folder, options) => createStaticHandler(folder, options),
  "createUploadHandler()": (directory, options) => createUploadHandler({ directory, ...options }),
  "AtomicFile": (folder, options) => AtomicFile.open(`${folder}/file`, options),
  "openFileWritable()": (folder, options) => openFileWritable(`${folder}/file`, options),
  "copyFileAtomic()": (folder, options) => copyFileAtomic(`${folder}/index.html`, `${folder}/copy`, options),
  "an upload": (folder, options) => saveBody(request(), `${folder}/stored`, options),
};

for (const [owner, take] of Object.entries(takers)) {
  test(`a misspelt option of ${owner} is refused, with those that there are`, () =>
    inFolder(async (folder) => {
      await writeSite(folder);
      await assert.rejects(async () => await take(folder, { maxbytes: 1 } as unknown as Options), (error: Error) => {
        assert.ok(error instanceof TypeError);
        assert.match(
          error.message,
          new RegExp(`^maxbytes is no option of ${owner.replace("()", "\\(\\)")}: use \\w+, `),
        );
        assert.doesNotMatch(error.message, /leavesBody/);
        return true;
      });
    }));

  test(`what is no object is not taken as the options of ${owner}`, () =>
    inFolder(async (folder) => {
      if (owner === "createUploadHandler()") return assert.throws(() => createUploadHandler(null as never), TypeError);
      await assert.rejects(async () => await take(folder, null as never), /options .*must be an object, not null/);
    }));
}

test("a series of files refuses a misspelt option", () => {
  const options = { directory: "out", maxFileSize: 1, overwrit: true } as RotationOptions;
  for (const Series of [RotatingFileWritable, NumberFileWriter]) {
    assert.throws(() => new Series(options), /^TypeError: overwrit is no option of a series of files: use directory, /);
  }
});

test("saveForm() refuses a misspelt option too", () =>
  inFolder((folder) =>
    assert.rejects(
      saveForm(request(), folder, { maxpart: 1 } as never),
      /^TypeError: maxpart is no option of an upload/,
    )
  ));
