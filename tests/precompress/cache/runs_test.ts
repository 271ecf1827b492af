import assert from "node:assert/strict";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { precompress, type PrecompressOptions, type PrecompressReport } from "../../../lib/precompress/mod.ts";
import { mainHere } from "../../cli/main_here.ts";
import { sourceText } from "../../support/bytes.ts";
import { contents, inFolder, listed, writeTree } from "../../support/folders.ts";
import { pagesOfSite } from "../pages.ts";
import { writeSite } from "../site.ts";

/** Options with one thread and codecs that load quickly: 8 variants of the site. */
const quick = { formats: ["zstd", "gzip"], levels: { brotli: 5, zstd: 3, gzip: 6 }, jobs: 1 } as const;

/** Folders of a test: a site, what machines make of it, and their cache. */
interface Machines {
  readonly site: string;
  readonly cache: string;
  /** Makes the site's variants on a machine of that name, which knows nothing but the cache. */
  run(machine: string, options?: PrecompressOptions): Promise<PrecompressReport>;
  /** Returns the files that a machine has made. */
  made(machine: string): Promise<Record<string, string>>;
  /** Returns the paths of all entries. */
  entries(): Promise<string[]>;
}

function onMachines(use: (machines: Machines) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    const [site, cache] = [join(folder, "site"), join(folder, "cache")];
    await writeSite(site);
    await use({
      site,
      cache,
      run: (machine, options) => precompress(site, { ...quick, cache, ...options, out: join(folder, machine) }),
      made: (machine) => contents(join(folder, machine)),
      entries: async () =>
        (await listed(cache)).filter((path) => path.endsWith(".variant")).map((at) => join(cache, at)),
    });
  });
}

test("precompress() takes from the cache what another machine has put there, in the same bytes", () =>
  onMachines(async ({ site, cache, run, made, entries }) => {
    assert.equal((await run("none", { dryRun: true })).cache, undefined);
    await assert.rejects(listed(cache), "a dry run makes no cache");
    await chmod(join(site, "index.html"), 0o444);
    const first = await run("first");
    assert.deepEqual(first.cache, { taken: 0, made: 8, refused: 0, removed: 0 });
    assert.equal((await entries()).length, 8);
    const second = await run("second");
    assert.deepEqual(second.cache, { taken: 8, made: 0, refused: 0, removed: 0 });
    assert.deepEqual(second.compressed, first.compressed);
    assert.deepEqual(await made("second"), await made("first"));
  }));

test("precompress() also knows from the cache what was not worth it, whatever is worth it now", () =>
  onMachines(async ({ run }) => {
    const choosy = { formats: ["gzip"], minSaving: 0.999 } as const;
    assert.equal((await run("first", choosy)).cache!.made, 4);
    const second = await run("second", choosy);
    assert.deepEqual([second.cache!.taken, second.compressed.length], [4, 0]);
    const third = await run("third", { formats: ["gzip"] });
    assert.deepEqual([third.cache!.taken, third.compressed.length], [4, 4]);
  }));

test("precompress() takes deltas and the dictionary's variants from the cache, by the dictionary's content", () =>
  inFolder(async (folder) => {
    const [site, former, cache] = [join(folder, "site"), join(folder, "former"), join(folder, "cache")];
    await writeTree(site, { ...pagesOfSite({ count: 6 }), "assets/app.4f3a9c1e.js": sourceText(20_000, 1) });
    await writeTree(former, { "assets/app.00000000.js": sourceText(19_000, 1) });
    const options = { ...quick, formats: ["zstd"], cache, previous: former, siteDictionary: true } as const;
    const run = (machine: string) => precompress(site, { ...options, out: join(folder, machine) });
    const { made } = (await run("first")).cache!;
    const all = Object.keys(await contents(join(folder, "first")));
    assert.ok(all.some((path) => path.endsWith(".site.dcz")) && all.includes("assets/app.4f3a9c1e.js.dcz"));
    assert.deepEqual((await run("second")).cache, { taken: made, made: 0, refused: 0, removed: 0 });
    assert.deepEqual(await contents(join(folder, "second")), await contents(join(folder, "first")));
    await writeTree(former, { "assets/app.00000000.js": sourceText(18_000, 1) });
    assert.equal((await run("third")).cache!.taken, made - 1, "another dictionary");
  }));

test("precompress() makes anew what was corrupted in the cache, and with force everything", () =>
  onMachines(async ({ run, made, entries }) => {
    await run("first");
    const paths = await entries();
    const pristine = await Promise.all(paths.map((path) => readFile(path)));
    for (const [i, path] of paths.entries()) await writeFile(path, pristine[(i + 1) % paths.length]!);
    assert.deepEqual((await run("second")).cache, { taken: 0, made: 8, refused: 8, removed: 0 });
    assert.deepEqual(await made("second"), await made("first"));
    assert.deepEqual(await Promise.all(paths.map((path) => readFile(path))), pristine);
    assert.deepEqual((await run("third", { force: true, cacheMaxSize: 0 })).cache, {
      taken: 0,
      made: 8,
      refused: 0,
      removed: 8,
    });
  }));

test("runs at the same time share a cache", () =>
  onMachines(async ({ run, made, entries }) => {
    const names = ["a", "b", "c"];
    const reports = await Promise.all(names.map((name) => run(name, { formats: ["gzip"] })));
    const all = await Promise.all(names.map(made));
    for (const [i, { cache, problems }] of reports.entries()) {
      assert.deepEqual([cache!.taken + cache!.made, cache!.refused, cache!.problem, problems], [4, 0, undefined, []]);
      assert.deepEqual(all[i], all[0]);
    }
    assert.equal((await entries()).length, 4);
  }));

test("the command tells how much came from the cache, and what is wrong with it, and fails of nothing of that", () =>
  onMachines(async ({ site, cache, entries }) => {
    const options = ["--formats", "gzip", "--level-gzip", "6", "--jobs", "1"];
    const run = (out: string) =>
      mainHere([site, "--out", join(site, "..", out), "--cache", cache, "--cache-max-age", "30d", ...options]);
    const first = await run("first");
    assert.deepEqual([first.status, first.stderr], [0, ""]);
    assert.match(first.stdout, /: 4 compressed, .*, 0 of 4 variants from the cache, in /);
    const [place = "", ...torn] = await entries();
    await rm(place);
    await mkdir(place); // is no entry, and is not replaced
    for (const path of torn) await writeFile(path, "torn");
    const second = await run("second");
    assert.match(second.stderr, /^millrace: 3 entries of the cache were .* anew\nmillrace: .* cannot write it: .*\n$/);
    assert.equal(second.status, 0);
    assert.deepEqual(await contents(join(site, "../second")), await contents(join(site, "../first")));
  }));

test("options of the cache are checked", () =>
  onMachines(async ({ site, cache, run }) => {
    for (const inside of [site, join(site, "assets/cache"), join(site, ".."), join(site, "../first/x")]) {
      await assert.rejects(run("first", { cache: inside }), /the cache .* must not hold each other/);
    }
    await writeTree(cache, { "notes.txt": "somebody's" });
    await assert.rejects(
      run("first"),
      /cannot use .*cache as a cache: it holds files .* \(notes\.txt\): name an empty/,
    );
    await assert.rejects(
      run("first", { cache: "ftp://server/x" }),
      /cannot use ftp:.* as a cache: name a folder, or s3:/,
    );
    await assert.rejects(
      run("first", { cache: undefined, cacheMaxSize: 1 }),
      /cacheMaxSize is of no use without cache/,
    );
    await assert.rejects(run("first", { cacheMaxAge: -1 }), /cacheMaxAge -1 is out of range/);
    const { status, stderr } = await mainHere([site, "--cache", cache, "--cache-max-age", "1month"]);
    const message = "millrace: --cache-max-age 1month is not a time: use 90s, 30m, 12h or 7d\nsee --help\n";
    assert.deepEqual([status, stderr], [2, message]);
  }));
