/** All ways in, by all rules: whatever way a file takes, the same rules refuse it, and nothing is stored. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { writeTree } from "../../support/folders.ts";
import { filesIn } from "../resumable/exchange_case.ts";
import { inUploads } from "./serving_handler.ts";

/** A file to send, and how. */
interface Sending {
  /** The folder of the URL. */
  readonly at: string;
  /** The file's name at its sender, and in the path of a PUT. */
  readonly filename: string | undefined;
  readonly type: string;
  /** More header fields of each request, and of those that have bytes of the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly contentFields: Readonly<Record<string, string>>;
}

type Send = (method: string, path: string, fields: Record<string, string>, body?: Content) => Promise<Response>;
type Content = string | Uint8Array<ArrayBuffer> | FormData;
type Way = (send: Send, sending: Sending) => Promise<Response>;

const BODY = "hello";
const TUS = { "tus-resumable": "1.0.0" };
const DATA = "application/offset+octet-stream";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Goes on with the upload that a request has created. */
async function followed(created: Response, go: (location: string) => Promise<Response>): Promise<Response> {
  return created.ok ? await go(created.headers.get("location")!) : created;
}

function metadataOf({ filename, type }: Sending): string {
  const name = filename === undefined ? [] : [`filename ${base64(filename)}`];
  return [...name, `filetype ${base64(type)}`].join();
}

function tusFields(sending: Sending): Record<string, string> {
  const length = String(BODY.length);
  return { ...TUS, ...sending.fields, "upload-length": length, "upload-metadata": metadataOf(sending) };
}

const patchTus = (send: Send, { fields, contentFields }: Sending) => (location: string): Promise<Response> =>
  send("PATCH", location, { ...TUS, ...fields, ...contentFields, "content-type": DATA, "upload-offset": "0" }, BODY);

const putPath = ({ at, filename }: Sending): string => `${at}${filename ?? "x"}`;

/** The ways to store a file. */
const ways: Readonly<Record<string, Way>> = {
  PUT: (send, sending) => {
    const { fields, contentFields, type } = sending;
    return send("PUT", putPath(sending), { ...fields, ...contentFields, "content-type": type }, BODY);
  },
  POST: (send, { at, fields, contentFields, type }) =>
    send("POST", at, { ...fields, ...contentFields, "content-type": type }, BODY),
  form: (send, { at, fields, contentFields, filename, type }) => {
    const form = new FormData();
    form.append("f", new File([BODY], filename ?? "x", { type }));
    return send("POST", at, { ...fields, ...contentFields }, form);
  },
  "tus, created with its data": (send, sending) =>
    send("POST", sending.at, { ...tusFields(sending), ...sending.contentFields, "content-type": DATA }, BODY),
  "tus, PATCH": async (send, sending) =>
    await followed(await send("POST", sending.at, tusFields(sending)), patchTus(send, sending)),
  "tus, PATCH by POST": async (send, sending) => {
    const { fields, contentFields } = sending;
    const how = { ...TUS, ...fields, ...contentFields, "x-http-method-override": "PATCH", "content-type": DATA };
    return await followed(
      await send("POST", sending.at, tusFields(sending)),
      (location) => send("POST", location, { ...how, "upload-offset": "0" }, BODY),
    );
  },
  "tus, concatenated": async (send, sending) => {
    const { "upload-metadata": metadata, ...fields } = tusFields(sending);
    const partial = await send("POST", sending.at, { ...fields, "upload-concat": "partial" });
    const patched = await followed(partial, patchTus(send, sending));
    if (!patched.ok) return patched;
    const concat = `final;${partial.headers.get("location")}`;
    const { "upload-length": _length, ...rest } = fields;
    return await send("POST", sending.at, { ...rest, "upload-metadata": metadata, "upload-concat": concat });
  },
  "draft, PUT": (send, sending) => {
    const { fields, contentFields, type } = sending;
    const all = { ...fields, ...contentFields, "content-type": type, "upload-complete": "?1" };
    return send("PUT", putPath(sending), all, BODY);
  },
  "draft, POST": (send, { at, fields, contentFields, type }) =>
    send("POST", at, { ...fields, ...contentFields, "content-type": type, "upload-complete": "?1" }, BODY),
  "draft, PATCH": async (send, sending) => {
    const { fields, contentFields, type } = sending;
    const creation = { ...fields, "content-type": type, "upload-complete": "?0" };
    const how = { "content-type": "application/partial-upload", "upload-offset": "0", "upload-complete": "?1" };
    return await followed(
      await send("PUT", putPath(sending), creation, ""),
      (location) => send("PATCH", location, { ...fields, ...contentFields, ...how }, BODY),
    );
  },
};

interface Rule {
  readonly options?: Partial<UploadHandlerOptions>;
  readonly files?: Readonly<Record<string, string>>;
  readonly sending: Partial<Sending>;
  readonly status: number;
  /** The ways that the rule is about. Default: all. */
  readonly about?: (way: string) => boolean;
}

const digest = (text: string): string => `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;
const inPieces = (way: string): boolean => /PATCH|tus/.test(way);
const hasName = (way: string): boolean => !/POST$/.test(way) || way.includes("by POST");

const rules: Readonly<Record<string, Rule>> = {
  "another path than those below basePath": { sending: { at: "/other/" }, status: 404 },
  "the path basePath begins with": { sending: { at: "/filesystem/" }, status: 404 },
  "a page of another site": { sending: { fields: { "sec-fetch-site": "cross-site" } }, status: 403 },
  "a page of another origin": { sending: { fields: { origin: "https://evil.example" } }, status: 403 },
  "a range": { sending: { contentFields: { "content-range": "bytes 0-4/9" } }, status: 400 },
  "another transfer coding": { sending: { contentFields: { "transfer-encoding": "gzip, chunked" } }, status: 501 },
  "a Content-Digest of other bytes": { sending: { contentFields: { "content-digest": digest("else") } }, status: 422 },
  "a malformed Content-Digest": { sending: { contentFields: { "content-digest": "sha-256" } }, status: 400 },
  "a malformed Repr-Digest": { sending: { contentFields: { "repr-digest": "sha-256=:AAAA:" } }, status: 400 },
  "a Repr-Digest of other bytes": {
    sending: { fields: { "repr-digest": digest("else") } },
    status: 422,
  },
  "a digest in the trailers": { sending: { contentFields: { trailer: "Content-Digest" } }, status: 501 },
  "a length that is no number": { sending: { contentFields: { "content-length": "5x" } }, status: 400 },
  "an unknown coding to undo": {
    options: { decode: true },
    sending: { contentFields: { "content-encoding": "lzma" } },
    status: 415,
  },
  "a coding to undo, of a piece": {
    options: { decode: true },
    sending: { contentFields: { "content-encoding": "gzip" } },
    status: 415,
    about: inPieces,
  },
  "a body that says that it is a part": {
    sending: { contentFields: { "upload-draft-interop-version": "3", "upload-incomplete": "?1" } },
    status: 400,
    about: (way) => !way.startsWith("tus") && !way.startsWith("draft"),
  },
  "a part, where uploads are not resumable": {
    options: { resumable: false },
    sending: { fields: { "upload-complete": "?0" } },
    status: 400,
    about: (way) => ["PUT", "POST", "form"].includes(way),
  },
  "an upload by tus, where uploads are not resumable": {
    options: { resumable: false },
    sending: {},
    status: 400,
    about: (way) => way.startsWith("tus"),
  },
  "a type that is not accepted": { options: { accept: "text/csv" }, sending: { type: "text/html" }, status: 415 },
  "a type of bytes without a name": { options: { accept: "text/csv" }, sending: { filename: undefined }, status: 415 },
  "an extension that is not accepted": {
    options: { extensions: ["png", "pdf"] },
    sending: { filename: "x.html" },
    status: 415,
  },
  "a type whose extension is not accepted, without a name": {
    options: { extensions: ["png", "pdf"] },
    sending: { filename: undefined, type: "text/html" },
    status: 415,
  },
  "a type that says nothing, without a name": {
    options: { extensions: ["png"] },
    sending: { filename: undefined, type: "application/octet-stream" },
    status: 415,
  },
  "name() gives another extension": {
    options: { extensions: ["txt"], name: () => "x.php" },
    sending: {},
    status: 415,
  },
  "name() gives a dotfile": { options: { name: () => ".htaccess" }, sending: {}, status: 400 },
  "name() leads out": { options: { name: () => "../x" }, sending: {}, status: 400 },
  "name() gives a name of ours": { options: { name: () => ".millrace-uploads/x" }, sending: {}, status: 400 },
  "name() gives nothing": {
    options: { name: () => undefined },
    sending: {},
    status: 404,
    about: (way) => way !== "form",
  },
  "name() gives no text": { options: { name: () => 5 as unknown as string }, sending: {}, status: 500 },
  "a missing folder": { options: { name: () => "none/x" }, sending: {}, status: 409 },
  "a name that is taken": { options: { name: () => "x" }, files: { x: "former" }, sending: {}, status: 409 },
  "too many bytes": { options: { maxBytes: 4 }, sending: {}, status: 413 },
};

/** Sends a file by one of the ways; returns the last response, and what is stored. */
function sent(
  way: string,
  { options, files = {}, sending }: Pick<Rule, "options" | "files" | "sending">,
  check: (response: Response, files: Readonly<Record<string, string>>) => void,
): Promise<void> {
  return inUploads(async (directory) => {
    await writeTree(directory, files);
    const handler = createUploadHandler({
      directory,
      basePath: "/files/",
      resumable: true,
      log: () => {},
      ...options,
    });
    const send: Send = (method, path, fields, body) => {
      const length = typeof body === "string" ? { "content-length": String(body.length) } : undefined;
      const url = new URL(path, "http://localhost");
      const request = new Request(url, { method, headers: { ...length, ...fields }, body });
      return handler.fetch(request);
    };
    const all = { at: "/files/", filename: "x.txt", type: "text/plain", fields: {}, contentFields: {}, ...sending };
    const response = await ways[way](send, all);
    check(response, await filesIn(directory));
    await response.body?.cancel();
    await handler.close();
  });
}

for (const way of Object.keys(ways)) {
  test(`${way}: a file is stored that all rules accept`, () =>
    sent(way, {
      options: { accept: "text/*", extensions: ["txt"], maxBytes: 10_000, decode: true },
      sending: { fields: { origin: "http://localhost", "sec-fetch-site": "same-origin" } },
    }, (response, files) => {
      assert.ok(response.ok, String(response.status));
      assert.deepEqual(Object.values(files), [BODY]);
      assert.match(Object.keys(files)[0], hasName(way) ? /\.txt$/ : /\.(?:txt|text)$/);
    }));

  for (const [name, rule] of Object.entries(rules)) {
    if (rule.about?.(way) === false) continue;
    test(`${way}: refused for ${name}`, () =>
      sent(way, rule, ({ status }, files) => {
        assert.deepEqual(files, rule.files ?? {});
        assert.equal(status, rule.status);
      }));
  }
}

for (
  const [extension, filename, type] of [
    ["tar.gz", "a.TAR.gz", "text/html"],
    ["numbers-tef", "a.numbers-tef", "text/html"],
    ["jpg_large", "a.jpg_large", "application/javascript"],
    ["\u00e9t\u00e9", "a.\u00e9t\u00e9", "image/svg+xml"],
    ["averyveryverylongextension", "a.averyveryverylongextension", "text/html"],
  ]
) {
  for (const way of ["form", "tus, PATCH", "tus, concatenated"]) {
    test(`${way}: a new name keeps the accepted extension ${extension}`, () =>
      sent(way, { options: { extensions: [extension] }, sending: { filename, type } }, (response, files) => {
        assert.ok(response.ok, String(response.status));
        assert.deepEqual(Object.keys(files).map((name) => name.slice(36)), [`.${extension}`]);
      }));
  }
}

for (const coding of ["identity", "Identity", " identity , identity", ","]) {
  for (const way of Object.keys(ways)) {
    for (const decode of [false, true]) {
      // Without `decode`, forms of a list of codings are refused, and other bodies are stored as received.
      if (way === "form" && !decode && coding.includes(",")) continue;
      test(`${way}: a body without a coding is stored, with Content-Encoding: ${coding}, decode: ${decode}`, () =>
        sent(
          way,
          { options: { decode }, sending: { contentFields: { "content-encoding": coding } } },
          ({ ok, status }, files) => {
            assert.ok(ok, String(status));
            assert.deepEqual(Object.values(files), [BODY]);
          },
        ));
    }
  }
}

test("PUT: bytes of a coding are undone", () =>
  inUploads(async (directory) => {
    const { fetch } = createUploadHandler({ directory, resumable: true, decode: true });
    const init = { method: "PUT", headers: { "content-encoding": "gzip" }, body: gzipSync(BODY) };
    assert.equal((await fetch(new Request("http://localhost/x", init))).status, 201);
    assert.deepEqual(await filesIn(directory), { x: BODY });
  }));
