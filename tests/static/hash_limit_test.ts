import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { manifestName, precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { filesAge, putManifest } from "./tree/scanned.ts";

const KIB = 1024;
const LARGE = 300 * KIB;
const ZIP = 315_532_800; // the time of files in reproducible archives, in seconds

/** Text that gzip makes much smaller, and that differs by `seed` alone. */
const textOf = (seed: number, size = LARGE): string => `${seed} `.repeat(size).slice(0, size);

function put(folder: string, name: string, text: string, seconds: number): void {
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), seconds, seconds);
}

interface Told {
  readonly status: number;
  readonly tag: string;
  readonly digest: string | null;
  readonly coding: string | null;
  readonly text: string;
}

async function ask(handler: StaticHandler, path: string, headers: Record<string, string> = {}): Promise<Told> {
  const response = await handler.fetch(new Request(`http://localhost/${path}`, { headers }));
  const [tag, digest, coding] = ["etag", "repr-digest", "content-encoding"].map((name) => response.headers.get(name));
  return { status: response.status, tag: tag!, digest: digest!, coding: coding!, text: await response.text() };
}

/** Creates a handler and returns its response for `path`, and its warnings. */
async function asked(
  folder: string,
  path: string,
  options: StaticHandlerOptions = {},
  headers: Record<string, string> = {},
): Promise<Told & { readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const onWarning: StaticHandlerOptions["onWarning"] = ({ path, message }) => warnings.push(`${path}: ${message}`);
  await using handler = await createStaticHandler(folder, { hashLimit: 0, reprDigest: true, onWarning, ...options });
  return { ...await ask(handler, path, headers), warnings };
}

test("above hashLimit, a tag follows from size and time: it is the same for the same, and another for any other", () =>
  inFolder(async (folder) => {
    const tags = new Map<string, string>();
    for (const size of [LARGE, LARGE + 1]) {
      for (const seconds of [1_700_000_000, 1_700_000_000.25, 1_700_000_001]) {
        for (const seed of [1, 2]) {
          put(folder, "a.bin", textOf(seed, size), seconds);
          const { status, tag, digest, text } = await asked(folder, "a.bin");
          assert.deepEqual([status, digest, text === textOf(seed, size)], [200, null, true]);
          const key = `${size} ${seconds}`;
          assert.equal(tags.get(key) ?? tag, tag, "of size and time alone: nothing was read");
          tags.set(key, tag);
          const known = await asked(folder, "a.bin", {}, { "if-none-match": tag });
          assert.equal(known.status, 304);
          const part = await asked(folder, "a.bin", {}, { "if-range": tag, range: "bytes=5-9" });
          assert.deepEqual([part.status, part.text], [206, textOf(seed, size).slice(5, 10)]);
        }
      }
    }
    assert.equal(new Set(tags.values()).size, tags.size);
  }));

test("files up to the limit, those of less than 256 KiB, and those whose time proves nothing are hashed all the same", () =>
  inFolder(async (folder) => {
    for (const [size, seconds, hashLimit] of [[LARGE, 1.7e9, LARGE], [200 * KIB, 1.7e9, 0], [LARGE, ZIP, 0]] as const) {
      const told: Told[] = [];
      for (const seed of [1, 2]) {
        put(folder, "a.bin", textOf(seed, size), seconds);
        told.push(await asked(folder, "a.bin", { hashLimit }));
      }
      const [one, other] = told;
      assert.notEqual(one!.tag, other!.tag, `${size} bytes, of ${seconds} s`);
      assert.match(one!.digest!, /^sha-256=/);
    }
  }));

test("variants beside a file above hashLimit are sent only if the manifest vouches for both", () =>
  inFolder(async (folder) => {
    put(folder, "a.txt", textOf(1), 1.7e9);
    await writeTree(folder, { "a.txt.gz": gzipSync(textOf(2)) }); // of other content, of the same size
    const unproven = await asked(folder, "a.txt", {}, { "accept-encoding": "gzip" });
    assert.deepEqual([unproven.coding, unproven.text], [null, textOf(1)]);
    assert.match(unproven.warnings.join("\n"), /^a\.txt\.gz: this variant is left out: .*hashLimit/);
    await precompress(folder, { formats: ["gzip"], levels: { gzip: 1 }, jobs: 1, force: true });
    const manifest = join(folder, manifestName);
    await filesAge();
    await putManifest(folder, await readFile(manifest, "utf8"));
    const hashed = await asked(folder, "a.txt", { hashLimit: LARGE }, { "accept-encoding": "gzip" });
    const vouched = await asked(folder, "a.txt", {}, { "accept-encoding": "gzip" });
    assert.deepEqual([vouched.coding, vouched.warnings], ["gzip", []]);
    assert.deepEqual([vouched.tag, vouched.digest], [hashed.tag, hashed.digest]);
    put(folder, "a.txt", textOf(3), Date.now() / 1000 + 2); // behind the manifest's back
    const changed = await asked(folder, "a.txt", {}, { "accept-encoding": "gzip" });
    assert.deepEqual([changed.coding, changed.text], [null, textOf(3)]);
  }));

test("a file above hashLimit that a deploy only gave another time is no immutable file that has changed", () =>
  inFolder(async (folder) => {
    const warnings: string[] = [];
    put(folder, "a.bin", textOf(1), 1.7e9);
    const options: StaticHandlerOptions = {
      hashLimit: 0,
      immutable: "**",
      onWarning: ({ path }) => warnings.push(path),
    };
    await using handler = await createStaticHandler(folder, options);
    const { tag } = await ask(handler, "a.bin");
    put(folder, "a.bin", textOf(1), 1.8e9);
    await handler.reload();
    assert.notEqual((await ask(handler, "a.bin")).tag, tag);
    assert.deepEqual(warnings, []);
  }));
