import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";

const data = Buffer.from("name,count\n".repeat(500));

async function serving(run: (handler: StaticHandler) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-variants-"));
  try {
    await writeFile(join(folder, "data.csv"), data);
    await writeFile(join(folder, "data.csv.gz"), gzipSync(data));
    await writeFile(join(folder, "data.csv.dcb"), Buffer.concat([Buffer.from("ff444342", "hex"), Buffer.alloc(40)]));
    const handler = await createStaticHandler(folder, { onWarning: () => {} });
    await run(handler);
    await handler.close();
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a variant that is asked for by its own name is a file like others", () =>
  serving(async ({ fetch }) => {
    const response = await fetch(
      new Request("http://localhost/data.csv.gz", { headers: { "accept-encoding": "gzip, br" } }),
    );
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-encoding"), null);
    assert.equal(response.headers.get("content-type"), "application/gzip");
    assert.equal(response.headers.get("vary"), null);
    assert.deepEqual(gunzipSync(new Uint8Array(await response.arrayBuffer())), data);
    const again = { headers: { "if-none-match": response.headers.get("etag")! } };
    assert.equal((await fetch(new Request("http://localhost/data.csv.gz", again))).status, 304);
  }));

test("a delta, and a variant that is not there, are not found by their names", () =>
  serving(async ({ fetch }) => {
    for (const name of ["data.csv.dcb", "data.csv.br", "other.csv.gz"]) {
      assert.equal((await fetch(new Request(`http://localhost/${name}`))).status, 404);
    }
  }));
