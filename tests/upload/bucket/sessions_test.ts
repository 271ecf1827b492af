import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import test from "node:test";
import { createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import type { FakeStore } from "../../s3/fake_store.ts";
import { withStore } from "../../s3/scene.ts";
import { pause, within } from "../../support/waits.ts";
import { objectsIn } from "../resumable/exchange_case.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const DATA = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const PARTIAL = { "Content-Type": "application/partial-upload" };
const FORM = { "Content-Type": "multipart/form-data; boundary=x" };

type Ask = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Uint8Array<ArrayBuffer>,
) => Promise<Response>;

/** Returns a function that sends requests to a handler over a store, without a socket. */
function server(store: FakeStore, options: Partial<UploadHandlerOptions> = {}): Ask {
  const storage = store.bucket({ retries: 0 });
  const { fetch } = createUploadHandler(
    { storage, resumable: true, log: () => {}, ...options } as UploadHandlerOptions,
  );
  return (method, path, headers, body) => {
    const length: Record<string, string> = body === undefined
      ? {}
      : { "Content-Length": String(typeof body === "string" ? Buffer.byteLength(body) : body.length) };
    const init = { method, headers: { ...length, ...headers }, ...(body !== undefined && { body }) };
    return within(fetch(new Request(`http://localhost${path}`, init)), `${method} ${path}`);
  };
}

function formOf(files: Readonly<Record<string, string>>, type = "text/plain"): string {
  return Object.entries(files).map(([name, text]) =>
    `--x\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`
  ).join("") + "--x--\r\n";
}

/** Objects that sessions have left. */
function left(store: FakeStore): string[] {
  return [...store.objects.keys()].filter((key) => key.startsWith(".millrace-uploads/"));
}

test("in a bucket: uploads that have no data yet are unfinished, too", () =>
  withStore(async (store) => {
    const ask = server(store, { resumable: { maxUnfinished: 2 } });
    const create = (): Promise<Response> => ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "");
    const upload = (await create()).headers.get("location")!;
    assert.equal((await create()).status, 201);
    await pause(1100); // they are counted once a second
    assert.equal((await create()).status, 503);
    assert.equal((await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, "hello")).status, 204);
    await pause(1100);
    assert.equal((await create()).status, 201, "one is finished");
  }));

test("in a bucket: an upload that has expired is not continued, though its objects are there", () =>
  withStore(async (store) => {
    const ask = server(store, { resumable: { maxAge: 1000 } });
    const upload = (await ask("PUT", "/note", { "Upload-Complete": "?0" }, "hello")).headers.get("location")!;
    assert.equal((await ask("HEAD", upload, {})).status, 204);
    await pause(1100);
    assert.equal((await ask("HEAD", upload, {})).status, 404);
    assert.deepEqual(left(store), []);
  }));

test("in a bucket: an upload is stored once where the answer of the copy was lost, whatever the copy's entity tag", () =>
  withStore(async (store) => {
    const ask = server(store, { storage: store.bucket(), name: () => "note" });
    const upload = (await ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "")).headers.get("location")!;
    let copies = 0;
    store.fails(({ operation, key }) => {
      if (operation !== "PutObject" || key !== "note" || copies++ > 1) return undefined;
      if (copies === 1) return "reset after";
      store.objects.set("note", { ...store.objects.get("note")!, etag: '"of an encrypted object"' });
      return undefined;
    });
    const appended = await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, "hello");
    assert.equal(appended.status, 204, await appended.text());
    assert.equal(copies, 2);
    assert.equal(Buffer.from(store.objects.get("note")!.bytes).toString(), "hello");
  }));

test("in a bucket: media types that no field can have are stored as what they are without their parameters", () =>
  withStore(async (store) => {
    const ask = server(store, { resumable: false, name: ({ filename }) => filename });
    for (const [type, kept] of [['text/html; a="日本"', "text/html"], ["日本", "application/octet-stream"]] as const) {
      const response = await ask("POST", "/", FORM, formOf({ [kept.replace("/", "-")]: "hello" }, type));
      assert.equal(response.status, 201, await response.text());
      assert.equal(store.objects.get(kept.replace("/", "-"))!.fields["content-type"], kept);
    }
  }));

test("in a bucket: the store is asked to hold conditions when an upload takes its name", () =>
  withStore(async (store) => {
    const ask = server(store, { overwrite: true });
    const bucket = store.bucket();
    const put = (headers: Record<string, string>): Promise<Response> => {
      return ask("PUT", "/doc", { "Upload-Complete": "?1", ...headers }, "of the upload");
    };
    for (const [title, field] of [["a tag", "tag"], ["any", "*"], ["a time", "time"]]) {
      for (const change of ["replaced", "removed", "kept"]) {
        const { etag } = await bucket.put("doc", "first");
        const time = new Date(Date.now() + 5000).toUTCString();
        let copies = 0;
        store.fails(({ operation, key }) => {
          if (operation !== "PutObject" || key !== "doc" || copies++ > 0) return undefined;
          if (change === "removed") store.objects.delete("doc");
          if (change === "replaced") store.objects.set("doc", { ...store.objects.get("doc")!, etag: '"another"' });
          return undefined;
        });
        const condition: Record<string, string> = field === "time"
          ? { "If-Unmodified-Since": time }
          : { "If-Match": field === "*" ? "*" : etag };
        const { status } = await put(condition);
        assert.equal(status, change === "kept" ? 200 : 412, `${title}, ${change}`);
        assert.equal(store.objects.get("doc")?.bytes.length, { replaced: 5, removed: undefined, kept: 13 }[change]);
      }
    }
    store.objects.delete("doc");
    store.fails(({ operation, key }) => {
      if (operation === "PutObject" && key === "doc") {
        store.objects.set("doc", { ...[...store.objects.values()][0], bytes: new Uint8Array(1) });
      }
      return undefined;
    });
    assert.equal((await put({ "If-None-Match": "*" })).status, 412);
    assert.equal(store.objects.get("doc")!.bytes.length, 1);
  }));

test("in a bucket: an upload that is stored has succeeded, though its session cannot be removed", () =>
  withStore(async (store) => {
    const told: string[] = [];
    const ask = server(store, { onComplete: ({ name }) => void told.push(name) });
    const headers = { ...TUS, "Upload-Length": "5", "Upload-Metadata": `filename ${btoa("note")}` };
    const upload = (await ask("POST", "/", headers, "")).headers.get("location")!;
    store.fails(({ operation }) => operation === "DeleteObject" ? { status: 503 } : undefined);
    assert.equal((await ask("PATCH", upload, { ...DATA, "Upload-Offset": "0" }, "hello")).status, 204);
    assert.equal(told.length, 1);
    assert.deepEqual(Object.values(objectsIn(store)), ["hello"]);
  }));

test("in a bucket: a store that says 200 to what failed is one to try again", () =>
  withStore(async (store) => {
    const ask = server(store);
    store.fails(({ operation }) => operation === "PutObject" ? "error in 200" : undefined);
    const answer = await ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "");
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "1");
  }));

test("in a bucket: a store that is full is answered as a full disk is", () =>
  withStore(async (store) => {
    const ask = server(store);
    for (const fault of [{ status: 403, code: "QuotaExceeded" }, { status: 507, code: "InsufficientStorage" }]) {
      store.fails(({ operation }) => operation === "PutObject" ? fault : undefined);
      for (const [method, headers] of [["PUT", {}], ["POST", FORM], ["POST", DATA]] as const) {
        const body = headers === FORM ? formOf({ note: "hello" }) : "hello";
        const answer = await ask(method, "/note", { "Upload-Length": "9", ...headers }, body);
        assert.equal(answer.status, 507, fault.code);
        assert.equal((await answer.json()).code, "NO_SPACE");
      }
    }
    assert.deepEqual([...store.objects.keys()], []);
  }));

test("in a bucket: a store that is in another region is none to try again", () =>
  withStore(async (store) => {
    const ask = server(store);
    store.fails(({ operation }) => operation === "PutObject" ? { status: 301, code: "PermanentRedirect" } : undefined);
    const answer = await ask("POST", "/", { ...TUS, "Upload-Length": "5" }, "");
    assert.equal(answer.status, 500);
    assert.equal(answer.headers.get("retry-after"), null);
  }));

/** `MILLRACE_KILLS=all` kills a server ahead of each request to the store, rather than of one in eight. */
const STEP = process.env.MILLRACE_KILLS === "all" ? 1 : 8;

/** A client that resumes an upload until it is complete; `body` is sent in two requests. */
interface Flow {
  readonly body: string;
  readonly files: Readonly<Record<string, string>>;
  create(ask: Ask): Promise<Response>;
  append(ask: Ask, upload: string, offset: number): Promise<Response>;
}

const patch = (body: string) => (ask: Ask, upload: string, offset: number) => {
  const headers = { ...PARTIAL, "Upload-Offset": String(offset), "Upload-Complete": "?1" };
  return ask("PATCH", upload, headers, body.slice(offset));
};

const flows: Readonly<Record<string, Flow>> = {
  draft: {
    body: "hello world",
    files: { note: "hello world" },
    create: (ask) => ask("PUT", "/note", { "Upload-Complete": "?0" }, "hello"),
    append: patch("hello world"),
  },
  tus: {
    body: "hello world",
    files: { note: "hello world" },
    create: (ask) => ask("POST", "/", { ...DATA, "Upload-Length": "11" }, "hello"),
    append: (ask, upload, offset) =>
      ask("PATCH", upload, { ...DATA, "Upload-Offset": String(offset) }, "hello world".slice(offset)),
  },
};

for (const [name, { files, body, create, append }] of Object.entries(flows)) {
  test(`in a bucket: ${name}: a server that is killed ahead of any request to the store stores each file once`, () =>
    withStore(async (store) => {
      const told: string[] = [];
      const handler: Partial<UploadHandlerOptions> = {
        name: ({ filename }) => filename ?? "note",
        onComplete: ({ name }) => void told.push(name),
      };
      for (let killed = Math.floor(Math.random() * STEP), isWhole = false; !isWhole; killed += STEP) {
        assert.ok(killed < 200, "it never gets through");
        store.objects.clear();
        told.length = 0;
        const start = store.asked.length;
        store.fails(({ index }) => index - start >= killed ? { status: 400, code: "Killed" } : undefined);
        let upload: string | undefined;
        let isDone = false;
        for (let turn = 0; !isDone; turn++) {
          assert.ok(turn < 20, "it never ends");
          const ask = server(store, handler); // each is another process
          if (upload === undefined) {
            upload = (await create(ask)).headers.get("location") ?? undefined;
          } else {
            const head = await ask("HEAD", upload, name === "tus" ? TUS : {});
            const offset = Number(head.headers.get("upload-offset") ?? -1);
            if (offset >= 0) isDone = (await append(ask, upload, offset)).status < 300;
            else if (head.status === 404) upload = undefined;
          }
          isWhole = turn === 1 && isDone;
          if (!isDone && turn > 0) store.fails(() => undefined);
        }
        assert.deepEqual(objectsIn(store), files, `killed ahead of request ${killed} of ${body.length}`);
        assert.deepEqual([...new Set(told)].sort(), Object.keys(files), `killed ahead of request ${killed}`);
        assert.ok(told.length <= Object.keys(files).length + 1, `told of ${told}`);
      }
    }));
}
