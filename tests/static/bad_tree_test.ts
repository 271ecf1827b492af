import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { manifestName, precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { madeOnce } from "../support/made_once.ts";
import { until } from "../support/waits.ts";
import { tries } from "../support/long_run.ts";
import { needs } from "../support/needs.ts";

const LEVELS = { brotli: 2, zstd: 1, gzip: 1 };
const app = new TextDecoder().decode(sourceText(9000, 1));
const extensions: Readonly<Record<string, string>> = { identity: "", br: ".br", zstd: ".zst", gzip: ".gz" };
const notWindows = { skip: needs("names") };

/** A handler for a test, and what it warned of, as `path: message`. */
interface Served {
  readonly handler: StaticHandler;
  readonly warnings: string[];
}

async function serving(
  folder: string,
  use: (served: Served) => Promise<void>,
  options: StaticHandlerOptions = {},
): Promise<void> {
  const warnings: string[] = [];
  const onWarning = ({ path, message }: { path: string; message: string }) => warnings.push(`${path}: ${message}`);
  const handler = await createStaticHandler(folder, { onWarning, ...options });
  try {
    await use({ handler, warnings });
  } finally {
    await handler.close();
  }
}

/** Requests a path below the folder, valid or not. */
async function get(handler: StaticHandler, path: string, coding = "identity"): Promise<Response> {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return await handler.fetch(new Request(`http://localhost/${encoded}`, { headers: { "accept-encoding": coding } }));
}

/** Returns the paths that warnings are about, without their messages. */
function named(warnings: readonly string[]): string[] {
  return [...new Set(warnings.map((warning) => warning.slice(0, warning.indexOf(": "))))].sort();
}

const writeSite = madeOnce(async (folder) => {
  await writeTree(folder, { "app.js": app });
  await precompress(folder, { jobs: 1, levels: LEVELS });
});

/** A folder with a precompressed script. */
function inSite(use: (folder: string) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    await writeSite(folder);
    await use(folder);
  });
}

test("createStaticHandler() says what is wrong with a folder that is none", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), "");
    const missing = join(folder, "missing");
    const message = `cannot serve ${missing}: there is no such folder`;
    await assert.rejects(createStaticHandler(missing), { name: "TypeError", message });
    await assert.rejects(createStaticHandler(join(folder, "file")), {
      name: "TypeError",
      message: `cannot serve ${join(folder, "file")}: it is a file, not a folder`,
    });
    await assert.rejects(createStaticHandler(join(folder, "file/below")), TypeError);
    await assert.rejects(createStaticHandler(`${folder}/\0`), TypeError);
    await assert.rejects(createStaticHandler(""), TypeError);
  }));

test("reload() of a folder that has gone rejects, and all is answered as before", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeTree(site, { "a.txt": "as before" });
    await serving(site, async ({ handler }) => {
      await rename(site, `${site}-away`);
      await assert.rejects(handler.reload(), /cannot serve .*there is no such folder/);
      assert.equal(await (await get(handler, "a.txt")).text(), "as before");
      await rename(`${site}-away`, site);
      await handler.reload();
      assert.equal((await get(handler, "a.txt")).status, 200);
    });
  }));

test("folders that come and go during a scan make it neither fail nor lie", () =>
  inFolder(async (folder) => {
    const parts = Array.from({ length: 20 }, (_, i) => `part-${i}`);
    const files = parts.flatMap((part) => Array.from({ length: 20 }, (_, i) => [`${part}/${i}.txt`, `${part} ${i}`]));
    await writeTree(folder, { ...Object.fromEntries(files), "index.html": "stays" });
    await serving(folder, async ({ handler }) => {
      let goesOn = true;
      const moving = (async () => {
        while (goesOn) for (const part of parts) await move(join(folder, part), join(folder, `${part}-moved`));
      })();
      for (let i = 0; i < 10; i++) {
        await handler.reload();
        assert.equal(await (await get(handler, "")).text(), "stays");
        const answer = await get(handler, "part-7/3.txt");
        if (answer.status === 200) assert.equal(await answer.text(), "part-7 3");
        else assert.ok([404, 503].includes(answer.status), String(answer.status));
      }
      goesOn = false;
      await moving;
    });
  }));

async function move(from: string, to: string): Promise<void> {
  if (existsSync(from)) await rename(from, to);
  else await rename(to, from);
}

const spoiledVariants: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "was cut": async (path) => truncate(path, (await stat(path)).size - 7),
  "is empty": (path) => truncate(path, 0),
  "grew": (path) => appendFile(path, "more"),
  "has another bit": async (path) => {
    const bytes = await readFile(path);
    bytes[bytes.length >> 1] ^= 4;
    await writeFile(path, bytes);
  },
  "is another file": (path) => writeFile(path, "console.log(1)"),
  "became a folder": async (path) => (await rm(path), await mkdir(path)),
  "is gone": (path) => rm(path),
};
const text = Array.from({ length: 90_000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 13).toString(36)).join("\n");
const writeLargeSite = madeOnce(async (folder) => {
  await writeTree(folder, { "large.txt": text });
  await precompress(folder, { jobs: 1, levels: LEVELS, formats: ["brotli", "gzip"] });
});

for (const [fault, spoil] of Object.entries(spoiledVariants)) {
  test(`a variant that ${fault} is not sent, whatever its time, but another one or the file`, () =>
    inSite(async (folder) => {
      const path = join(folder, "app.js.br");
      const { mtimeMs } = await stat(path);
      await spoil(path);
      await utimes(path, mtimeMs / 1000, mtimeMs / 1000).catch(() => {});
      await serving(folder, async ({ handler, warnings }) => {
        const plain = await get(handler, "app.js", "br");
        assert.equal(plain.headers.get("content-encoding"), null);
        assert.equal(await plain.text(), app);
        assert.equal((await get(handler, "app.js", "br, gzip")).headers.get("content-encoding"), "gzip");
        const isThere = existsSync(path) && (await stat(path)).isFile();
        assert.deepEqual(named(warnings), isThere ? ["app.js.br"] : []);
      });
    }));

  test(`so is a large variant that ${fault}`, () =>
    inFolder(async (folder) => {
      await writeLargeSite(folder);
      const path = join(folder, "large.txt.br");
      const { mtimeMs, size } = await stat(path);
      assert.ok(size > 64 * 1024);
      await spoil(path);
      await utimes(path, mtimeMs / 1000, mtimeMs / 1000).catch(() => {});
      await serving(folder, async ({ handler, warnings }) => {
        const plain = await get(handler, "large.txt", "br");
        assert.equal(plain.headers.get("content-encoding"), null);
        assert.equal(await plain.text(), text);
        const isThere = existsSync(path) && (await stat(path)).isFile();
        assert.deepEqual(named(warnings), isThere ? ["large.txt.br"] : []);
      });
    }));
}

test("variants of a former content are not sent, whatever the time of the file", () =>
  inSite(async (folder) => {
    const { mtimeMs } = await stat(join(folder, "app.js"));
    const changed = `X${app.slice(1)}`;
    await writeFile(join(folder, "app.js"), changed);
    await utimes(join(folder, "app.js"), mtimeMs / 1000, mtimeMs / 1000);
    await serving(folder, async ({ handler, warnings }) => {
      const answer = await get(handler, "app.js", "zstd, br, gzip");
      assert.equal(answer.headers.get("content-encoding"), null);
      assert.equal(await answer.text(), changed);
      assert.deepEqual(named(warnings), ["app.js", "app.js.br", "app.js.gz", "app.js.zst"]);
    });
  }));

test("a small file that is changed before it is read, to the same size and time, is not sent as what it was", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.txt": "former" });
    await utimes(join(folder, "a.txt"), 1.7e9, 1.7e9);
    await serving(folder, async ({ handler }) => {
      const tag = (await get(handler, "a.txt")).headers.get("etag");
      await writeFile(join(folder, "a.txt"), "latter");
      await utimes(join(folder, "a.txt"), 1.7e9, 1.7e9);
      assert.equal(await (await get(handler, "a.txt")).text(), "former"); // from memory
      await handler.reload();
      const answer = await get(handler, "a.txt");
      assert.equal(await answer.text(), "latter");
      assert.notEqual(answer.headers.get("etag"), tag);
    });
  }));

test("a hash in the manifest that is not that of its file is found out, and the file read", () =>
  inSite(async (folder) => {
    await setTimeout(1100); // so that the manifest is younger on Deno, too, where a second is a tick
    const path = join(folder, manifestName);
    const { sha256 } = JSON.parse(await readFile(path, "utf8")).files["app.js"];
    await writeFile(path, (await readFile(path, "utf8")).replace(sha256, "ab".repeat(32)));
    await serving(folder, async ({ handler, warnings }) => {
      await untilAnswered(handler, "app.js");
      const answer = await get(handler, "app.js", "br");
      assert.equal(answer.headers.get("content-encoding"), null);
      assert.equal(await answer.text(), app);
      assert.ok(named(warnings).includes("app.js"));
      await handler.reload();
      assert.equal((await get(handler, "app.js")).status, 200);
    });
  }));

/** Waits while a file is answered with 503, since it is scanned again. */
async function untilAnswered(handler: StaticHandler, path: string): Promise<void> {
  await until(async () => (await get(handler, path)).status !== 503, `another answer than 503 for ${path}`);
}

test(
  "whatever the manifest says, answers have the bytes of the files",
  { timeout: 120_000 },
  () =>
    inSite(async (folder) => {
      const path = join(folder, manifestName);
      const bytes = await readFile(path);
      const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 32, max: 126 }));
      const changes = fc.array(change, { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(changes, fc.constantFrom("br", "zstd", "gzip", "identity"), async (changes, coding) => {
          const changed = Uint8Array.from(bytes);
          for (const [at, byte] of changes) changed[at] = byte;
          await writeFile(path, changed);
          await serving(folder, async ({ handler }) => {
            await untilAnswered(handler, "app.js");
            const answer = await get(handler, "app.js", coding);
            assert.equal(answer.status, 200);
            const sent = Buffer.from(await answer.arrayBuffer());
            const applied = answer.headers.get("content-encoding") ?? "identity";
            assert.ok(["identity", coding].includes(applied), applied);
            const extension = extensions[applied];
            assert.deepEqual(sent, await readFile(join(folder, `app.js${extension}`)));
          });
        }),
        { numRuns: tries(60) },
      );
    }),
);

const oddNames = [
  ...[
    "a b.txt",
    " a",
    "a ",
    "100%.txt",
    "%41.txt",
    "%2e%2e",
    "what?.txt",
    "a#b.txt",
    "a&b=c;d.txt",
    "a+b.txt",
    "~",
    "$'\"`",
  ],
  ...[
    "back\\slash.txt",
    "..\\x.txt",
    "new\nline.txt",
    "tab\t.txt",
    "\u0001",
    "\u007f",
    "a:b",
    "C:",
    "*",
    "<>|",
    "...",
    "..a",
    "-",
  ],
  ...["ü.txt", "u\u0308.txt", "日本語.txt", "😀.txt", "\u202etxt.exe", "\ufeffbom", "\u2028", "A.txt", "a.txt"],
  ...["__proto__", "constructor", "con", "index.html.", "x".repeat(255)],
];
test("files are found by their names, whatever these are", notWindows, () =>
  inFolder(async (folder) => {
    const paths = [
      ...oddNames,
      ...oddNames.map((name) => `in/${name}`),
      ...oddNames.map((name) => `${name}.d/x.txt`.slice(-250)),
    ];
    await writeTree(folder, Object.fromEntries(paths.map((path) => [path, `this is ${path}`])));
    await serving(folder, async ({ handler, warnings }) => {
      for (const path of paths) {
        const answer = await get(handler, path);
        assert.deepEqual([answer.status, await answer.text()], [200, `this is ${path}`], JSON.stringify(path));
      }
      assert.deepEqual(warnings, []);
      assert.equal((await get(handler, "A.TXT")).status, 404);
      assert.equal((await get(handler, "U\u0308.txt")).status, 404);
    }, { dotfiles: true });
  }));

test(
  "names that are not UTF-8 are left out, or found by the name that they are listed with",
  notWindows,
  () =>
    inFolder(async (folder) => {
      await writeFile(Buffer.concat([Buffer.from(`${folder}/bad-`), Buffer.from([0xff, 0xfe])]), "bad");
      await writeFile(join(folder, "good.txt"), "good");
      await serving(folder, async ({ handler }) => {
        assert.equal(await (await get(handler, "good.txt")).text(), "good");
        const answer = await get(handler, "bad-\ufffd\ufffd");
        if (answer.status === 200) assert.equal(await answer.text(), "bad");
        else assert.equal(answer.status, 404);
        for (const target of ["/bad-%FF%FE", "/bad-%C0%AE"]) {
          assert.equal((await handler.fetch(new Request(`http://localhost${target}`))).status, 400);
        }
      });
    }),
);

test("empty files, empty folders and an empty site are served as such", () =>
  inFolder(async (folder) => {
    await serving(folder, async ({ handler, warnings }) => {
      assert.equal((await get(handler, "")).status, 404);
      assert.deepEqual([handler.stats(), warnings], [{ files: 0, bytesInMemory: 0 }, []]);
    });
    await writeTree(folder, { "empty.txt": "", "empty.txt.br": "" });
    await mkdir(join(folder, "nothing/here"), { recursive: true });
    await serving(folder, async ({ handler, warnings }) => {
      const answer = await get(handler, "empty.txt", "br");
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-length"), "0");
      assert.equal(answer.headers.get("content-encoding"), null);
      assert.equal(await answer.text(), "");
      for (const path of ["nothing", "nothing/", "nothing/here"]) assert.equal((await get(handler, path)).status, 404);
      assert.deepEqual(named(warnings), ["empty.txt.br"]);
    });
  }));

test("files are found 200 folders deep", () =>
  inFolder(async (folder) => {
    const path = `${"d/".repeat(200)}index.html`;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), "deep");
    await serving(folder, async ({ handler }) => {
      assert.equal(await (await get(handler, path)).text(), "deep");
      assert.equal(await (await get(handler, "d/".repeat(200))).text(), "deep");
      assert.equal((await get(handler, "d/".repeat(200).slice(0, -1))).status, 301);
      assert.equal((await get(handler, "d/".repeat(199))).status, 404);
    });
  }));

test("a folder that precompress was killed in is served, without what it left half done", () =>
  inSite(async (folder) => {
    const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    await writeFile(join(folder, `.millrace-1-${id}.tmp`), "half");
    await writeFile(join(folder, manifestName), (await readFile(join(folder, manifestName), "utf8")).slice(0, 300));
    await serving(folder, async ({ handler, warnings }) => {
      assert.equal((await get(handler, `.millrace-1-${id}.tmp`)).status, 404);
      assert.equal((await get(handler, manifestName)).status, 404);
      assert.equal(await (await get(handler, "app.js")).text(), app);
      assert.deepEqual(named(warnings), [manifestName]);
    }, { dotfiles: true });
    assert.ok((await readdir(folder)).includes(manifestName)); // nothing is cleaned up by serving
  }));
