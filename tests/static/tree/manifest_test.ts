import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { manifestName, precompress } from "../../../lib/precompress/mod.ts";
import { readManifestLines } from "../../../lib/static/scan/manifest_records.ts";
import { readVerified } from "../../../lib/static/scan/file_content.ts";
import { TurnSlicer } from "../../../lib/timers/mod.ts";
import { inFolder, writeTree } from "../../support/folders.ts";
import { madeOnce } from "../../support/made_once.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import { all, codingsOf, filesAge, putManifest, scanned, variantsOf } from "./scanned.ts";
import { tries } from "../../support/long_run.ts";
import { needs } from "../../support/needs.ts";

const LEVELS = { brotli: 2, zstd: 1, gzip: 1 };
const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("base64");
const app = new TextDecoder().decode(sourceText(9000, 1));

const writeSite = madeOnce(async (folder) => {
  await writeTree(folder, { "app.js": app, "index.html": "<p>The mill turns.</p>\n".repeat(200), "small.txt": "s" });
  await precompress(folder, { jobs: 1, levels: LEVELS });
});

/** A folder with a script and a page, precompressed. */
function inSite(use: (folder: string) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    await writeSite(folder);
    await use(folder);
  });
}

/** Rewrites the manifest of `folder` with the change. */
async function rewriteManifest(folder: string, change: (files: Record<string, AnyRecord>) => void): Promise<void> {
  const lines = (await readFile(join(folder, manifestName), "utf8")).split("\n").map((line) => {
    if (!line.startsWith('"')) return line;
    const files = JSON.parse(`{${line.replace(/,$/, "")}}`);
    change(files);
    return `${JSON.stringify(files).slice(1, -1)}${line.endsWith(",") ? "," : ""}`;
  });
  await putManifest(folder, lines.join("\n"));
}

interface AnyRecord {
  size: number;
  sha256: string;
  unread?: boolean;
  variants: Record<string, { state: string; size: number; sha256: string }>;
}

test("files that the manifest vouches for are not read", () =>
  inSite(async (folder) => {
    await filesAge();
    await rewriteManifest(folder, (files) => {
      for (const record of Object.values(files)) record.sha256 = "ab".repeat(32);
      if (files["small.txt"]) files["small.txt"].unread = true;
    });
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(warnings, []);
    assert.equal(files.size, 3);
    for (const [path, { identity }] of files) {
      const recorded = Buffer.from("ab".repeat(32), "hex").toString("base64");
      assert.equal(identity.sha256, path === "small.txt" ? sha256("s") : recorded);
      assert.equal(identity.mtimeMs, (await stat(identity.file)).mtimeMs);
    }
    assert.deepEqual(codingsOf(files.get("app.js")), ["identity", "br", "zstd", "gzip"]);
  }));

/** The files to change, which are too large to be compared before each response. */
const tricked = ["a.txt", "sub/b.txt", "v1/c.txt", "v2/c.txt"];
const hex = (seed: number): string => Buffer.from(noise(70_000, seed)).toString("hex");

/** A change of the folder `at`, behind the back of the last run there; returns the folder to go on with. */
type Trick = (at: string) => Promise<string>;

/** Writes or replaces a file, with the size and the time that it had, or others. */
const edit = (path: string, seed: number, isLonger: boolean, isAnew: boolean, time: "kept" | "now" | "old"): Trick => {
  return async (at) => {
    const file = join(at, path);
    const { mtimeMs } = await stat(file);
    if (isAnew) await rm(file);
    await writeFile(file, hex(seed) + (isLonger ? "0" : ""));
    const seconds = time === "old" ? 1e9 : mtimeMs / 1000;
    if (time !== "now") await utimes(file, seconds, seconds);
    return at;
  };
};

/** Copies the folder, as `cp -r`, `cp -p` or `rsync -t` do, its files in any order. */
const copy = (keepsTimes: boolean, order: number): Trick => async (at) => {
  const to = `${at}+`;
  await mkdir(to);
  const entries = await readdir(at, { withFileTypes: true });
  for (const { name } of [...entries.slice(order % entries.length), ...entries.slice(0, order % entries.length)]) {
    await cp(join(at, name), join(to, name), {
      recursive: true,
      preserveTimestamps: keepsTimes,
      verbatimSymlinks: true,
    });
    await setTimeout(12); // a tick of the clock that gives files their times
  }
  return to;
};

const relink = (target: string): Trick => async (at) => {
  await rm(join(at, "current"));
  await symlink(target, join(at, "current"));
  return at;
};

const swapFolders: Trick = async (at) => {
  for (const [from, to] of [["v1", "v"], ["v2", "v1"], ["v", "v2"]] as const) {
    await rename(join(at, from), join(at, to));
  }
  return at;
};

/** Changes an entry of a folder, whose two times are then the same. */
const addEntry: Trick = (at) => writeFile(join(at, "v1", "new.txt"), "new").then(() => at);

/** Gives the manifest a later ctime, as if all changes so far had been made during the run. */
const touchManifest: Trick = (at) => chmod(join(at, manifestName), 0o644).then(() => at);

const trick: fc.Arbitrary<Trick> = fc.oneof(
  fc.tuple(
    fc.constantFrom(...tricked),
    fc.nat(9),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom("kept" as const, "now" as const, "old" as const),
  ).map((all) => edit(...all)),
  fc.tuple(fc.boolean(), fc.nat(9)).map((all) => copy(...all)),
  fc.constantFrom("v1", "v2").map(relink),
  fc.constantFrom(touchManifest, swapFolders, addEntry),
  fc.constant((at: string) => precompress(at, { minSize: 1e9 }).then(() => at)),
);

/** A change of each kind that an earlier rule did not see, after which a file has its size and time of before. */
const unseen = edit("v2/c.txt", 1, false, true, "kept");
const known: [Trick[]][] = [
  [[unseen, touchManifest]],
  ...[0, 1, 2, 3, 4].flatMap((order) => [true, false].map((keeps): [Trick[]] => [[unseen, copy(keeps, order)]])),
  [[relink("v2")]],
  [[swapFolders, addEntry]],
];

test(
  "whatever was changed, with whatever times, in the folder or a copy of it, no file counts as recorded that is not",
  { skip: needs("links") },
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(trick, { minLength: 1, maxLength: 5 }), (tricks) =>
        inFolder(async (outer) => {
          let folder = join(outer, "site");
          await writeTree(folder, Object.fromEntries(tricked.map((path, i) => [path, hex(10 + i)])));
          await symlink("v1", join(folder, "current"));
          await precompress(folder, { minSize: 1e9 }); // makes no variant
          for (const each of tricks) folder = await each(folder);
          const { files } = await scanned(folder);
          for (const [path, { identity }] of files) {
            assert.equal(identity.sha256, sha256(await readFile(join(folder, path))), path);
          }
        })),
      { numRuns: known.length + tries(60), examples: known },
    ),
);

test("files younger than the manifest are read, and keep their variants if they are what it says", () =>
  inSite(async (folder) => {
    for (const path of ["app.js", "index.html"]) {
      await writeFile(join(folder, path), await readFile(join(folder, path)));
    }
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(warnings, []);
    for (const path of ["app.js", "index.html"]) {
      const file = files.get(path)!;
      assert.deepEqual(codingsOf(file), ["identity", "br", "zstd", "gzip"]);
      for (const each of all(file)) assert.equal(each.sha256, sha256(await readFile(each.file)));
    }
  }));

test("the manifest is read line by line as precompress writes it", () =>
  inSite(async (folder) => {
    const path = join(folder, manifestName);
    const records: Record<string, unknown> = {};
    assert.equal(await readManifestLines(path, (path, record) => records[path] = record, new TurnSlicer()), true);
    assert.deepEqual(records, JSON.parse(await readFile(path, "utf8")).files);
    await writeFile(path, JSON.stringify({ version: 1, copied: false, files: records }));
    assert.equal(await readManifestLines(path, () => {}, new TurnSlicer()), false);
  }));

test("the manifest is read in any form that JSON has", () =>
  inSite(async (folder) => {
    const path = join(folder, manifestName);
    const manifest = JSON.parse(await readFile(path, "utf8"));
    const expected = await scanned(folder);
    for (
      const text of [JSON.stringify(manifest), JSON.stringify(manifest, null, 2), JSON.stringify(manifest, null, "\t")]
    ) {
      await writeFile(path, text);
      assert.deepEqual(await scanned(folder), expected);
    }
  }));

for (const [change, write] of [["the same size", app.replace(/.$/s, "X")], ["another size", `${app}// more`]]) {
  test(`variants of a file that was changed to ${change} are left out, whatever its time`, () =>
    inSite(async (folder) => {
      const path = join(folder, "app.js");
      const { mtimeMs } = await stat(path);
      await writeFile(path, write);
      await utimes(path, mtimeMs / 1000, mtimeMs / 1000);
      const { files, warnings } = await scanned(folder);
      assert.equal(files.get("app.js")!.identity.sha256, sha256(write));
      assert.deepEqual(codingsOf(files.get("app.js")), ["identity"]);
      const named = warnings.map((warning) => warning.split(":")[0]).sort();
      assert.deepEqual(named, ["app.js", "app.js.br", "app.js.gz", "app.js.zst"]);
    }));
}

test("variants that another tool made after the file was changed are used", () =>
  inSite(async (folder) => {
    await writeFile(join(folder, "app.js"), `${app}// more`);
    const made = await variantsOf(`${app}// more`);
    for (const [extension, bytes] of Object.entries(made)) await writeFile(join(folder, `app.js${extension}`), bytes);
    const { files } = await scanned(folder);
    assert.deepEqual(files.get("app.js")!.variants.map((each) => each.sha256), Object.values(made).map(sha256));
  }));

test("a small variant that is not what the manifest says is found out when it is read, a large one by the scan", () =>
  inFolder(async (folder) => {
    const text = noise(90_000, 1).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");
    await writeTree(folder, { "large.txt": text, "app.js": app });
    await precompress(folder, { jobs: 1, levels: LEVELS, formats: ["brotli", "gzip"] });
    for (const path of ["app.js.br", "large.txt.br"]) await truncate(join(folder, path), 100);
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(warnings, [
      "large.txt.br: this variant is left out: it is not what precompress wrote; run it again",
    ]);
    const [brotli, gzip] = files.get("app.js")!.variants;
    assert.equal(readVerified(brotli), undefined);
    assert.equal(sha256(readVerified(gzip)!), gzip.sha256);
  }));

test("the dictionary of a delta is the one that the manifest names", () =>
  inFolder(async (outer) => {
    const [former, folder] = [join(outer, "former"), join(outer, "now")];
    await writeTree(outer, { "former/app.js": app, "now/app.js": app.replace("a", "b") });
    await precompress(folder, { previous: former, levels: { ...LEVELS, brotli: 9 } });
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(warnings, []);
    const { deltas } = files.get("app.js")!;
    assert.deepEqual(deltas.map(({ coding, dictionary }) => [coding, dictionary]), [["dcb", sha256(app)], [
      "dcz",
      sha256(app),
    ]]);
    for (const delta of deltas) assert.equal(sha256(readVerified(delta)!), delta.sha256);
  }));

const noManifest: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "is empty": (path) => writeFile(path, ""),
  "is cut short": (path) => truncate(path, 700),
  "has more after its end": (path) => appendFile(path, "}"),
  "is not UTF-8": (path) => writeFile(path, new Uint8Array([0xff, 0xfe, 0x7b])),
  "is of another version": (path) => writeFile(path, '{"version": 2, "copied": false, "files": {\n}}\n'),
  "is null": (path) => writeFile(path, "null"),
  "has a list for files": (path) => writeFile(path, '{"version": 1, "files": null}'),
  "names a file above the folder": (path) => writeFile(path, '{"version": 1, "files": {"../x": {}}}'),
  "is a folder": async (path) => (await rm(path), await mkdir(path)),
};
for (const [state, spoil] of Object.entries(noManifest)) {
  test(`a manifest that ${state} is not used, and warned of`, () =>
    inSite(async (folder) => {
      await spoil(join(folder, manifestName));
      const { files, warnings } = await scanned(folder);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], /^\.millrace\.json: it is not used/);
      assert.equal(files.get("app.js")!.identity.sha256, sha256(app));
      assert.deepEqual(codingsOf(files.get("app.js")), ["identity", "br", "zstd", "gzip"]);
    }));
}

test(
  "a manifest that is a pipe or a link is not read",
  { skip: needs("links", "mkfifo") },
  () =>
    inSite(async (folder) => {
      const path = join(folder, manifestName);
      for (const make of [() => Promise.resolve(spawnSync("mkfifo", [path])), () => symlink("/dev/zero", path)]) {
        await rm(path);
        await make();
        const { warnings } = await scanned(folder);
        assert.deepEqual(warnings, [
          ".millrace.json: it is not used, so that every file is read: it is not a regular file",
        ]);
      }
    }),
);

test("files may be called as what every object has", () =>
  inFolder(async (folder) => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    await writeTree(folder, Object.fromEntries(names.map((name) => [name, app])));
    for (const manifest of ['{"version": 1, "files": {}}', `{"version": 1, "files": {"__proto__": {"size": 1}}}`]) {
      await writeFile(join(folder, manifestName), manifest);
      const { files, warnings } = await scanned(folder);
      assert.deepEqual([[...files.keys()].sort(), warnings], [[...names].sort(), []]);
    }
    await rm(join(folder, manifestName));
    await precompress(folder, { jobs: 1, levels: LEVELS, include: ["**"] });
    const { files } = await scanned(folder);
    for (const name of names) assert.equal(files.get(name)!.identity.sha256, sha256(app), name);
  }));

/** Values that a record has no use for. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    -1,
    1e300,
    2 ** 53,
    0.5,
    "",
    "0",
    "../../etc/passwd",
    "f".repeat(64),
    "F".repeat(64),
    "g".repeat(64),
    null,
  ),
);

test(
  "whatever is in the manifest, a file in doubt is what it is",
  { timeout: 120_000 },
  () =>
    inSite(async (folder) => {
      const path = join(folder, manifestName);
      const text = await readFile(path, "utf8");
      const expected = await scanned(folder);
      const places = fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(places, fc.boolean(), async (changes, isPretty) => {
          const manifest = changes.reduce(
            (manifest, [place, value]) => withValue(manifest, place, value),
            JSON.parse(text),
          );
          await writeFile(path, JSON.stringify(manifest, null, isPretty ? 2 : 0));
          await utimes(path, 0, 0); // it vouches for nothing
          const { files } = await scanned(folder);
          for (const [name, { identity }] of expected.files) {
            assert.deepEqual(files.get(name)?.identity, { ...identity, index: files.get(name)?.identity.index });
          }
          for (const file of files.values()) {
            for (const each of all(file)) {
              assert.ok(each.file.startsWith(folder) || each.file.includes("millrace-test-"));
            }
          }
        }),
        { numRuns: tries(150) },
      );
    }),
);

test(
  "whatever bytes of the manifest are changed, a file in doubt is what it is",
  { timeout: 120_000 },
  () =>
    inSite(async (folder) => {
      const path = join(folder, manifestName);
      const bytes = await readFile(path);
      const expected = await scanned(folder);
      const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(changes, fc.option(fc.nat(bytes.length)), async (changes, length) => {
          const changed = Uint8Array.from(bytes);
          for (const [at, byte] of changes) changed[at] = byte;
          await writeFile(path, changed.subarray(0, length ?? bytes.length));
          await utimes(path, 0, 0);
          const { files } = await scanned(folder);
          for (const [name, { identity }] of expected.files) {
            assert.equal(files.get(name)?.identity.sha256, identity.sha256);
          }
        }),
        { numRuns: tries(150) },
      );
    }),
);

/** Returns `json` with `value` at one position of its depth-first order. */
function withValue(json: unknown, place: number, value: unknown): unknown {
  const parts: { holder: Record<string, unknown>; key: string }[] = [];
  const root = { json: structuredClone(json) };
  const visit = (holder: Record<string, unknown>): void => {
    for (const key of Object.keys(holder)) {
      parts.push({ holder, key });
      if (typeof holder[key] === "object" && holder[key] !== null) visit(holder[key] as Record<string, unknown>);
    }
  };
  visit(root);
  const { holder, key } = parts[place % parts.length];
  holder[key] = value;
  return root.json;
}
