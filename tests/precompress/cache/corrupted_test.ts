import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { compressSync, type Format, levels, ready } from "../../../lib/codecs/mod.ts";
import { encoderVersion } from "../../../lib/codecs/internal.ts";
import { keyOf, TRAILER_SIZE, trailerBytes } from "../../../lib/precompress/cache/entry.ts";
import { sha256 } from "../../../lib/precompress/content.ts";
import { runJob } from "../../../lib/precompress/execute.ts";
import type { Job, Outcome } from "../../../lib/precompress/job.ts";
import { concatenated, noise, sourceText } from "../../support/bytes.ts";
import { inFolder } from "../../support/folders.ts";
import { randomNumbers } from "../../support/random_numbers.ts";

const execute = (job: Job, advance: (bytes: number) => void): Promise<Outcome> =>
  new Promise((resolve) => {
    void runJob(job, (message) =>
      "bytes" in message ? advance(message.bytes) : resolve(message), new AbortController().signal);
  });

/** The number of corrupted entries: 1,000 with `MILLRACE_CORRUPTED=1000`. */
const CORRUPTED = Number(process.env.MILLRACE_CORRUPTED ?? 150);
const formats = ["brotli", "zstd", "gzip", "dcb", "dcz"] as const;

/** Returns a job for a file of that content, in a folder of its own. */
async function jobFor(folder: string, content: Uint8Array, job: Partial<Job> & Pick<Job, "format">): Promise<Job> {
  const source = join(folder, "source");
  const temporary = join(folder, "temporary");
  await writeFile(source, content);
  await writeFile(temporary, "");
  const { mtimeMs, size } = await stat(source);
  const made = { path: "source", source, temporary, sha256: sha256(content), size, mtimeMs, mode: 0o644 };
  return { ...made, level: levels[job.format as Format].min, limit: size, keepsAny: true, ...job };
}

/** Returns the entry of a variant, with a trailer that says all that a reader checks before it decodes. */
function entryOf(job: Job, variant: Uint8Array): Buffer {
  return Buffer.concat([variant, trailerBytes({ key: keyOf(job), sha256: sha256(variant), size: variant.length })]);
}

for (const format of formats) {
  test(`none of ${CORRUPTED / formats.length} corrupted entries of ${format} is used, and the one that is whole is`, () =>
    inFolder(async (folder) => {
      await ready();
      const [content, former] = [sourceText(1500, 1), sourceText(1400, 1)];
      const dictionary = join(folder, "dictionary");
      await writeFile(dictionary, former);
      const isDelta = format.startsWith("dc");
      const plain = await jobFor(folder, content, {
        format,
        ...(isDelta && { dictionary, dictionarySha256: sha256(former) }),
      });
      const entry = join(folder, "entry");
      const compress = (bytes: Uint8Array) =>
        compressSync(bytes, { format, level: plain.level, ...(isDelta && { dictionary: former }) });
      const expected = compress(content);
      const whole = entryOf(plain, expected);
      const below = randomNumbers(7);
      const ways: (() => Uint8Array)[] = [
        () => flipped(whole, below(whole.length)),
        () => flipped(whole, whole.length - 1 - below(TRAILER_SIZE)),
        () => whole.subarray(0, below(whole.length)),
        () => Buffer.concat([whole, noise(1 + below(9), 1)]),
        () => Buffer.concat([whole, whole]),
        () => noise(below(2 * whole.length), below(1e6)),
        // All that a trailer says is right, and the variant is not.
        () => entryOf(plain, flipped(expected, below(expected.length))),
        () => entryOf(plain, expected.subarray(0, below(expected.length))),
        () => entryOf(plain, Buffer.concat([expected, noise(1 + below(9), below(1e6))])),
        () => entryOf(plain, compress(flipped(content, below(content.length)))),
        () => entryOf(plain, compress(content.subarray(0, below(content.length)))),
        () => entryOf(plain, compress(concatenated([content, content.subarray(0, 1 + below(9))]))),
        // The entry of another level, another content, another dictionary.
        () => entryOf({ ...plain, level: plain.level + 1 + below(3) }, expected),
        () => entryOf({ ...plain, sha256: sha256(noise(9, below(1e6))) }, expected),
        () => entryOf({ ...plain, dictionarySha256: sha256(noise(9, below(1e6))) }, expected),
      ];
      for (let i = 0; i < CORRUPTED / formats.length; i++) {
        await writeFile(entry, ways[i % ways.length]!());
        await writeFile(plain.temporary, "");
        const outcome = await execute({ ...plain, entry }, () => {});
        const seen = await readFile(plain.temporary);
        assert.deepEqual([outcome.state, outcome.isCached, seen.equals(expected)], ["kept", false, true], `${i}`);
      }
      await writeFile(entry, whole);
      await writeFile(plain.temporary, "");
      const outcome = await execute({ ...plain, entry }, () => {});
      assert.deepEqual([outcome.state, outcome.isCached], ["kept", true]);
      assert.deepEqual(await readFile(plain.temporary), Buffer.from(expected));
      const unworthy = await execute({ ...plain, entry, limit: 10 }, () => {});
      assert.deepEqual([unworthy.state, unworthy.isCached], ["unworthy", true]);
    }));
}

test("the key of an entry says all that the bytes of a variant depend on", () =>
  inFolder(async (folder) => {
    const job = await jobFor(folder, sourceText(1500, 1), { format: "zstd" });
    const others: Partial<Job>[] = [
      { format: "brotli" },
      { level: job.level + 1 },
      { sha256: sha256(new Uint8Array(1)) },
      { size: 1501 },
      { format: "dcz", dictionarySha256: sha256(new Uint8Array(1)) },
      { format: "dcz", dictionarySha256: sha256(new Uint8Array(2)) },
      { format: "dcb", dictionarySha256: sha256(new Uint8Array(2)) },
    ];
    assert.equal(new Set([job, ...others.map((other) => ({ ...job, ...other }))].map(keyOf)).size, others.length + 1);
    const same: Partial<Job>[] = [{ limit: 1 }, { mode: 0o600 }, { mtimeMs: 1 }, { path: "b" }, { keepsAny: false }];
    for (const each of same) assert.equal(keyOf({ ...job, ...each }), keyOf(job));
    const delta = { ...job, dictionarySha256: sha256(new Uint8Array(1)) };
    assert.equal(keyOf({ ...delta, format: "dcz" }), keyOf({ ...delta, format: "site-dcz" }));
    const parts = {
      recipe: 1,
      content: job.sha256,
      size: 1500,
      format: "zstd",
      level: 1,
      dictionary: null,
      streamed: false,
      encoder: encoderVersion("zstd"),
    };
    assert.equal(keyOf(job), sha256(new TextEncoder().encode(JSON.stringify(parts))), "the same on every machine");
  }));

test("of a flipped bit that still decodes to the content, the hash tells", () =>
  inFolder(async (folder) => {
    await ready(["gzip"]);
    const content = sourceText(1500, 1);
    const job = await jobFor(folder, content, { format: "gzip" });
    const variant = compressSync(content, { format: "gzip", level: job.level });
    const entry = join(folder, "entry");
    await writeFile(entry, flipped(entryOf(job, variant), 5)); // in gzip's time of change
    assert.equal((await execute({ ...job, entry }, () => {})).isCached, false);
    assert.equal((await readFile(job.temporary)).equals(variant), true);
  }));

test("an entry of several gzip members, of which browsers decode the first, is not used", () =>
  inFolder(async (folder) => {
    await ready(["gzip"]);
    const content = sourceText(1500, 1);
    const job = await jobFor(folder, content, { format: "gzip" });
    const [empty, first, second, whole] = [[0, 0], [0, 700], [700, 1500], [0, 1500]].map(([start, end]) =>
      compressSync(content.subarray(start, end), { format: "gzip", level: job.level })
    );
    const entry = join(folder, "entry");
    for (const members of [[empty!, whole!], [first!, second!], [whole!, empty!]]) {
      await writeFile(entry, entryOf(job, Buffer.concat(members)));
      await writeFile(job.temporary, "");
      assert.equal((await execute({ ...job, entry }, () => {})).isCached, false);
      assert.deepEqual(await readFile(job.temporary), Buffer.from(whole!));
    }
  }));

test("an entry of a small file that is itself large, or unfolds to much, is not read or unfolded", () =>
  inFolder(async (folder) => {
    await ready(["zstd"]);
    const job = await jobFor(folder, sourceText(1500, 1), { format: "zstd" });
    const entry = join(folder, "entry");
    for (
      const variant of [new Uint8Array(1 << 24), compressSync(new Uint8Array(1 << 27), { format: "zstd", level: 1 })]
    ) {
      await writeFile(entry, entryOf(job, variant));
      await writeFile(job.temporary, "");
      assert.equal((await execute({ ...job, entry }, () => {})).isCached, false);
    }
    assert.equal((await execute({ ...job, entry: folder }, () => {})).isCached, false, "a folder");
    assert.equal((await execute({ ...job, entry: join(folder, "gone") }, () => {})).isCached, false);
  }));

test("a file above 16 MiB is taken from its entry, and not from one that is corrupted", () =>
  inFolder(async (folder) => {
    const text = sourceText(1_000_000, 4);
    const content = concatenated(Array.from({ length: 17 }, () => text));
    const job = await jobFor(folder, content, { format: "zstd", limit: 1000 });
    const made = await execute(job, () => {});
    assert.ok(made.state === "unworthy" && made.size! > 1000, "it is complete all the same");
    const variant = await readFile(job.temporary);
    const entry = join(folder, "entry");
    await writeFile(entry, entryOf(job, variant));
    const taken = await execute({ ...job, entry }, () => {});
    assert.deepEqual([taken.state, taken.isCached], ["unworthy", true]);
    await writeFile(job.temporary, "");
    const kept = await execute({ ...job, entry, limit: content.length }, () => {});
    assert.deepEqual([kept.state, kept.isCached], ["kept", true]);
    assert.ok((await readFile(job.temporary)).equals(variant));
    const half = compressSync(content.subarray(1 << 20), { format: "zstd", level: 1 });
    const others = [
      flipped(entryOf(job, variant), 1000),
      entryOf(job, flipped(variant, variant.length >> 1)),
      entryOf(job, variant).subarray(1),
      entryOf(job, half),
    ];
    for (const other of others) {
      await writeFile(entry, other);
      assert.equal((await execute({ ...job, entry, keepsAny: false }, () => {})).isCached, false);
    }
  }));

function flipped(bytes: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes);
  copy[at]! ^= 0x10;
  return copy;
}
