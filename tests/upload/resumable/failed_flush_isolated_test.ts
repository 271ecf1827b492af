import assert from "node:assert/strict";
import fs, { fdatasync, fstatSync, readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";

type Flush = (descriptor: number, done: (error: unknown) => void) => void;

/** Makes flushes of a file fail, by its number, until it is disposed of. */
class FailingFlushes implements Disposable {
  readonly #own = fs.fdatasync as Flush;
  /** The number of the file whose flushes fail. */
  failing: number | undefined = undefined;

  constructor() {
    const flush: Flush = (descriptor, done) => {
      if (fstatSync(descriptor).ino !== this.failing) return this.#own(descriptor, done);
      setImmediate(done, Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
    };
    Object.assign(fs, { fdatasync: flush });
    syncBuiltinESMExports();
  }

  /** Whether the library's calls come here: the modules of some runtimes stay as they were. */
  get isCalled(): boolean {
    return fdatasync === fs.fdatasync && fs.fdatasync !== this.#own as unknown;
  }

  [Symbol.dispose](): void {
    Object.assign(fs, { fdatasync: this.#own });
    syncBuiltinESMExports();
  }
}

const TUS = { "Tus-Resumable": "1.0.0" };
const kinds = {
  tus: {
    create: ["POST", "/", { ...TUS, "Upload-Length": "10" }],
    data: { ...TUS, "Content-Type": "application/offset+octet-stream" },
    last: {},
  },
  draft: {
    create: ["PUT", "/note", { "Upload-Complete": "?0" }],
    data: { "Content-Type": "application/partial-upload", "Upload-Complete": "?0" },
    last: { "Upload-Complete": "?1" },
  },
} as const;

for (const [kind, { create, data, last }] of Object.entries(kinds)) {
  test(`${kind}: bytes that could not be flushed count as not received, so that they are sent again`, (context) =>
    inFolder(async (directory) => {
      using flushes = new FailingFlushes();
      if (!flushes.isCalled) return context.skip("the modules of this runtime keep their functions");
      const { fetch } = createUploadHandler({
        directory,
        resumable: true,
        flush: true,
        log: () => {},
        name: () => "note",
      });
      const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
        fetch(new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) }));
      const [method, path, headers] = create;
      const created = await ask(method, path, headers, kind === "tus" ? undefined : "");
      const upload = new URL(created.headers.get("location")!, "http://localhost").pathname;
      const offset = async (): Promise<string | null> =>
        (await ask("HEAD", upload, kind === "tus" ? TUS : {})).headers.get("upload-offset");
      const append = (at: number, body: string, isLast: boolean): Promise<Response> =>
        ask("PATCH", upload, { ...data, ...(isLast && last), "Upload-Offset": String(at) }, body);

      assert.ok((await append(0, "one", false)).ok);
      const found = (await readdir(directory, { recursive: true })).find((each) => /[\\/]data$/.test(each))!;
      flushes.failing = statSync(join(directory, found)).ino;
      assert.equal((await append(3, " two", false)).status, 500);
      assert.equal(await offset(), "3");
      assert.equal((await append(3, " two 10", true)).status, 500);
      assert.equal(await offset(), "3");
      flushes.failing = undefined;
      assert.ok((await append(3, " two 10", true)).ok);
      assert.equal(readFileSync(join(directory, "note"), "latin1"), "one two 10");
    }));
}
