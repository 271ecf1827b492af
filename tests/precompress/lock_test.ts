import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { processSpace } from "../../lib/files/internal.ts";
import {
  cleanPrecompressed,
  extensions,
  manifestName,
  precompress,
  type VariantFormat,
} from "../../lib/precompress/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { isLong } from "../support/long_run.ts";

/** How often processes take a journal over at the same moment. */
const TAKEOVERS = isLong ? 10 : 2;
const journal = ".millrace.journal";
const inTheWay = /\.millrace\.journal is in the way of a run's journal, and none: remove it and run again$/;

test("of two runs at a time one is refused, also after a run that was killed", () =>
  inFolder(async (folder) => {
    for (let round = 0; round < 6; round++) {
      const site = join(folder, `${round}`);
      await writeTree(site, { "a.js": sourceText(20_000, round) });
      if (round % 2 === 1) {
        await writeFile(join(site, journal), '\n{"space":"deadbeef","pid":999999,"copied":false}\n');
        await utimes(join(site, journal), 1, 1);
      }
      const runs = await Promise.allSettled([
        precompress(site, { formats: ["gzip"], jobs: 1 }),
        precompress(site, { formats: ["zstd"], jobs: 1 }),
      ]);
      const done = runs.filter(({ status }) => status === "fulfilled").length;
      const made = (await readdir(site)).filter((name) => /\.(gz|zst)$/.test(name));
      const { variants } = JSON.parse(await readFile(join(site, manifestName), "utf8")).files["a.js"];
      assert.equal(made.length, Object.keys(variants).length, "the manifest knows all that was made");
      assert.ok(done >= 1);
      for (const run of runs) {
        if (run.status === "rejected") assert.match(run.reason.message, /another run (is at work in|changed) /);
      }
    }
  }));

test(
  "of processes that take a killed run's journal over at the same moment, one does",
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
          return millrace(["precompress", site, "--formats", format, "--quiet"]);
        }));
        const { files } = JSON.parse(await readFile(join(site, manifestName), "utf8"));
        const made = (await readdir(site)).filter((name) => /\.(gz|zst|br)$/.test(name)).sort();
        const known = names.flatMap((name) =>
          Object.keys(files[name].variants).map((format) => name + extensions[format as VariantFormat])
        );
        assert.deepEqual(known.sort(), made, "the manifest knows all that was made");
        assert.ok(runs.some(({ status }) => status === 0));
        for (const { status, stderr } of runs) {
          if (status !== 0) assert.match(stderr, /another run (is at work in|changed) /);
        }
      }
    }),
);

test("of runs that found the same journal, the first goes on, and holds it although the last is gone", () =>
  inFolder(async (site) => {
    await writeTree(site, { "a.js": sourceText(20_000, 1) });
    const owner = (pid: number, after: number) => `\n{"space":"${processSpace()}","pid":${pid},"after":${after}}\n`;
    await writeFile(join(site, journal), owner(1, 0) + owner(999_999, 0));
    await assert.rejects(precompress(site, { formats: ["gzip"] }), /another run is at work in/);
    await writeFile(join(site, journal), owner(1, 0) + owner(999_999, 30));
    assert.equal((await precompress(site, { formats: ["gzip"] })).compressed.length, 1);
  }));

test("somebody else's file, link or pipe in the place of the journal is named, and stays", () =>
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
    for (const text of ["", "\n", '\n{"spa', '\n{"space":"00c0ffee","pi']) {
      await writeTree(folder, { "a.js": sourceText(20_000, 1) });
      await writeFile(join(folder, journal), text);
      const { problems } = await precompress(folder, { formats: ["gzip"] });
      assert.deepEqual(problems, []);
      assert.deepEqual((await readdir(folder)).sort(), [manifestName, "a.js", "a.js.gz"]);
    }
  }));

test("a pipe in the place of the manifest is named", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.js": sourceText(20_000, 1) });
    execFileSync("mkfifo", [join(folder, manifestName)]);
    await assert.rejects(precompress(folder), { name: "TypeError", message: /is not a manifest: remove it/ });
  }));
