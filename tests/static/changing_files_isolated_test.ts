import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, open, rename, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { gzipSync } from "node:zlib";
import {
  createStaticHandler,
  type StaticHandler,
  type StaticHandlerOptions,
  type StaticWarning,
} from "../../lib/static/mod.ts";
import { noise } from "../support/bytes.ts";
import { runtime } from "../support/runtime.ts";
import { atLast, until } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { interrupted } from "./interrupted_download.ts";
import { PersistentConnection, type ReceivedAnswer } from "./persistent_connection.ts";
import { entries, type Entry, serveHandler } from "./served_handler.ts";
import { overlapping } from "../support/overlapping.ts";
import { isLong } from "../support/long_run.ts";

const test = overlapping();

const SMALL = 10_000;
/** A size that is read at once, on request. */
const MIDDLE = 100_000;
/** Streamed. */
const LARGE = 700_000;
/** A size that exceeds two sockets' buffers. */
const HUGE = 16_000_000;

const former = (size: number): Uint8Array => Buffer.alloc(size, "the former content\n");
const latter = (size: number): Uint8Array => Buffer.alloc(size, "the latter content\n");

interface Change {
  /** The rest of the phrase "a file that is …". */
  readonly name: string;
  readonly change: (path: string, size: number) => Promise<void>;
  /** Returns the file's content after the change; undefined if the file was removed. */
  readonly result: (size: number) => Uint8Array | undefined;
  /** The end of a response that is sent during the change. */
  readonly meanwhile: "cut" | "whole";
}

const changes: readonly Change[] = [
  {
    name: "truncated",
    change: (path, size) => truncate(path, size / 2),
    result: (size) => former(size / 2),
    meanwhile: "cut",
  },
  {
    name: "emptied",
    change: (path) => truncate(path, 0),
    result: () => new Uint8Array(0),
    meanwhile: "cut",
  },
  {
    name: "added to",
    change: (path) => appendFile(path, "more"),
    result: (size) => Buffer.concat([former(size), Buffer.from("more")]),
    meanwhile: "cut",
  },
  {
    name: "written over",
    change: async (path, size) => {
      const file = await open(path, "r+");
      await file.write(latter(size));
      await file.close();
    },
    result: latter,
    meanwhile: "cut",
  },
  {
    name: "replaced by renaming",
    change: async (path, size) => {
      await writeFile(`${path}.new`, latter(size));
      await rename(`${path}.new`, path);
    },
    result: latter,
    meanwhile: "whole",
  },
  { name: "deleted", change: (path) => rm(path), result: () => undefined, meanwhile: "whole" },
  {
    name: "replaced by a folder",
    change: async (path) => {
      await rm(path);
      await mkdir(path);
    },
    result: () => undefined,
    meanwhile: "whole",
  },
  { name: "touched", change: (path) => utimes(path, 1.6e9, 1.6e9), result: former, meanwhile: "cut" },
];

let folder = "";
let folders = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-changing-"));
});

after(() => rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly site: string;
  readonly port: number;
  readonly handler: StaticHandler;
  readonly warnings: StaticWarning[];
  readonly client: PersistentConnection;
}

/** Serves a site, once it is there. */
async function serving(
  entry: Entry,
  files: Readonly<Record<string, Uint8Array | string>>,
  use: (scene: Scene) => Promise<void>,
  options: StaticHandlerOptions = {},
): Promise<void> {
  const site = join(folder, `${++folders}`);
  await writeTree(site, files);
  for (const path of Object.keys(files)) await utimes(join(site, path), 1.5e9, 1.5e9);
  const warnings: StaticWarning[] = [];
  const handler = await createStaticHandler(site, { ...options, onWarning: (warning) => warnings.push(warning) });
  const server = await serveHandler(handler, entry);
  const client = new PersistentConnection(server.port);
  try {
    await use({ site, port: server.port, handler, warnings, client });
  } finally {
    client.close();
    await server.close();
    await handler.close();
  }
}

const tagOf = (bytes: Uint8Array): string => `"${createHash("sha256").update(bytes).digest("base64").slice(0, 22)}"`;

/** Holds an answer against what there must be; undefined is nothing. */
function assertIs(answer: ReceivedAnswer, expected: Uint8Array | undefined, what: string): void {
  assert.equal(answer.status, expected === undefined ? 404 : 200, what);
  assert.ok(answer.isWhole, what);
  if (expected === undefined) return;
  assert.ok(
    answer.body.equals(expected),
    `${what}: ${answer.body.length} bytes, not the ${expected.length} expected: ${
      answer.body.toString("latin1", 0, 60)
    }`,
  );
  assert.equal(answer.fields.get("etag"), tagOf(expected), what);
}

/** Repeats a request until the status is no longer 503. */
async function healed(client: PersistentConnection, target: string): Promise<ReceivedAnswer> {
  let answer = await client.ask("GET", target);
  await until(async () => {
    if (answer.status === 503) answer = await client.ask("GET", target);
    return answer.status !== 503;
  }, `another answer than 503 for ${target}`);
  return answer;
}

const opensLater = runtime === "bun" && "the server of Bun opens the file when it is given the response";

test("fetch: a response is of what was there when it was made", { skip: opensLater }, async () => {
  const site = join(folder, `${++folders}`);
  await writeTree(site, { "file.bin": former(LARGE) });
  const handler = await createStaticHandler(site);
  await writeFile(`${site}.new`, latter(LARGE));
  const response = await handler.fetch(new Request("http://site.example/file.bin"));
  renameSync(`${site}.new`, join(site, "file.bin")); // at once: a response that is not read leaves its file after 500 ms
  assert.equal(response.headers.get("etag"), tagOf(former(LARGE)));
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(former(LARGE)));
  await handler.close();
});

for (const entry of entries) {
  for (const size of [MIDDLE, LARGE]) {
    for (const { name, change, result } of changes) {
      test(`${entry}: a file of ${size} bytes that is ${name} is answered as it then is once it is scanned again`, () =>
        serving(entry, { "folder/file.bin": former(size), "other.txt": "other" }, async (scene) => {
          const { site, warnings, client } = scene;
          assertIs(await client.ask("GET", "/folder/file.bin"), former(size), "before");
          assert.deepEqual(warnings, []);
          await change(join(site, "folder/file.bin"), size);
          const answer = await client.ask("GET", "/folder/file.bin");
          if (result(size) === undefined) {
            assert.equal(answer.status, 503);
            assert.equal(answer.fields.get("retry-after"), "1");
            assert.ok(!answer.fields.has("etag"));
          } else {
            assertIs(answer, result(size), "by the request that waited for the scan");
          }
          assert.deepEqual(warnings.map(({ path }) => path), ["folder/file.bin"]);
          assertIs(await client.ask("GET", "/other.txt"), Buffer.from("other"), "another file");
          assertIs(await healed(client, "/folder/file.bin"), result(size), "when healed");
          assertIs(await client.ask("GET", "/folder/file.bin"), result(size), "after that");
        }));
    }
  }

  for (const { name, change, result, meanwhile } of changes) {
    // Bun's server sends files itself: it does not compare them with the scan, but cuts the response of a file that
    // became too short.
    const isSeen = !(entry === "fetch" && runtime === "bun") || ["truncated", "emptied"].includes(name);
    const outcome = meanwhile === "cut" ? (isSeen ? "cut off" : "never mixed up with it") : "sent as it was";
    test(`${entry}: what is being sent of a file that is ${name} is ${outcome}`, () =>
      serving(entry, { "file.bin": former(HUGE), "other.txt": "other" }, async ({ site, port, client }) => {
        const download = await interrupted(port, "/file.bin", () => change(join(site, "file.bin"), HUGE));
        assert.equal(download.status, 200);
        if (meanwhile === "whole") assert.ok(download.isWhole && download.body.equals(former(HUGE)));
        else if (isSeen) assert.ok(!download.isWhole, `${download.body.length} bytes pass for all of it`);
        assert.ok(download.length === undefined || download.length === HUGE);
        assertIs(await healed(client, "/file.bin"), result(HUGE), "when healed");
      }));
  }

  for (const { name, change, result } of changes) {
    test(`${entry}: a small file that is ${name} is answered from memory until the next reload()`, () =>
      serving(entry, { "file.txt": former(SMALL) }, async ({ site, handler, warnings, client }) => {
        assertIs(await client.ask("GET", "/file.txt"), former(SMALL), "before");
        await change(join(site, "file.txt"), SMALL);
        assertIs(await client.ask("GET", "/file.txt"), former(SMALL), "from memory");
        await handler.reload();
        assertIs(await client.ask("GET", "/file.txt"), result(SMALL), "after reload()");
        assert.deepEqual(warnings, []);
      }));
  }

  test(`${entry}: small files that change before they are in memory are right or unavailable`, async () => {
    const names = Array.from({ length: isLong ? 800 : 100 }, (_, i) => `file-${i}.txt`);
    const site = join(folder, `${++folders}`);
    await writeTree(site, Object.fromEntries(names.map((name) => [name, `the former content of ${name}`])));
    await writeFile(`${site}.new`, "");
    const warnings: StaticWarning[] = [];
    const handler = await createStaticHandler(site, { onWarning: (warning) => warnings.push(warning) });
    // At once, as long as most are not loaded: half are written over, half replaced.
    for (const [i, name] of names.entries()) {
      const text = `the latter content of ${name}`;
      writeFileSync(i % 2 ? join(site, name) : `${site}.new`, text);
      if (i % 2 === 0) renameSync(`${site}.new`, join(site, name));
    }
    const server = await serveHandler(handler, entry);
    const client = new PersistentConnection(server.port);
    const unavailable: string[] = [];
    for (const name of names) {
      const answer = await client.ask("GET", `/${name}`);
      if (answer.status === 503) {
        unavailable.push(name);
      } else {
        // Either was in memory in time, or is of a scan since then.
        const age = answer.body.toString().includes("former") ? "former" : "latter";
        assertIs(answer, Buffer.from(`the ${age} content of ${name}`), name);
      }
    }
    for (const name of unavailable) {
      assert.ok(warnings.some(({ path }) => path === name), name);
      assertIs(await healed(client, `/${name}`), Buffer.from(`the latter content of ${name}`), name);
    }
    await handler.reload();
    for (const name of names) {
      assertIs(await client.ask("GET", `/${name}`), Buffer.from(`the latter content of ${name}`), name);
    }
    client.close();
    await server.close();
    await handler.close();
  });

  for (const mode of ["watch", "reload"]) {
    test(`${entry}: a large file replaced by renaming is never 503, with ${mode}`, () =>
      serving(entry, { "file.bin": former(LARGE), "index.html": "" }, async ({ site, handler, client }) => {
        for (let round = 1; round < 3; round++) {
          const content = Buffer.alloc(LARGE, round);
          await writeFile(`${site}.new`, content);
          await rename(`${site}.new`, join(site, "file.bin"));
          const reloaded = mode === "reload" ? handler.reload() : undefined;
          for (let i = 0; i < 3; i++) {
            const { status, body } = await client.ask("GET", "/file.bin");
            assert.deepEqual([status, body.length], [200, LARGE]);
            assert.ok(round > 1 && body.equals(Buffer.alloc(LARGE, round - 1)) || body.equals(content));
          }
          await reloaded;
          assertIs(await client.ask("GET", "/file.bin"), content, `round ${round}`);
        }
      }, { watch: mode === "watch" }));
  }

  test(`${entry}: a variant that changes is left out with a warning, and the file itself is sent`, async () => {
    const content = Buffer.from(noise(LARGE, 1).toString().repeat(2));
    const compressed = gzipSync(content);
    assert.ok(compressed.length > MIDDLE && compressed.length < content.length);
    await serving(entry, { "file.txt": content, "file.txt.gz": compressed }, async ({ site, warnings, client }) => {
      const asked = { "Accept-Encoding": "gzip" };
      let before = await client.ask("GET", "/file.txt", asked);
      await atLast(async () => { // no manifest vouches for it: it is decoded first
        before = await client.ask("GET", "/file.txt", asked);
        return before.fields.has("content-encoding");
      });
      assert.equal(before.fields.get("content-encoding"), "gzip");
      assertIs(before, compressed, "before");
      await truncate(join(site, "file.txt.gz"), compressed.length - 1);
      const answer = await client.ask("GET", "/file.txt", asked);
      assert.equal(answer.fields.get("content-encoding"), undefined);
      assertIs(answer, content, "after");
      assert.deepEqual(warnings.map(({ path }) => path), ["file.txt.gz"]);
    });
  });

  test(`${entry}: ranges of a file that changes are of one version, or unavailable`, () =>
    serving(entry, { "file.bin": former(LARGE) }, async ({ site, client }) => {
      const range = { Range: `bytes=1000-${LARGE - 2}` };
      const first = await client.ask("GET", "/file.bin", range);
      assert.equal(first.status, 206);
      assert.ok(first.body.equals(former(LARGE).subarray(1000, LARGE - 1)));
      await writeFile(join(site, "file.bin"), latter(LARGE));
      const next = await client.ask("GET", "/file.bin", range);
      assert.ok(next.body.equals(latter(LARGE).subarray(1000, LARGE - 1)));
      const resumed = await client.ask("GET", "/file.bin", { ...range, "If-Range": first.fields.get("etag")! });
      assertIs(resumed, latter(LARGE), "resumed");
    }));
}
