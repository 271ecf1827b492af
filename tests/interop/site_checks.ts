import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { type Answer, asks } from "../support/asked.ts";
import { large, script, type ServedSite } from "./served_site.ts";

/** Checks that files below `base` are sent as they are without a framework around: whole, in part, compressed, not at all. */
export async function checkFiles(base: string): Promise<void> {
  const ask = asks(base);
  const got = await ask("GET", "/app.js");
  assert.deepEqual([got.status, got.body.equals(script)], [200, true]);
  const small = await ask("GET", "/app.js?v=2", { "accept-encoding": "gzip" });
  assert.equal(small.headers["content-encoding"], "gzip");
  assert.ok(gunzipSync(small.body).equals(script));
  assert.match(String(small.headers.vary), /accept-encoding/i);
  const head = await ask("HEAD", "/large.bin");
  assert.deepEqual([head.status, head.headers["content-length"], head.body.length], [200, String(large.length), 0]);
  const part = await ask("GET", "/large.bin", { range: "bytes=1000-299999" });
  assert.deepEqual([part.status, part.headers["content-range"]], [206, `bytes 1000-299999/${large.length}`]);
  assert.ok(part.body.equals(large.subarray(1000, 300_000)));
  const beyond = await ask("GET", "/large.bin", { range: "bytes=999999-" });
  assert.equal(beyond.status, 416);
  const known = await ask("GET", "/app.js", { "if-none-match": String(got.headers.etag) });
  assert.deepEqual([known.status, known.body.length], [304, 0]);
  assert.equal((await ask("GET", "/app.js", { "if-match": '"other"' })).status, 412);
  await checkRedirect(base, await ask("GET", "/docs?page=1"));
}

/** A folder's name without its slash leads to the folder, wherever the handler is mounted. */
async function checkRedirect(base: string, { status, headers }: Answer): Promise<void> {
  assert.equal(status, 301);
  const target = new URL(String(headers.location), `${base}/docs?page=1`);
  assert.equal(target.href, `${base}/docs/?page=1`);
  const page = await asks(base)("GET", "/docs/");
  assert.match(page.body.toString(), /Manual/);
}

/** Checks that uploads below `base` are stored, and refused in plain words. */
export async function checkUploads(base: string, site: ServedSite): Promise<void> {
  const put = (name: string, body: string): Promise<Response> => fetch(`${base}/${name}`, { method: "PUT", body });
  const stored = await put("note.txt", "hello");
  assert.equal(stored.status, 201);
  assert.equal(new URL(stored.headers.get("location")!, stored.url).href, `${base}/note.txt`);
  assert.equal((await put("note.txt", "again")).status, 409);
  const tooLarge = await put("large", "x".repeat(1_500_000));
  assert.equal(tooLarge.status, 413);
  assert.equal(tooLarge.headers.get("content-type"), "application/problem+json");
  const form = new FormData();
  form.append("title", "a form");
  form.append("file", new File(["of a form"], "f.txt"));
  const posted = await fetch(base, { method: "POST", body: form });
  assert.equal(posted.status, 201);
  assert.deepEqual((await posted.json()).fields, { title: "a form" });
  const contents = await site.stored();
  assert.deepEqual(Object.values(contents).sort(), ["hello", "of a form"]);
}
