import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { type CompletedUpload, createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { until, within } from "../../support/waits.ts";
import { filesIn } from "./exchange_case.ts";

const SESSIONS = ".millrace-uploads";
const TUS = { "Tus-Resumable": "1.0.0" };
const DATA = { ...TUS, "Content-Type": "application/offset+octet-stream" };

/** A handler and its folder. */
interface Attacked {
  readonly folder: string;
  /** Makes a request; headers by name. */
  ask(method: string, path: string, headers: Record<string, string>, body?: BodyInit): Promise<Response>;
  /** Returns the folder of the session at a path. */
  sessionAt(path: string): string;
}

function attack(options: Partial<UploadHandlerOptions>, use: (attacked: Attacked) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    const { fetch } = createUploadHandler({ directory: folder, resumable: true, log: () => {}, ...options });
    await use({
      folder,
      ask: (method, path, headers, body) => {
        const length: Record<string, string> = typeof body === "string"
          ? { "Content-Length": String(Buffer.byteLength(body)) }
          : {};
        const init = {
          method,
          headers: { ...length, ...headers },
          ...(body !== undefined && { body, duplex: "half" }),
        };
        return within(fetch(new Request(`http://localhost${path}`, init as RequestInit)), `${method} ${path}`);
      },
      sessionAt: (path) => join(folder, SESSIONS, path.slice(1)),
    });
  });
}

/** Creates a tus upload; gives its path. */
async function created({ ask }: Attacked, length: number, headers: Record<string, string> = {}): Promise<string> {
  const response = await ask("POST", "/", { ...TUS, "Upload-Length": String(length), ...headers }, "");
  assert.equal(response.status, 201, await response.text());
  return response.headers.get("location")!;
}

/** Returns a stream of a text, continued by `next`. */
function textAnd(text: string, next: (controller: ReadableStreamDefaultController<Uint8Array>) => void): BodyInit {
  let pulls = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(text));
      else next(controller);
    },
  }, { highWaterMark: 0 });
}

test("a session of which something cannot be read for a while is not locked after that", () =>
  attack({ name: () => "note" }, async (attacked) => {
    const { ask, sessionAt } = attacked;
    const upload = await created(attacked, 5);
    const record = join(sessionAt(upload), "record.json");
    await rename(record, `${record}.kept`);
    await mkdir(record);
    assert.equal((await ask("HEAD", upload, TUS)).status, 500);
    await rmdir(record);
    await rename(`${record}.kept`, record);
    assert.equal((await ask("HEAD", upload, TUS)).status, 200);
    await writeFile(record, JSON.stringify({ ...JSON.parse(await readFile(record, "utf8")), verified: 0 }));
    const data = join(sessionAt(upload), "data");
    await rm(data);
    await mkdir(data);
    assert.equal((await ask("HEAD", upload, TUS)).status, 500, "what is not vouched for cannot be dropped");
    await rmdir(data);
    assert.equal((await ask("HEAD", upload, TUS)).status, 200);
  }));

test("a lock whose holder was killed before it wrote who it is keeps nobody out for long", () =>
  attack({}, async (attacked) => {
    const upload = await created(attacked, 5);
    for (const [number, text] of ["", '{"space":"', "{}"].entries()) {
      await writeFile(join(attacked.sessionAt(upload), `lock.${number + 3}000`), text);
      assert.equal((await attacked.ask("HEAD", upload, TUS)).status, 200, "not 423, after ten seconds");
    }
  }));

test("sessions that cannot be made leave nothing, and the next ones are made", () =>
  attack({}, async (attacked) => {
    const { ask, folder } = attacked;
    await writeFile(join(folder, SESSIONS), "in the way");
    assert.ok((await ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "")).status >= 400);
    await rm(join(folder, SESSIONS));
    await created(attacked, 5);
  }));

for (const what of ["folder of sessions", "data"]) {
  test(`an upload whose ${what} is removed under the server is not said to be there`, () =>
    attack({ name: () => "note" }, async (attacked) => {
      const { ask, folder, sessionAt } = attacked;
      const upload = await created(attacked, 10);
      const body = textAnd("hello", async (controller) => {
        await until(async () => (await readFile(join(sessionAt(upload), "data"))).length === 5, "it is written");
        await rm(what === "data" ? join(sessionAt(upload), "data") : join(folder, SESSIONS), { recursive: true });
        controller.close();
      });
      const response = await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, body);
      assert.equal(response.status, 500, await response.text());
      const head = await ask("HEAD", upload, TUS);
      if (what === "data") assert.equal(head.headers.get("upload-offset"), "0");
      else assert.equal(head.status, 404);
      const next = await created(attacked, 5);
      assert.equal((await ask("PATCH", next, { ...DATA, "Upload-Offset": "0" }, "hello")).status, 204);
      assert.deepEqual(await filesIn(folder), { note: "hello" });
    }));
}

test("no more uploads are unfinished at a time than there may be", () =>
  attack({ resumable: { maxUnfinished: 3 } }, async (attacked) => {
    const { ask } = attacked;
    const uploads = await Promise.all([1, 2, 3].map(() => created(attacked, 5)));
    const creations: Record<string, string>[] = [{ ...TUS, "Upload-Length": "5" }, { "Upload-Complete": "?0" }];
    for (const headers of creations) {
      const response = await ask("POST", "/", headers, "");
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "60");
      assert.equal((await response.json()).code, "BUSY");
    }
    assert.equal((await ask("PUT", "/whole", {}, "hello")).status, 201);
    assert.equal((await ask("PATCH", uploads[0]!, { ...DATA, "Upload-Offset": "0" }, "hello")).status, 204);
    const next = () => ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "");
    await until(async () => (await next()).status === 201, "there is room for one more");
    for (const value of [0, -1, NaN]) {
      const options = { directory: "x", resumable: { maxUnfinished: value } };
      assert.throws(
        () => createUploadHandler(options),
        /resumable\.maxUnfinished .* is out of range: use a number from 1$/,
      );
    }
  }));

test("of a creation that is cut before its sender knows where it is, nothing is kept", () =>
  attack({}, async ({ ask, folder }) => {
    const body = textAnd("hello", (controller) => controller.error(new Error("cut")));
    const response = await ask("PUT", "/note", { "Upload-Complete": "?1", "Content-Length": "10" }, body);
    assert.ok(response.status >= 400);
    assert.deepEqual(await readdir(join(folder, SESSIONS)), []);
  }));

/** A value of `Upload-Metadata`. */
const metadataOf = (texts: Record<string, string>): Record<string, string> => ({
  "Upload-Metadata": Object.entries(texts).map(([key, text]) => `${key} ${Buffer.from(text).toString("base64")}`)
    .join(),
});

test("what metadata says leads nowhere, and is no media type if it is none", () => {
  const told: CompletedUpload[] = [];
  return attack({ onComplete: (upload) => void told.push(upload) }, async (attacked) => {
    const { ask, folder } = attacked;
    const names = [
      "../../x.txt",
      "/etc/passwd",
      "..",
      ".",
      "a\0b.txt",
      "\r\nSet-Cookie: a=b",
      ".htaccess",
      "C:\\x.txt",
      "a".repeat(3000),
    ];
    for (const filename of names) {
      const type = "text/html\r\nX-Injected: yes";
      const texts = { filename, filetype: type, constructor: "y", ["__proto__"]: "polluted" };
      const upload = await created(attacked, 2, metadataOf(texts));
      const patched = await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, "ok");
      assert.equal(patched.status, 204);
    }
    const files = await filesIn(folder);
    assert.deepEqual(Object.values(files), names.map(() => "ok"));
    for (const name of Object.keys(files)) assert.match(name, /^[0-9a-f-]{36}(?:\.[a-z]+)?$/);
    for (const [i, { contentType, filename, metadata }] of told.entries()) {
      assert.deepEqual([contentType, filename], ["application/octet-stream", names[i]]);
      assert.equal(Object.getPrototypeOf(metadata), Object.prototype);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    const upload = await created(attacked, 2, metadataOf({ filetype: 'text/html; charset="utf-8"' }));
    await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, "ok");
    assert.equal(told.at(-1)!.contentType, 'text/html; charset="utf-8"');
  });
});

test("odd paths and identifiers are no sessions", () =>
  attack({}, async (attacked) => {
    const { ask } = attacked;
    const upload = await created(attacked, 5);
    const id = upload.slice(1);
    const paths = [
      `/${id.toUpperCase()}`,
      `/x/${id}`,
      `/${id}/`,
      `/${id}%00`,
      `/${id}/data`,
      `//${id}`,
      `/${SESSIONS}/${id}`,
      `/${"0".repeat(32)}`,
      `/${id.slice(1)}`,
      `/${id}0`,
    ];
    for (const path of paths) {
      for (const method of ["HEAD", "PATCH", "DELETE"]) {
        const response = await ask(method, path, method === "PATCH" ? { ...DATA, "Upload-Offset": "0" } : TUS);
        assert.ok(
          [404, 405, 400].includes(response.status) || response.status === 415,
          `${method} ${path} ${response.status}`,
        );
      }
    }
    assert.equal((await ask("HEAD", upload, TUS)).status, 200);
    assert.equal((await ask("PUT", `/${SESSIONS}/${id}/data`, {}, "evil")).status, 400);
  }));

test("only partial uploads of this protocol are concatenated, and within the limit", () =>
  attack({ maxBytes: 12, name: () => "note" }, async (attacked) => {
    const { ask, folder } = attacked;
    const partial = await created(attacked, 5, { "Upload-Concat": "partial" });
    assert.equal((await ask("PATCH", partial, { ...DATA, "Upload-Offset": "0" }, "hello")).status, 204);
    const open = await created(attacked, 5);
    const draft = (await ask("PUT", "/other", { "Upload-Complete": "?0" }, "hello")).headers.get("location")!;
    const final = async (list: string) =>
      (await ask("POST", "/", { ...TUS, "Upload-Concat": `final;${list}` }, "")).status;
    assert.equal(await final(open), 400);
    assert.equal(await final(draft), 404);
    assert.equal(await final(`${partial} /${"0".repeat(32)}`), 404);
    assert.equal(await final(`${partial} ${partial} ${partial}`), 413);
    assert.deepEqual(await filesIn(folder), {});
    assert.equal(await final(`${partial} ${partial}`), 201);
    assert.deepEqual(await filesIn(folder), { note: "hellohello" });
    assert.equal((await readdir(join(folder, SESSIONS))).length, 4, "of the refused ones nothing is left");
  }));

test("a body that stalls is cut, and what came is kept", () =>
  attack({ idleTimeout: 100 }, async (attacked) => {
    const { ask } = attacked;
    const upload = await created(attacked, 10);
    const body = textAnd("hello", () => new Promise(() => {}));
    assert.equal((await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, body)).status, 408);
    assert.equal((await ask("HEAD", upload, TUS)).headers.get("upload-offset"), "5");
  }));
