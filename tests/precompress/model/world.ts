import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isTemporaryName } from "../../../lib/files/mod.ts";
import {
  cleanPrecompressed,
  manifestName,
  precompress,
  type PrecompressOptions,
  type PrecompressReport,
} from "../../../lib/precompress/mod.ts";
import { journalName } from "../../../lib/precompress/manifest.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { codecsReady, contents } from "./contents.ts";
import { edit, loseManifest, oneOf, type Random } from "./edits.ts";
import { type Expectation, expectationOf, type RunOptions } from "./expectation.ts";
import { areSame, type Entry, entryAt, type Snapshot, snapshotOf } from "./snapshot.ts";

const isDeno = "deno" in process.versions;
const runner = fileURLToPath(new URL("run_once.ts", import.meta.url));

/** The errors of refused runs, which the model predicts. */
const REFUSALS =
  /there are no files in|is to be compressed by include|holds files that no run put there|is not a manifest/;

/**
 * A site, a folder for its copy, a previous deploy and a folder elsewhere that links lead to; with a record of all that
 * its user made. Whatever else is there, runs made.
 */
export class World {
  readonly log: string[] = [];
  readonly #folder: string;
  readonly #random: Random;
  #theirs: Snapshot;
  #now: Snapshot;
  readonly #previous: Snapshot;
  /** The hashes of files that runs wrote and may still recognize as their own, by place. */
  readonly #written = new Map<string, Set<string>>();
  #child: ChildProcess | undefined;

  private constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#random = randomNumbers(seed);
    for (let i = 0; i < 5; i++) this.#random(2); // neighbouring seeds begin alike
    this.#now = snapshotOf(folder);
    this.#theirs = new Map(this.#now);
    this.#previous = new Map(this.#now);
  }

  /** Makes a world below `folder`. */
  static async make(folder: string, seed: number): Promise<World> {
    await codecsReady;
    const root = join(folder, `world-${seed}`);
    const files = {
      "else/o.js": 15,
      "else/sub/p.js": 16,
      "previous/a.js": 17,
      "previous/d/c.html": 18,
      "site/a.js": 19,
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), contents[content]!);
    }
    return new World(root, seed);
  }

  end(): void {
    this.#child?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Makes a random change or run, and checks the result. */
  async step(): Promise<void> {
    const random = this.#random;
    const chance = random(100);
    if (chance < 62) return this.#edit();
    if (chance < 82) return await this.#run(false);
    if (chance < 86) return await this.#run(true);
    if (chance < 89) return await this.#clean();
    if (chance < 93) return await this.#kill();
    if (chance < 96) return await this.#abort();
    return this.#loseManifest();
  }

  #edit(): void {
    this.log.push(edit(this.#folder, [...this.#now.keys()], this.#random));
    const after = snapshotOf(this.#folder);
    const putBack: string[] = [];
    for (const [path, entry] of after) {
      const before = this.#now.get(path);
      // The owner of a file is known from its bytes, not from its permissions.
      const isOurs = !this.#theirs.has(path) && entry.kind === "file" && before?.kind === "file" &&
        before.hash === entry.hash;
      if (isOurs || areSame(entry, before)) continue;
      this.#theirs.set(path, entry);
      if (entry.kind === "file" && this.#written.get(path)?.has(entry.hash)) putBack.push(path);
    }
    for (const path of this.#now.keys()) if (!after.has(path)) this.#theirs.delete(path);
    this.#now = after;
    // A run wrote that there once: its owner is unknown.
    for (const path of putBack) this.#putOther(path);
  }

  /** Breaks or removes a manifest: nothing can prove any more that a run wrote the files in it. */
  #loseManifest(): void {
    const area = oneOf(["site", "out"], this.#random);
    if (this.#random(3) === 0 && existsSync(join(this.#folder, area, manifestName))) {
      this.log.push(`break the manifest of ${area}`);
      writeFileSync(join(this.#folder, area, manifestName), "{");
      return;
    }
    this.log.push(`lose the manifest of ${area}`);
    loseManifest(this.#folder, area);
    this.#disown(area);
  }

  #disown(area: string): void {
    for (const [path, entry] of this.#now) {
      if (path.startsWith(`${area}/`) || (area === "site" && path.startsWith("else/"))) this.#theirs.set(path, entry);
    }
    for (const path of this.#written.keys()) if (path.startsWith(`${area}/`)) this.#written.delete(path);
  }

  async #run(dryRun: boolean): Promise<void> {
    const options = this.#runOptions();
    this.log.push(`${dryRun ? "dry run" : "run"} ${JSON.stringify(options)}`);
    const expectation = expectationOf(this.#folder, this.#theirs, options, this.#previous);
    const hadCopies = this.#isCopy();
    let report: PrecompressReport;
    try {
      report = await precompress(join(this.#folder, "site"), { ...this.#optionsOf(options), dryRun });
    } catch (error) {
      this.#afterRefusal(error as Error, options, expectation, hadCopies);
      return;
    }
    this.#afterTool(dryRun ? undefined : options, expectation);
    if (!dryRun) this.#checkOutcome(report, options, expectation);
  }

  #afterRefusal(error: Error, { copies, force }: RunOptions, expectation: Expectation, hadCopies: boolean): void {
    assert.match(error.message, REFUSALS);
    this.log.push(`  ${error.message}`);
    this.#afterTool(undefined, expectation);
    if (/no files/.test(error.message)) assert.ok(expectation.isEmpty);
    if (/include/.test(error.message)) assert.ok(expectation.matchesNothing);
    if (/no run put there/.test(error.message)) assert.ok(copies && !force && !hadCopies);
    const [, area] = /(site|out)\/\.millrace\.json is not a manifest/.exec(error.message) ?? [];
    if (area === undefined) return;
    loseManifest(this.#folder, area);
    this.#disown(area);
  }

  #isCopy(): boolean {
    return [manifestName, journalName].some((name) => existsSync(join(this.#folder, "out", name)));
  }

  async #clean(): Promise<void> {
    const area = oneOf(["site", "out"], this.#random);
    this.log.push(`clean ${area}`);
    if (!existsSync(join(this.#folder, area))) return;
    const hadFollowed = [...this.#now.keys()].some((path) => path.startsWith("else/") && !this.#theirs.has(path));
    let problems: readonly { readonly path: string }[];
    try {
      ({ problems } = await cleanPrecompressed(join(this.#folder, area), { followLinks: hadFollowed }));
    } catch (error) {
      assert.match((error as Error).message, REFUSALS);
      loseManifest(this.#folder, area);
      this.#disown(area);
      return;
    }
    this.#afterTool(undefined, undefined, true);
    for (const [path, entry] of this.#now) {
      if (!path.startsWith(`${area}/`) || entry.kind === "folder" || this.#theirs.has(path)) continue;
      assert.ok(problems.length > 0, `${path} is left after cleaning`);
    }
    assert.ok(!existsSync(join(this.#folder, area, manifestName)));
    assert.ok(!existsSync(join(this.#folder, area, journalName)));
    this.#disown(area);
  }

  async #abort(): Promise<void> {
    const options = this.#runOptions();
    const ms = this.#random(200);
    this.log.push(`abort after ${ms} ms ${JSON.stringify(options)}`);
    const signal = AbortSignal.timeout(ms);
    const expectation = expectationOf(this.#folder, this.#theirs, options, this.#previous);
    const hadCopies = this.#isCopy();
    try {
      await precompress(join(this.#folder, "site"), { ...this.#optionsOf(options), signal });
    } catch (error) {
      if (!signal.aborted) return this.#afterRefusal(error as Error, options, expectation, hadCopies);
    }
    this.#afterInterruption(options, expectation);
  }

  /** Kills a run in a process of its own. */
  async #kill(): Promise<void> {
    const options = this.#runOptions();
    const ms = this.#random(150);
    this.log.push(`kill after ${ms} ms ${JSON.stringify(options)}`);
    const expectation = expectationOf(this.#folder, this.#theirs, options, this.#previous);
    const child = this.#child ?? spawnRunner();
    await told(child, "ready");
    const words = { directory: join(this.#folder, "site"), options: this.#optionsOf(options) };
    child.stdin!.write(`${JSON.stringify(words)}\n`);
    await pause(ms);
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await closed;
    this.#child = spawnRunner(); // it starts meanwhile
    this.#afterInterruption(options, expectation);
  }

  /** Checks the world after a killed run, and overwrites files with equal bytes, whose owner is unknown. */
  #afterInterruption(options: RunOptions, expectation: Expectation): void {
    const takenOver = [...this.#theirs].filter(([path, entry]) => {
      const expected = expectation.files.get(path);
      return entry.kind === "file" && entry.hash === expected?.hash && !expectation.ready.has(path);
    });
    if (options.force) this.#takeCopiesAsExpected(expectation);
    this.#afterTool(options, expectation);
    for (const [path] of takenOver) this.#putOther(path);
  }

  /** Expects copies of the user's own variants at the places where `--force` copies them. */
  #takeCopiesAsExpected(expectation: Expectation): void {
    const after = snapshotOf(this.#folder);
    for (const path of this.#theirs.keys()) {
      const now = after.get(path);
      const original = path.startsWith("out/") ? after.get(`site/${path.slice("out/".length)}`) : undefined;
      const isCopy = now?.kind === "file" && original?.kind === "file" && now.hash === original.hash;
      if (isCopy && expectation.files.has(path)) expectation.files.set(path, now);
    }
  }

  #putOther(path: string): void {
    this.log.push(`  other bytes in ${path}`);
    const full = join(this.#folder, path);
    writeFileSync(full, `other ${this.log.length}`);
    this.#now.set(path, entryAt(full));
    this.#theirs.set(path, entryAt(full));
  }

  /** Requires that no byte of the user has changed, except where `--force` allows it. */
  #afterTool(options: RunOptions | undefined, expectation: Expectation | undefined, mayRemove = false): void {
    const after = snapshotOf(this.#folder);
    for (const [path, entry] of this.#theirs) {
      const now = after.get(path);
      if (areSame(entry, now)) continue;
      const expected = options && expectation?.files.get(path);
      const isReplaced = expected !== undefined && areSame(expected, now);
      // The very bytes that a run makes count as its own.
      const isTaken = isReplaced && (options!.force || (entry.kind === "file" && entry.hash === expected.hash));
      // A folder in a copy goes with what is in it if the run removed the last file itself.
      const isEmptied = entry.kind === "folder" && now === undefined && path.startsWith("out/") &&
        this.#heldRunsAlone(path);
      assert.ok(isTaken || isEmptied, `${path} was ${JSON.stringify(entry)} and is ${JSON.stringify(now)}`);
      this.#theirs.delete(path);
    }
    if (!options && !mayRemove) {
      assert.deepEqual([...after.keys()].sort(), [...this.#now.keys()].sort(), "nothing is to be written");
      for (const [path, entry] of after) assert.ok(areSame(entry, this.#now.get(path)), path);
    }
    this.#now = after;
    for (const [path, entry] of after) {
      if (entry.kind !== "file" || this.#theirs.has(path)) continue;
      const known = this.#written.get(path);
      if (known) known.add(entry.hash);
      else this.#written.set(path, new Set([entry.hash]));
    }
  }

  /** Whether runs made all files below a folder, and each folder below it held such a file. */
  #heldRunsAlone(folder: string): boolean {
    const below = [...this.#now].filter(([path]) => path.startsWith(`${folder}/`));
    const isOurs = ([path, { kind }]: [string, Entry]): boolean => kind !== "folder" && !this.#theirs.has(path);
    return below.some(isOurs) && below.every(([path, entry]) => {
      return entry.kind === "folder" ? this.#heldRunsAlone(path) : isOurs([path, entry]);
    });
  }

  /** Requires the output of a first run over the user's files, or a problem that names the obstacle. */
  #checkOutcome(
    report: PrecompressReport,
    options: RunOptions,
    { files, ready, mayBeMade, told, mayBeTold, badLinks }: Expectation,
  ): void {
    const problems = new Set(report.problems.map(({ path }) => path));
    const area = options.copies ? "out" : "site";
    for (const [path, expected] of files) {
      const there = this.#now.get(path);
      assert.ok(
        areSame(expected, there),
        `${path} should be ${JSON.stringify(expected)} and is ${JSON.stringify(there)}`,
      );
      if (!ready.has(path)) this.#theirs.delete(path);
    }
    for (const path of told) assert.ok(problems.has(path), `a problem names ${path}: ${[...problems]}`);
    for (const { path, message } of report.problems) {
      const isTheirs = [...this.#theirs.keys()].some((each) => `${area}/${path}`.startsWith(each));
      assert.ok(told.has(path) || mayBeTold.has(path) || isTheirs, `${path}: ${message}`);
    }
    for (const [path, { kind }] of this.#now) {
      if (kind === "folder" || this.#theirs.has(path) || files.has(path)) continue;
      const isReached = path.startsWith(`${area}/`) ||
        options.followLinks && !options.copies && path.startsWith("else/");
      if (!isReached) continue;
      const isBehindLink = badLinks.some((link) => path.startsWith(`${area}/${link}`));
      assert.ok(isBehindLink || mayBeMade.has(path), `${path} is left: ${JSON.stringify(report.problems)}`);
    }
    for (const path of this.#written.keys()) {
      if (!path.startsWith(`${area}/`) || problems.has(path.slice(area.length + 1))) continue;
      if (!this.#now.has(path) || this.#theirs.has(path)) this.#written.delete(path);
    }
    assert.ok(!existsSync(join(this.#folder, area, journalName)));
    assert.deepEqual(temporariesIn(join(this.#folder, area)), [], "temporary files");
    checkCounts(report);
  }

  #runOptions(): RunOptions {
    const random = this.#random;
    const formats = oneOf(
      [["brotli", "zstd", "gzip"], ["brotli", "zstd", "gzip"], ["gzip"], ["brotli", "zstd"]] as const,
      random,
    );
    const level = oneOf([1, 1, 1, 2], random);
    return {
      formats,
      levels: { brotli: 4 + level, zstd: level, gzip: level },
      minSize: oneOf([1024, 1024, 0, 1500], random),
      minSaving: oneOf([0.05, 0.05, 0, 0.6, 0.9], random),
      scriptsOnly: random(10) === 0,
      dotfiles: random(8) === 0,
      followLinks: random(8) === 0 && !leadsToCopies(this.#folder),
      force: random(10) === 0,
      previous: random(3) === 0 && formats.length > 1,
      copies: random(3) === 0,
    };
  }

  #optionsOf({ scriptsOnly, previous, copies, ...options }: RunOptions): PrecompressOptions {
    return {
      ...options,
      jobs: 1,
      ...(scriptsOnly && { include: ["**/*.js"] }),
      ...(previous && { previous: join(this.#folder, "previous") }),
      ...(copies && { out: join(this.#folder, "out") }),
    };
  }
}

/** Each file is compressed, unchanged, left alone, or has a problem. */
function checkCounts({ files, compressed, unchanged, skipped, problems }: PrecompressReport): void {
  const counted = compressed.length + unchanged + skipped;
  assert.ok(counted === files || (counted < files && problems.length > 0), `${counted} of ${files} files`);
}

/** Whether a link leads to the copies, or to a folder around them: a run that follows it out of the site writes there. */
function leadsToCopies(folder: string): boolean {
  const copies = join(realpathSync(folder), "out");
  return [...snapshotOf(folder)].some(([path, { kind }]) => {
    if (kind !== "link") return false;
    try {
      const target = realpathSync(join(folder, path));
      return `${copies}/`.startsWith(`${target}/`) || target.startsWith(`${copies}/`);
    } catch {
      return false; // it leads nowhere
    }
  });
}

function temporariesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => isTemporaryName(name));
}

function spawnRunner(): ChildProcess {
  const words = [...(isDeno ? ["run", "-A", "--no-check"] : []), runner];
  return spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
}

/** Waits until a process has said `word`. */
function told(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("close", () => reject(new Error("the process ended")));
    child.stdout!.on("data", (chunk) => String(chunk).includes(word) && resolve());
  });
}
