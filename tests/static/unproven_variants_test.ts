import assert from "node:assert/strict";
import { rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { compress } from "../../lib/codecs/mod.ts";
import { manifestName, precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { LargeContents } from "../../lib/static/scan/file_content.ts";
import { Proofs } from "../../lib/static/scan/proofs.ts";
import { scanTree } from "../../lib/static/scan/scan_tree.ts";
import { TurnSlicer } from "../../lib/timers/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { atLast } from "../support/waits.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

const content = sourceText(20_000, 1);
const other = sourceText(20_000, 2);
const LARGE = 1_500_000;
const br = (bytes: Uint8Array): Uint8Array =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

interface Scene {
  readonly site: string;
  readonly handler: StaticHandler;
  readonly warnings: string[];
}

/** Serves a site without a manifest, whose files have equal times. */
function serving(
  files: Readonly<Record<string, Uint8Array | string>>,
  use: (scene: Scene) => Promise<void>,
  options: StaticHandlerOptions = {},
): Promise<void> {
  return inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeTree(site, files);
    for (const path of Object.keys(files)) await utimes(join(site, path), 1.7e9, 1.7e9);
    const warnings: string[] = [];
    const onWarning = ({ path, message }: { path: string; message: string }) => warnings.push(`${path}: ${message}`);
    const handler = await createStaticHandler(site, { ...options, onWarning });
    try {
      await use({ site, handler, warnings });
    } finally {
      await handler.close();
    }
  });
}

/** Returns the coding of the response to a request that accepts one, and its bytes. */
async function asked(
  handler: StaticHandler,
  path: string,
  accepted: string,
): Promise<{ coding: string | null; bytes: Uint8Array; status: number; vary: string | null }> {
  const response = await handler.fetch(
    new Request(`http://site/${path}`, { headers: { "accept-encoding": accepted } }),
  );
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status, coding: headers.get("content-encoding"), vary: headers.get("vary"), bytes };
}

test("without a manifest, variants of what the file holds are sent, whichever tool made them", () =>
  serving({
    "app.js": content,
    "app.js.br": br(content),
    "app.js.gz": gzipSync(content),
    "app.js.zst": new Uint8Array(0),
  }, async ({ site, handler, warnings }) => {
    assert.deepEqual(warnings.map((each) => each.split(":")[0]), ["app.js.zst", "app.js.br", "app.js.gz"]);
    await writeTree(site, { "app.js.zst": await compress(content, { format: "zstd" }) });
    await handler.reload();
    for (const coding of ["br", "gzip", "zstd"]) {
      const response = await asked(handler, "app.js", coding);
      assert.deepEqual([response.coding, response.vary], [coding, "Accept-Encoding"]);
    }
  }));

test("without a manifest, a stale brotli stream is never sent, nor is what is beside it", () =>
  serving({
    "stale.js": content,
    "stale.js.br": br(other),
    "stale.js.gz": gzipSync(content),
    "none.js": content,
    "none.js.br": "this is no brotli at all",
    "proven.js": content,
    "proven.js.br": br(content),
    "proven.js.gz": gzipSync(other.subarray(1)), // another size, which gzip's trailer contains
  }, async ({ handler, warnings }) => {
    for (const path of ["stale.js", "none.js", "proven.js"]) {
      for (const accepted of ["br", "gzip", "br, gzip, zstd"]) {
        const response = await asked(handler, path, accepted);
        assert.deepEqual([response.status, response.coding], [200, null], `${path} ${accepted}`);
        assert.deepEqual(Buffer.from(response.bytes), Buffer.from(content));
      }
    }
    const named = new Set(warnings.map((each) => each.split(":")[0]));
    assert.deepEqual([...named].sort(), ["none.js.br", "proven.js.br", "proven.js.gz", "stale.js.br", "stale.js.gz"]);
  }));

test("without a manifest, variants of large files are sent when they were decoded, and stale ones never", () => {
  const large = sourceText(LARGE, 3);
  return serving({
    "large.js": large,
    "large.js.br": br(large),
    "stale.js": large,
    "stale.js.br": br(sourceText(LARGE, 4)),
    "longer.js": large,
    "longer.js.br": br(Buffer.concat([large, large])),
    "cut.js": large,
    "cut.js.gz": gzipSync(large).subarray(0, -9),
  }, async ({ handler, warnings }) => {
    assert.equal(
      (await asked(handler, "large.js", "br")).vary,
      "Accept-Encoding",
      "also as long as it is sent as it is",
    );
    await atLast(async () => (await asked(handler, "large.js", "br")).coding !== null);
    assert.equal((await asked(handler, "large.js", "br")).coding, "br");
    await atLast(() => warnings.length >= 3);
    for (const path of ["stale.js", "longer.js", "cut.js"]) {
      const response = await asked(handler, path, "br, gzip");
      assert.deepEqual([response.coding, response.bytes.length], [null, LARGE], path);
    }
    assert.deepEqual(warnings.map((each) => each.split(":")[0]).sort(), ["cut.js.gz", "longer.js.br", "stale.js.br"]);
  });
});

test("without a manifest, a large variant is decoded once, however often the folder is scanned", () =>
  inFolder(async (folder) => {
    const [one, two] = [1, 2].map((seed) => sourceText(300_000, seed));
    const files = { "a.js": one, "a.js.gz": gzipSync(one), "b.js": two, "b.js.br": br(one) };
    await writeTree(folder, files);
    const large = new LargeContents();
    for (const scans of [1, 2]) {
      const warnings: string[] = [];
      const warn = (path: string) => void warnings.push(path);
      const tree = await scanTree(folder, warn, { dotfiles: false, large });
      // A variant that is read again is found out.
      if (scans === 2) { for (const path of ["a.js.gz", "b.js.br"]) await writeFile(join(folder, path), ""); }
      const proofs = new Proofs(tree, { warn, contentOf: () => undefined });
      await proofs.prepare();
      await proofs.settleAll(new TurnSlicer(), () => false);
      const codings = [...tree].map(({ path, variants }) => [path, ...variants.map(({ coding }) => coding)]);
      assert.deepEqual([codings.sort(), warnings], [[["a.js", "gzip"], ["b.js"]], ["b.js.br"]], `scan ${scans}`);
    }
  }));

test("without a manifest, a .gz whose first member is empty, the one that browsers decode, is left out", () => {
  const large = sourceText(LARGE, 3);
  return serving({
    "app.js": content,
    "app.js.gz": Buffer.concat([gzipSync(""), gzipSync(content)]),
    "large.js": large,
    "large.js.gz": Buffer.concat([gzipSync(""), gzipSync(large)]),
  }, async ({ handler, warnings }) => {
    for (const path of ["app.js", "large.js"]) assert.equal((await asked(handler, path, "gzip")).coding, null);
    await atLast(() => warnings.length >= 2);
    for (const path of ["app.js", "large.js"]) assert.equal((await asked(handler, path, "gzip")).coding, null);
    assert.deepEqual(warnings.map((each) => each.split(":")[0]).sort(), ["app.js.gz", "large.js.gz"]);
  });
});

test("a file that is called like a variant and holds something else is a file of its own", () =>
  serving({ "data.csv": content, "data.csv.gz": gzipSync(other), "log.txt": content, "log.txt.br": "notes" }, async ({
    handler,
  }) => {
    assert.equal((await asked(handler, "data.csv", "gzip")).coding, null);
    const archive = await asked(handler, "data.csv.gz", "identity");
    assert.deepEqual([archive.status, Buffer.from(archive.bytes)], [200, gzipSync(other)]);
    assert.equal(new TextDecoder().decode((await asked(handler, "log.txt.br", "identity")).bytes), "notes");
  }));

test("a zstd stream whose window is larger than browsers take is left out", async () => {
  const frame = new Uint8Array(await compress(content, { format: "zstd" }));
  // The frame of a single segment, which declares a window of 16 MiB (RFC 8878, section 3.1.1.1).
  const singleSegment = (frame[4]! & 0x20) !== 0;
  assert.ok(singleSegment, "a small frame is of one segment");
  const sizeLength = [1, 2, 4, 8][frame[4]! >> 6]!;
  const body = frame.subarray(5 + sizeLength);
  const declared = Buffer.concat([frame.subarray(0, 4), Uint8Array.of(0, 14 << 3), body]);
  await serving({ "app.js": content, "app.js.zst": declared }, async ({ handler, warnings }) => {
    assert.equal((await asked(handler, "app.js", "zstd")).coding, null);
    assert.match(warnings.join(), /app\.js\.zst: .*its window has more than the 8 MiB that browsers take/);
  });
});

test("without a manifest, deltas are sent if the previous deploy is at hand to prove them, else left out", () =>
  inFolder(async (folder) => {
    const [before, after] = [join(folder, "before"), join(folder, "after")];
    await writeTree(before, { "app.js": content });
    await writeTree(after, { "app.js": Buffer.concat([content, new TextEncoder().encode("// more\n")]) });
    await precompress(after, { previous: before, levels: { brotli: 5, zstd: 3, gzip: 6 } });
    await rm(join(after, manifestName));
    const { createHash } = await import("node:crypto");
    const dictionary = createHash("sha256").update(content).digest("base64");
    const headers = { "accept-encoding": "br, dcb", "available-dictionary": `:${dictionary}:` };
    for (const previous of [undefined, before]) {
      const warnings: string[] = [];
      const onWarning = ({ path }: { path: string }) => warnings.push(path);
      const handler = await createStaticHandler(after, { onWarning, ...(previous && { previous }) });
      const response = await handler.fetch(new Request("http://site/app.js", { headers }));
      await response.arrayBuffer();
      assert.equal(response.headers.get("content-encoding"), previous ? "dcb" : "br");
      assert.deepEqual(warnings, previous ? [] : ["app.js.dcb", "app.js.dcz"]);
      await handler.close();
    }
  }));

test(
  "a variant that is a link is sent from where it leads to",
  { skip: needs("links") },
  () =>
    serving({ "app.js": content, "made/app.gz": gzipSync(content) }, async ({ site, handler }) => {
      await symlink("made/app.gz", join(site, "app.js.gz"));
      await handler.reload();
      await atLast(async () => (await asked(handler, "app.js", "gzip")).coding === "gzip");
      const { coding, bytes } = await asked(handler, "app.js", "gzip");
      assert.equal(coding, "gzip");
      assert.deepEqual(bytes, new Uint8Array(gzipSync(content)));
    }),
);

test("the size in the head of the smallest of zstd frames is held against the file's", () => {
  // One block of 70,001 zeros, in 13 bytes.
  const frame = Buffer.from("28b52ffd" + "a0" + "71110100" + "8b8b08" + "00", "hex");
  return serving({ "zeros.txt": new Uint8Array(70_000), "zeros.txt.zst": frame }, ({ warnings }) => {
    assert.deepEqual(warnings, [
      "zeros.txt.zst: this variant is left out: it holds 70001 bytes where the file has 70000, or ends early",
    ]);
    return Promise.resolve();
  });
});

test("stats() counts the files, without their variants", () =>
  serving({ "app.js": content, "app.js.gz": gzipSync(content), "page.html": "page" }, async ({ site, handler }) => {
    assert.equal(handler.stats().files, 2);
    await rm(join(site, "app.js.gz"));
    await rm(join(site, "app.js"));
    await handler.reload();
    assert.equal(handler.stats().files, 1);
  }));
