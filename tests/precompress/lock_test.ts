import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, readdir, readFile, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import {
  cleanPrecompressed,
  extensions,
  manifestName,
  precompress,
  type PrecompressOptions,
  type PrecompressReport,
  type VariantFormat,
} from "../../lib/precompress/mod.ts";
import { Folder } from "../../lib/precompress/folder.ts";
import { Journal } from "../../lib/precompress/journal.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { within } from "../support/waits.ts";
import { cannotMount, onSmallDisk } from "../upload/faults/small_disk.ts";
import { isLong } from "../support/long_run.ts";
import { needs } from "../support/needs.ts";

/** The number of times that processes take a journal over at the same moment. */
const TAKEOVERS = isLong ? 10 : 1;
/** The number of times that runs of one process take turns, each second time after a run that was killed. */
const ROUNDS = isLong ? 6 : 2;
const journal = ".millrace.journal";
const inTheWay = /\.millrace\.journal is in the way of a run's journal, and none: remove it and run again$/;

/** Starts a run, and gives it when it is at work. */
async function begun(site: string, options: PrecompressOptions): Promise<{ readonly run: Promise<PrecompressReport> }> {
  const { promise: working, resolve } = Promise.withResolvers<void>();
  const run = precompress(site, { ...options, onProgress: () => resolve() });
  await within(working, "the run");
  return { run };
}

test("runs of one process into the same folder take turns, also after a run that was killed", () =>
  inFolder(async (folder) => {
    for (let round = 0; round < ROUNDS; round++) {
      const site = join(folder, `${round}`);
      await writeTree(site, { "a.js": sourceText(20_000, round) });
      if (round % 2 === 1) {
        await writeFile(join(site, journal), '\n{"space":"deadbeef","pid":999999,"copied":false}\n');
        await utimes(join(site, journal), 1, 1);
      }
      const under = await begun(site, { formats: ["gzip"], jobs: 1 });
      const [first, second] = await Promise.all([under.run, precompress(site, { formats: ["zstd"], jobs: 1 })]);
      assert.deepEqual([first.compressed, second.compressed], [["a.js"], ["a.js"]]);
      assert.deepEqual([...first.problems, ...second.problems], []);
      assert.deepEqual(second.removed, ["a.js.gz"], "the second run found what the first one made");
      assert.deepEqual((await readdir(site)).sort(), [manifestName, "a.js", "a.js.zst"]);
      const { variants } = JSON.parse(await readFile(join(site, manifestName), "utf8")).files["a.js"];
      assert.deepEqual(Object.keys(variants), ["zstd"], "the manifest knows all that was made");
    }
  }));

test("runs and cleanings of one process take turns, and a run that waits can be aborted", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    const out = join(folder, "out");
    await writeTree(site, { "a.js": sourceText(20_000, 1) });
    const controller = new AbortController();
    const reason = new Error("enough");
    const options = { out, formats: ["gzip"], jobs: 1 } as const;
    const { run: first } = await begun(site, options);
    const second = precompress(site, { ...options, signal: controller.signal });
    const third = precompress(site, { ...options, minSize: 100_000 });
    const elsewhere = precompress(site, { ...options, out: join(folder, "elsewhere") });
    controller.abort(reason);
    await assert.rejects(second, reason);
    assert.deepEqual((await first).compressed, ["a.js"]);
    assert.deepEqual((await third).removed, ["a.js.gz"]);
    assert.deepEqual((await elsewhere).compressed, ["a.js"]);
    const { run: made } = await begun(site, options);
    assert.deepEqual((await cleanPrecompressed(out)).removed, [manifestName, "a.js", "a.js.gz"]);
    assert.deepEqual((await made).compressed, ["a.js"]);
    assert.deepEqual(await readdir(out), []);
  }));

test("a run that fails leaves its turn and its lock to the next one", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeTree(site, { "a.js": sourceText(20_000, 1) });
    const onProgress = () => {
      throw new Error("a fault in onProgress");
    };
    const runs = await Promise.allSettled([
      precompress(site, { formats: ["gzip"], onProgress }),
      precompress(site, { formats: ["gzip"] }),
    ]);
    assert.equal(runs[1].status, "fulfilled");
    assert.deepEqual((await readdir(site)).sort(), [manifestName, "a.js", "a.js.gz"]);
  }));

test("the end of a run of another process is waited for, with a word or until the run is aborted, and for so long", () =>
  inFolder(async (site) => {
    await writeTree(site, { "a.js": sourceText(20_000, 1) });
    const program = fileURLToPath(new URL("../files/lock_process.ts", import.meta.url));
    const words = process.versions.deno ? ["run", "-A", "--no-check", program] : [program];
    const task = JSON.stringify({ directory: site, id: "h", work: "hold" });
    const holder = spawn(process.execPath, [...words, task], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(holder, "close");
    await within(once(holder.stdout!, "data"), "the process");
    const before = await readdir(site);
    const real = await realpath(site);
    const message = `another run, of process ${holder.pid}, is at work in ${real}: wait for its end, or end it`;
    const asked = { copied: false, toRemove: false, expected: undefined };
    await assert.rejects(Journal.open(new Folder(site), { ...asked, waits: [1, 1] }), { message });
    const controller = new AbortController();
    const reason = new Error("enough");
    const warned = once(process, "warning");
    const aborted = precompress(site, { formats: ["gzip"], signal: controller.signal });
    const [warning] = await within(warned, "a warning");
    assert.equal(warning.message, `process ${holder.pid} is at work in ${real}: its end is waited for`);
    controller.abort(reason);
    await assert.rejects(aborted, reason);
    assert.deepEqual(await readdir(site), before, "nothing was changed");
    const waiting = precompress(site, { formats: ["gzip"] });
    holder.kill("SIGKILL");
    await within(closed, "the end of the process");
    assert.deepEqual((await waiting).compressed, ["a.js"]);
    assert.deepEqual((await readdir(site)).sort(), [manifestName, "a.js", "a.js.gz"]);
  }));

test("lock files are neither compressed nor copied, and are in no one's way", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    const out = join(folder, "out");
    const locks = [
      ".millrace-lock-00000000.1.0.0-01234567",
      ".millrace-lock-00000000.1.0.0-01234567-wanted",
      ".app.log.millrace-lock-00000000.1.0.0-01234567",
    ];
    await writeTree(site, { "a.js": sourceText(20_000, 1), ".b.js": sourceText(20_000, 2) });
    for (const name of locks) {
      await writeTree(site, { [name]: sourceText(20_000, 3), [`below/${name}`]: sourceText(20_000, 3) });
    }
    await writeTree(out, { [locks[1]]: "", [locks[2]]: "" });
    const report = await precompress(site, { out, formats: ["gzip"], dotfiles: true });
    assert.deepEqual([report.compressed.toSorted(), report.problems], [[".b.js", "a.js"], []]);
    const names = (await readdir(out)).filter((name) => !locks.includes(name)).sort();
    assert.deepEqual(names, [".b.js", ".b.js.gz", manifestName, "a.js", "a.js.gz"].sort());
  }));

test(
  "on a full disk what runs wrote can be removed",
  { skip: cannotMount },
  () =>
    inFolder((folder) =>
      onSmallDisk(folder, 1, async (disk) => {
        const site = join(disk, "site");
        await writeTree(site, { "a.js": sourceText(20_000, 1) });
        await precompress(site, { formats: ["gzip"] });
        await writeFile(join(disk, "filler"), new Uint8Array(2 ** 20)).catch(() => {});
        await assert.rejects(writeFile(join(disk, "more"), new Uint8Array(8192)), { code: "ENOSPC" });
        assert.deepEqual(await cleanPrecompressed(site), { removed: [manifestName, "a.js.gz"], problems: [] });
        assert.deepEqual(await readdir(site), ["a.js"]);
      })
    ),
);

test(
  "processes that take a killed run's journal over at the same moment do so one after the other",
  { timeout: 120_000 },
  () =>
    inFolder(async (folder) => {
      for (let round = 0; round < TAKEOVERS; round++) {
        const site = join(folder, `${round}`);
        const names = Array.from({ length: 20 }, (_, i) => `${i}.js`);
        await writeTree(site, Object.fromEntries(names.map((name, i) => [name, sourceText(5000, i)])));
        await writeFile(join(site, journal), '\n{"space":"deadbeef","pid":999999,"copied":false}\n');
        await utimes(join(site, journal), 1, 1);
        const runs = await Promise.all(["gzip", "zstd", "brotli"].map((format) => {
          return millrace(["precompress", site, "--formats", format, "--jobs", "1", "--quiet"]);
        }));
        const { files } = JSON.parse(await readFile(join(site, manifestName), "utf8"));
        const made = (await readdir(site)).filter((name) => /\.(gz|zst|br)$/.test(name)).sort();
        const known = names.flatMap((name) =>
          Object.keys(files[name].variants).map((format) => name + extensions[format as VariantFormat])
        );
        assert.deepEqual(known.sort(), made, "the manifest knows all that was made");
        for (const { status, stderr } of runs) assert.equal(status, 0, stderr);
      }
    }),
);

test("somebody else's file, link or pipe in the place of the journal is named, and stays", {
  skip: needs("links", "mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    const obstacles: Record<string, () => Promise<unknown>> = {
      "a file": () => writeFile(join(site, journal), "my notes"),
      "a link": () => symlink("../notes", join(site, journal)),
      "a link that leads nowhere": () => symlink("nowhere", join(site, journal)),
      "a pipe": () => Promise.resolve(execFileSync("mkfifo", [join(site, journal)])),
    };
    await writeFile(join(folder, "notes"), "my notes");
    for (const [name, put] of Object.entries(obstacles)) {
      await writeTree(site, { "a.js": sourceText(20_000, 1) });
      await put();
      const before = await lstat(join(site, journal));
      await assert.rejects(precompress(site, { formats: ["gzip"] }), inTheWay, name);
      await assert.rejects(cleanPrecompressed(site), inTheWay, name);
      assert.equal((await lstat(join(site, journal))).ino, before.ino, name);
      assert.equal(await readFile(join(folder, "notes"), "utf8"), "my notes", name);
      assert.deepEqual((await readdir(site)).sort(), [journal, "a.js"], name);
      await rm(site, { recursive: true });
    }
  }));

test("a journal whose first line was torn by a kill is a journal", () =>
  inFolder(async (folder) => {
    for (const text of ["", "\n", '\n{"spa', '\n{"space":"00c0ffee","pi', '\n{"co', '\n{"copied":fal']) {
      await writeTree(folder, { "a.js": sourceText(20_000, 1) });
      await writeFile(join(folder, journal), text);
      const { problems } = await precompress(folder, { formats: ["gzip"] });
      assert.deepEqual(problems, []);
      assert.deepEqual((await readdir(folder)).sort(), [manifestName, "a.js", "a.js.gz"]);
    }
  }));

test("a pipe in the place of the manifest is named", { skip: needs("mkfifo") }, () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.js": sourceText(20_000, 1) });
    execFileSync("mkfifo", [join(folder, manifestName)]);
    await assert.rejects(precompress(folder), { name: "TypeError", message: /is not a manifest: remove it/ });
  }));
