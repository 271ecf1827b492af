import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";

async function fieldsWith(options: StaticHandlerOptions): Promise<Headers> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-fields-"));
  try {
    await writeFile(join(folder, "page.html"), "<p>The mill turns.</p>");
    const handler = await createStaticHandler(folder, options);
    const { headers } = await handler.fetch(new Request("http://localhost/page.html"));
    await handler.close();
    return headers;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("an empty value of headers() leaves the field out", async () => {
  const fields = await fieldsWith({
    headers: () => ({ "cache-control": "", "X-Content-Type-Options": "", "x-own": "1" }),
  });
  assert.equal(fields.get("cache-control"), null);
  assert.equal(fields.get("x-content-type-options"), null);
  assert.equal(fields.get("x-own"), "1");
});

test("an empty cacheControl leaves Cache-Control out", async () => {
  assert.equal((await fieldsWith({ cacheControl: "" })).get("cache-control"), null);
  assert.equal((await fieldsWith({ cacheControl: () => undefined })).get("cache-control"), "no-cache");
});

test("what headers() gives that is no field is told with the file's path, before anything is served", async () => {
  const wrong = () => ({ "x own": "1" });
  await assert.rejects(fieldsWith({ headers: wrong }), /headers\(\) gives what cannot be sent for page\.html/);
});

test("a promise that headers() gives is told: its fields would be lost", async () => {
  const later = (async () => await Promise.resolve({ "x-frame-options": "DENY" })) as never;
  await assert.rejects(fieldsWith({ headers: later }), /headers\(\) gives what cannot be sent .*promise/);
});
