import assert from "node:assert/strict";
import { link, mkdir, readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { createUploadHandler, UploadError } from "../../../lib/upload/mod.ts";
import { Sessions } from "../../../lib/upload/session/sessions.ts";
import type { SessionStorage } from "../../../lib/upload/session/session_storage.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { inFolder, listed } from "../../support/folders.ts";
import { until } from "../../support/waits.ts";
import { serving } from "../handler/serving_handler.ts";
import { ask, filesIn, type Step } from "./exchange_case.ts";

const TUS = "Tus-Resumable: 1.0.0";
const DATA = "Content-Type: application/offset+octet-stream";
const PARTIAL = "Content-Type: application/partial-upload";

const SESSIONS = ".millrace-uploads";

/** Makes requests of a handler without a server. */
function client(options: Parameters<typeof createUploadHandler>[0]): (step: Step) => Promise<Response> {
  const { fetch } = createUploadHandler({ log: () => {}, resumable: true, ...options });
  return ({ request: [method, target, ...lines], body }) => {
    const headers = Object.fromEntries(lines.map((line) => line.split(": ") as [string, string]));
    if (body !== undefined) headers["content-length"] = String(body.length);
    return fetch(new Request(`http://localhost${target}`, { method, headers, ...(body !== undefined && { body }) }));
  };
}

const begin: Step = { request: ["PUT", "/note", "Upload-Complete: ?0"], body: "hello" };
const finish = (upload: string, offset = 5): Step => ({
  request: ["PATCH", upload, PARTIAL, `Upload-Offset: ${offset}`, "Upload-Complete: ?1"],
  body: "",
});

test("expired sessions are looked for all the time, as often as their age asks for", () => {
  for (const [maxAge, often] of [[60_000, 30_000], [86_400_000, 600_000], [1000, 500]]) {
    using clock = new FakeClock();
    const asked: number[] = [];
    const removeExpired = (ms: number): Promise<void> => Promise.resolve(void asked.push(ms));
    const sessions = new Sessions({ removeExpired } as unknown as SessionStorage, { maxAge, maxUnfinished: 1 });
    clock.turn(10 * often);
    assert.deepEqual(asked, Array(11).fill(maxAge));
    assert.equal(clock.keepingAlive, 0);
    sessions.close();
    assert.equal(clock.pending, 0);
  }
});

test("sessions without data make room for others once they had time for some, the oldest first", () =>
  inFolder(async (folder) => {
    const clientOfFew = () => client({ directory: folder, resumable: { maxUnfinished: 4 } });
    let ask = clientOfFew();
    const create = async (body = ""): Promise<string | number> => {
      const response = await ask({ request: ["PUT", "/note", "Upload-Complete: ?0"], body });
      return response.status === 201 ? response.headers.get("location")!.slice(1) : response.status;
    };
    const kept = await create("data");
    const empty = [await create(), await create(), await create()];
    assert.equal(await create(), 503);
    for (const [index, id] of empty.entries()) {
      const at = Date.now() / 1000 - 100 + index;
      for (const name of ["data", "record.json"]) await utimes(join(folder, SESSIONS, String(id), name), at, at);
    }
    ask = clientOfFew(); // one that has not counted them just now
    const next = await create();
    assert.deepEqual((await readdir(join(folder, SESSIONS))).sort(), [kept, ...empty.slice(1), next].sort());
    assert.equal((await ask({ request: ["HEAD", `/${empty[0]}`] })).status, 404);
  }));

test("sessions that expired are removed, with nothing of others'", () =>
  inFolder(async (folder) => {
    const first = client({ directory: folder });
    const kept = (await first(begin)).headers.get("location")!.slice(1);
    const expired = (await first(begin)).headers.get("location")!.slice(1);
    const mixed = (await first(begin)).headers.get("location")!.slice(1);
    for (const id of [expired, mixed]) {
      for (const name of ["data", "record.json"]) await utimes(join(folder, SESSIONS, id, name), 1e9, 1e9);
    }
    await writeFile(join(folder, SESSIONS, mixed, "foreign"), "not ours");
    await mkdir(join(folder, SESSIONS, "folder"));
    await writeFile(join(folder, SESSIONS, "folder", "data"), "not ours");
    await utimes(join(folder, SESSIONS, "folder", "data"), 1e9, 1e9);
    assert.equal((await first({ request: ["HEAD", `/${expired}`] })).status, 404, "it expired, though it is there");
    client({ directory: folder, resumable: { maxAge: 60_000 } });
    await until(async () => !(await readdir(join(folder, SESSIONS, mixed))).includes("data"), "it is removed");
    await until(async () => !(await readdir(join(folder, SESSIONS))).includes(expired), "the other one is too");
    const left = (await listed(join(folder, SESSIONS))).filter((path) => !path.includes("lock."));
    assert.deepEqual(left.sort(), [`${kept}/data`, `${kept}/record.json`, `${mixed}/foreign`, "folder/data"].sort());
    assert.equal((await first({ request: ["HEAD", `/${kept}`] })).status, 204);
  }));

/** The states after a kill during storing, as version 0.2 left them: with or without the file's final name. */
const kills: Record<string, (session: string, file: string) => Promise<void>> = {
  "before the file has its name": async () => {},
  "while it has both names": (session, file) => link(join(session, "data"), file),
  "after the file had its name": (session, file) => rename(join(session, "data"), file),
};

for (const [when, leave] of Object.entries(kills)) {
  test(`a server that was killed ${when} goes on with that`, () =>
    inFolder(async (folder) => {
      const told: string[] = [];
      const first = client({ directory: folder, onComplete: ({ name }) => void told.push(name) });
      const upload = (await first(begin)).headers.get("location")!;
      const session = join(folder, SESSIONS, upload.slice(1));
      const record = JSON.parse(await readFile(join(session, "record.json"), "utf8"));
      const storing = { ...record, state: "storing", bytes: 5, isThere: false, digests: {} };
      await writeFile(join(session, "record.json"), JSON.stringify(storing));
      await leave(session, join(folder, "note"));
      const response = await first({ request: ["HEAD", upload] });
      assert.equal(response.status, 204);
      assert.equal(response.headers.get("upload-complete"), "?1");
      assert.equal(response.headers.get("upload-offset"), "5");
      assert.deepEqual(await filesIn(folder), { note: "hello" });
      assert.deepEqual(told, ["note"]);
      assert.equal((await first(finish(upload))).status, 201);
      assert.deepEqual(told, ["note"]);
    }));
}

test("a file that somebody else stored meanwhile is not replaced", () =>
  inFolder(async (folder) => {
    const send = client({ directory: folder });
    const upload = (await send(begin)).headers.get("location")!;
    await writeFile(join(folder, "note"), "another's");
    const response = await send(finish(upload));
    assert.equal(response.status, 409);
    assert.equal(response.headers.get("upload-complete"), "?1");
    assert.deepEqual(await filesIn(folder), { note: "another's" });
    assert.equal((await send({ request: ["HEAD", upload] })).status, 404);
  }));

test("If-None-Match of the creation holds when the upload is complete", () =>
  inFolder(async (folder) => {
    const send = client({ directory: folder, overwrite: true });
    const conditional: Step = { ...begin, request: ["PUT", "/note", "Upload-Complete: ?0", "If-None-Match: *"] };
    const upload = (await send(conditional)).headers.get("location")!;
    await writeFile(join(folder, "note"), "another's");
    assert.equal((await send(finish(upload))).status, 412);
    assert.deepEqual(await filesIn(folder), { note: "another's" });
  }));

test("an onComplete() that fails is told again, until it does not", () =>
  inFolder(async (folder) => {
    let calls = 0;
    const send = client({
      directory: folder,
      name: () => "note",
      onComplete: () => {
        if (++calls < 3) throw new Error("the database is away");
      },
    });
    const created = await send({ request: ["POST", "/", TUS, "Upload-Length: 5"], body: "" });
    const upload = created.headers.get("location")!;
    const patch: Step = { request: ["PATCH", upload, TUS, DATA, "Upload-Offset: 0"], body: "hello" };
    assert.equal((await send(patch)).status, 500);
    assert.equal((await send({ request: ["HEAD", upload, TUS] })).status, 500);
    const head = await send({ request: ["HEAD", upload, TUS] });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("upload-offset"), "5");
    assert.equal(calls, 3);
    assert.deepEqual(await filesIn(folder), { note: "hello" });
  }));

test("an UploadError of onComplete() refuses an ordinary upload, too", () =>
  inFolder(async (folder) => {
    const onComplete = () => {
      throw new UploadError("UNSUPPORTED", "It is no picture");
    };
    const send = client({ directory: folder, onComplete });
    const response = await send({ request: ["PUT", "/note"], body: "hello" });
    assert.equal(response.status, 415);
    assert.equal((await response.json()).detail, "It is no picture");
  }));

test("onComplete() is told of ordinary uploads and of each file of a form", () =>
  inFolder(async (folder) => {
    const told: unknown[] = [];
    const { fetch } = createUploadHandler({ directory: folder, onComplete: (upload) => void told.push(upload) });
    await fetch(new Request("http://localhost/note", { method: "PUT", body: "hello" }));
    const body = new FormData();
    body.append("f", new File(["hi"], "a.txt", { type: "text/plain" }));
    await fetch(new Request("http://localhost/", { method: "POST", body }));
    const [plain, file] = told as { name: string }[];
    const path = join(folder, "note");
    assert.deepEqual(plain, { name: "note", bytes: 5, contentType: plainType(plain), path });
    const { name } = file;
    assert.deepEqual({ ...file, contentType: "" }, {
      name,
      bytes: 2,
      field: "f",
      filename: "a.txt",
      contentType: "",
      path: join(folder, name),
    });
  }));

/** Runtimes give a text of a request a type, or none. */
function plainType(upload: unknown): string {
  return (upload as { contentType: string }).contentType;
}

test("what a checksum does not vouch for is dropped after a kill", () =>
  inFolder(async (folder) => {
    const send = client({ directory: folder, name: () => "note" });
    const upload = (await send({ request: ["POST", "/", TUS, "Upload-Length: 10"], body: "" })).headers.get(
      "location",
    )!;
    const session = join(folder, SESSIONS, upload.slice(1));
    const record = JSON.parse(await readFile(join(session, "record.json"), "utf8"));
    await writeFile(join(session, "record.json"), JSON.stringify({ ...record, verified: 3 }));
    await writeFile(join(session, "data"), "hello");
    const head = await send({ request: ["HEAD", upload, TUS] });
    assert.equal(head.headers.get("upload-offset"), "3");
    assert.equal(await readFile(join(session, "data"), "utf8"), "hel");
  }));

test("a record that is none of ours is no session, and left alone", () =>
  inFolder(async (folder) => {
    const send = client({ directory: folder });
    const upload = (await send(begin)).headers.get("location")!;
    for (const text of ["", "{", "null", "[]", '{"version":2}', '{"version":1}']) {
      await writeFile(join(folder, SESSIONS, upload.slice(1), "record.json"), text);
      assert.equal((await send({ request: ["HEAD", upload] })).status, 404, text);
      assert.equal(await readFile(join(folder, SESSIONS, upload.slice(1), "record.json"), "utf8"), text);
    }
  }));

test("maxAge and other options are checked", () => {
  for (const resumable of [1, "yes", null, { maxAge: "1" }, { maxAge: 10 }, { maxAge: Infinity }, { age: 5 }]) {
    const options = { directory: "/tmp", resumable } as unknown as Parameters<typeof createUploadHandler>[0];
    assert.throws(() => createUploadHandler(options), /resumable|maxAge|age/);
  }
});

test("an upload of another site's page is refused at each step, and one of a page that may is told by CORS", () =>
  serving("node:http", { resumable: true, allowCrossSite: ["https://app.example"] }, async (server) => {
    const asked = async (step: Step) => (await ask(server, step))!.answer;
    const own = ["Origin: https://app.example"];
    const other = ["Origin: https://evil.example"];
    const preflight = await asked({
      request: [
        "OPTIONS",
        "/",
        ...own,
        "Access-Control-Request-Method: PATCH",
        "Access-Control-Request-Headers: upload-offset,x-csrf-token",
      ],
    });
    assert.equal(preflight.fields.get("access-control-allow-origin"), "https://app.example");
    assert.match(preflight.fields.get("access-control-allow-methods")!, /PATCH/);
    assert.equal(preflight.fields.get("access-control-allow-headers"), "upload-offset,x-csrf-token");
    assert.equal(preflight.fields.get("access-control-allow-credentials"), "true");
    assert.equal(
      (await asked({ request: ["OPTIONS", "/", ...other] })).fields.has("access-control-allow-origin"),
      false,
    );
    const created = await asked({ request: ["POST", "/", TUS, "Upload-Length: 5", ...own], body: "" });
    assert.match(created.fields.get("access-control-expose-headers")!, /Location.*Upload-Offset/);
    assert.equal(created.fields.get("vary"), "Origin");
    const upload = created.fields.get("location")!;
    for (
      const request of [
        ["POST", "/", TUS, "Upload-Length: 5", ...other],
        ["PATCH", upload, TUS, DATA, "Upload-Offset: 0", ...other],
        ["HEAD", upload, TUS, ...other],
        ["DELETE", upload, TUS, ...other],
        ["PUT", "/note", "Upload-Complete: ?0", ...other],
      ] as const
    ) {
      const answer = await asked({ request, body: request[0] === "PATCH" ? "hello" : undefined } as Step);
      assert.equal(answer.status, 403, answer.all);
      assert.equal(answer.fields.has("access-control-allow-origin"), false);
    }
    const patch: Step = { request: ["PATCH", upload, TUS, DATA, "Upload-Offset: 0", ...own], body: "hello" };
    assert.equal((await asked(patch)).status, 204);
  }));

test("pages of all sites may upload without cookies, and no field of CORS is made of what is no name", () =>
  serving("node:http", { resumable: true, allowCrossSite: true }, async (server) => {
    for (const [asked, allowed] of [["x-a, x-b", "x-a, x-b"], ["x a", undefined], ["x-a, ", undefined]]) {
      const lines = ["Origin: https://any.example", "Access-Control-Request-Method: PUT"];
      const request = ["OPTIONS", "/", ...lines, `Access-Control-Request-Headers: ${asked}`] as const;
      const { fields } = (await ask(server, { request } as Step))!.answer;
      assert.equal(fields.get("access-control-allow-origin"), "https://any.example");
      assert.equal(fields.get("access-control-allow-headers"), allowed);
      assert.equal(fields.has("access-control-allow-credentials"), false);
    }
  }));

test("publicPath stands before names and sessions in Location, as a path or a URL", () =>
  inFolder(async (directory) => {
    for (const publicPath of ["/api/uploads", "/api/uploads/", "https://files.example:8443/in/"]) {
      const start = publicPath.replace(/\/*$/, "/");
      const ask = client({ directory, basePath: "/files/", publicPath, overwrite: true });
      const stored = await ask({ request: ["POST", "/files/"], body: "hello" });
      assert.ok(stored.headers.get("location")!.startsWith(start));
      const created = await ask({ request: ["POST", "/files/", TUS, "Upload-Length: 5"] });
      const location = created.headers.get("location")!;
      assert.match(location.slice(start.length), /^[0-9a-f]{32}$/);
      const upload = `/files/${location.slice(start.length)}`;
      assert.equal(
        (await ask({ request: ["PATCH", upload, TUS, DATA, "Upload-Offset: 0"], body: "hello" })).status,
        204,
      );
    }
    for (const publicPath of ["", "api", "//host/", "/a?b", "/a b", "/\r\nX: y", "javascript:x", "https://"]) {
      assert.throws(() => createUploadHandler({ directory, publicPath }), {
        name: "TypeError",
        message: /^publicPath /,
      });
    }
  }));
