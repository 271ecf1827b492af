import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { precompress, type PrecompressReport } from "../../../lib/precompress/mod.ts";
import { FakeStore } from "../../s3/fake_store.ts";
import { contents, inFolder } from "../../support/folders.ts";
import { within } from "../../support/waits.ts";
import { writeSite } from "../site.ts";

const quick = { formats: ["gzip"], levels: { gzip: 6 }, jobs: 1 } as const;
const ADDRESS = "s3://films/site/cache";

/** The environment of a machine that has the keys of a store. */
function withEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  use: () => Promise<void>,
): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(variables)) set(name, value);
  return use().finally(() => {
    for (const [name, value] of before) set(name, value);
  });
}

function environmentOf(store: FakeStore): Record<string, string | undefined> {
  return {
    AWS_ENDPOINT_URL_S3: store.endpoint,
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: undefined,
    AWS_REGION: undefined,
  };
}

function onMachines(
  use: (store: FakeStore, run: (machine: string) => Promise<PrecompressReport>, folder: string) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeSite(site);
    const store = await FakeStore.start();
    try {
      await withEnvironment(environmentOf(store), async () => {
        const run = (machine: string) => precompress(site, { ...quick, cache: ADDRESS, out: join(folder, machine) });
        await within(use(store, run, folder), "the runs");
      });
      assert.deepEqual(store.refused, [], "signatures");
    } finally {
      await store.stop();
    }
  });
}

test("precompress() takes from a bucket what another machine has put there, and nothing that is corrupted", () =>
  onMachines(async (store, run, folder) => {
    const leftovers = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("millrace-cache-")).length;
    const before = await leftovers();
    assert.deepEqual((await run("first")).cache, { taken: 0, made: 4, refused: 0, removed: 0 });
    const keys = [...store.objects.keys()];
    assert.equal(keys.length, 4);
    for (const key of keys) assert.match(key, /^site\/cache\/[0-9a-f]{2}\/[0-9a-f]{62}\.variant$/);
    assert.deepEqual((await run("second")).cache, { taken: 4, made: 0, refused: 0, removed: 0 });
    assert.deepEqual(await contents(join(folder, "second")), await contents(join(folder, "first")));

    const pristine = new Map(store.objects);
    const [a, b, c, d] = keys.map((key) => [key, pristine.get(key)!] as const);
    store.objects.set(a![0], { ...a![1], bytes: b![1].bytes });
    store.objects.set(b![0], { ...b![1], bytes: b![1].bytes.subarray(0, -1) });
    store.objects.set(c![0], { ...c![1], bytes: new Uint8Array(4_000_000) });
    store.objects.delete(d![0]);
    const third = await run("third");
    assert.deepEqual([third.cache!.taken, third.cache!.made, third.cache!.refused > 0], [0, 4, true]);
    assert.deepEqual(await contents(join(folder, "third")), await contents(join(folder, "first")));
    for (const [key, { bytes }] of pristine) assert.deepEqual(store.objects.get(key)!.bytes, bytes);
    assert.equal(await leftovers(), before, "no download is left");
  }));

test("a bucket that is only read, or not even that, is told, and fails nothing", () =>
  onMachines(async (store, run, folder) => {
    store.fails(({ operation }) => operation === "PutObject" ? { status: 403, code: "AccessDenied" } : undefined);
    const first = await run("first");
    assert.deepEqual([first.cache!.made, first.problems], [4, []]);
    assert.match(first.cache!.problem!, /^cannot write it: /);
    store.fails(() => ({ status: 403, code: "AccessDenied" }));
    const second = await run("second");
    assert.deepEqual([second.cache!.made, second.problems], [4, []]);
    assert.match(second.cache!.problem!, /^cannot read it: /);
    assert.deepEqual(await contents(join(folder, "second")), await contents(join(folder, "first")));
  }));

test("the address of a bucket and the environment are checked", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeSite(site);
    const run = (cache: string, limits = {}) => precompress(site, { ...quick, cache, ...limits });
    await withEnvironment({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: "secret" }, async () => {
      await assert.rejects(
        run(ADDRESS),
        /cannot use s3:\/\/films\/site\/cache as a cache: the environment has no AWS_ACC/,
      );
      await assert.rejects(run("s3://"), /cannot use s3:\/\/ as a cache: name a folder, or s3:\/\/BUCKET\/PREFIX/);
      await assert.rejects(run(ADDRESS, { cacheMaxSize: 1 }), /cacheMaxSize is for folders: set a rule of the bucket/);
    });
  }));
