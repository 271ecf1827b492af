/**
 * Each example of this folder as a user clones it: installed with the package as it is published, and run by the commands
 * of its README on the runtime that it is for.
 */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { cp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import test, { after, before, describe } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { decompress } from "../../lib/codecs/mod.ts";
import { untypedPackages } from "../docs/ambient_types.ts";
import { bin } from "../e2e/published.ts";
import { FakeStore } from "../s3/fake_store.ts";
import { run } from "../support/processes.ts";
import { noise } from "../support/bytes.ts";
import { root, runtime } from "../support/runtime.ts";
import { within } from "../support/waits.ts";
import { Clones } from "./clone.ts";
import { buildImage } from "./docker_steps.ts";

const here = dirname(fileURLToPath(import.meta.url));
const names = globSync("*/README.md", { cwd: here }).map((path) => dirname(path)).sort();
const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };

const readJson = async (...path: string[]): Promise<Record<string, Record<string, string>>> =>
  JSON.parse(await readFile(join(...path), "utf8"));

describe("examples to clone", { skip: runtime !== "node" && "it runs the commands of all runtimes itself" }, () => {
  let clones: Clones;
  before(async () => {
    clones = await Clones.make();
  });
  after(() => clones[Symbol.asyncDispose]());

  test("the page of examples names each", async () => {
    const page = await readFile(join(here, "README.md"), "utf8");
    assert.deepEqual([...page.matchAll(/\]\(([a-z-]+)\/README\.md\)/g)].map(([, name]) => name).sort(), names);
  });

  test("they ask for this version and for what the tests run with, and READMEs give the commands that are there", async () => {
    const { version, devDependencies } = await readJson(root, "package.json") as unknown as {
      version: string;
      devDependencies: Record<string, string>;
    };
    for (const name of names) {
      const readme = await readFile(join(here, name, "README.md"), "utf8");
      assert.ok(readme.trim().split("\n").length <= 18, `${name}: its README is long`);
      const isDeno = name.startsWith("deno");
      const manifest = await readJson(here, name, isDeno ? "deno.json" : "package.json");
      const ours = isDeno ? manifest.imports["@millrace/streams"] : manifest.dependencies["@millrace/streams"];
      assert.equal(ours, isDeno ? `jsr:@millrace/streams@^${version}` : `^${version}`, name);
      const { "@millrace/streams": _, wrangler: __, ...others } = {
        ...manifest.devDependencies,
        ...manifest.dependencies,
      };
      for (const [dependency, range] of Object.entries(others)) assert.equal(range, devDependencies[dependency], name);
      const scripts = [...readme.matchAll(/^(?:npm|npm run|bun|deno task) (start|build)\b/gm)].map(([, word]) => word);
      assert.ok(scripts.includes("start"), `${name}: its README starts nothing`);
      for (const script of scripts) assert.ok((manifest.scripts ?? manifest.tasks)[script], `${name}: ${script}`);
    }
  });

  test("a Vite site: built, compressed and served, also by the steps of its Dockerfile", async () => {
    const clone = await clones.clone("vite-site");
    const { stage, command } = await buildImage(clone, clones);
    assert.ok(await sizeOf(join(stage.folder, "dist")) < 100_000);
    await assert.rejects(stat(join(stage.folder, "node_modules/vite")), { code: "ENOENT" });
    await cp(join(stage.folder, "dist"), join(clone.folder, "dist"), { recursive: true });
    const look = async ({ port }: URL): Promise<void> => {
      const page = await fetch(`http://127.0.0.1:${port}/mills/7`, { headers: { ...BROWSER, accept: "text/html" } });
      assert.equal(page.status, 200);
      const [, script] = /src="([^"]+\.js)"/.exec(await page.text())!;
      const answer = await fetch(`http://127.0.0.1:${port}${script}`, { headers: BROWSER });
      assert.equal(answer.headers.get("content-encoding"), "br");
      assert.match(answer.headers.get("cache-control")!, /immutable/);
      assert.match(await answer.text(), /Harbour/);
    };
    assert.equal(await clone.serve("start", look), 0);
    assert.equal(await stage.serve("CMD", look, { command: command.join(" ") }), 0);
  });

  test("Hono on Bun: responses are compressed, events come at once, and it ends while one listens", async () => {
    const clone = await clones.clone("hono-events");
    let listening: Promise<void> | undefined;
    const code = await clone.serve("start", async (url) => {
      const mills = await fetch(new URL("mills", url), { headers: { "accept-encoding": "br" } });
      assert.equal(mills.headers.get("content-encoding"), "br");
      assert.equal((await mills.json()).length, 500);
      const events = await fetch(new URL("prices", url), { headers: { "accept-encoding": "gzip" } });
      assert.equal(events.headers.get("content-encoding"), "gzip");
      let text = "";
      const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
      while (!text.includes("corn")) text += (await within(reader.read(), "an event")).value;
      assert.match(text, /^retry: 2000\n[^]*event: price\n/m);
      listening = (async () => {
        while (!(await reader.read()).done);
      })();
    }, { env: { INTERVAL: "100" } });
    await within(listening!, "the end of the events");
    assert.equal(code, 0);
  });

  test("Express: an upload goes to the bucket and comes back, and is refused without the token", async () => {
    const clone = await clones.clone("express-uploads");
    const store = await FakeStore.start();
    const env = {
      S3_ENDPOINT: store.endpoint,
      S3_BUCKET: "films",
      S3_ACCESS_KEY_ID: "id",
      S3_SECRET_ACCESS_KEY: "secret",
      TOKEN: "token",
    };
    const film = noise(10_000_000);
    const headers = { authorization: "Bearer token" };
    const code = await clone.serve("start", async (origin) => {
      const url = new URL("films/a.mp4", origin);
      assert.equal((await fetch(url, { method: "PUT", body: "film" })).status, 401);
      const stored = await fetch(url, { method: "PUT", body: film, headers });
      assert.deepEqual([stored.status, (await stored.json()).files[0].bytes], [201, film.length]);
      assert.ok(Buffer.from(film).equals(store.objects.get("a.mp4")!.bytes));
      assert.ok(Buffer.from(film).equals(await (await fetch(url, { headers })).bytes()));
      assert.equal((await fetch(new URL("films/b.mp4", origin), { headers })).status, 404);
    }, { env });
    await store.stop();
    assert.equal(code, 0);
  });

  test("React on Node: the head comes before the rows, and these in few writes", async () => {
    const clone = await clones.clone("react-ssr");
    const code = await clone.serve("start", async ({ port }) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
      const received = (await Array.fromAsync(socket.setEncoding("latin1"))).join("");
      const chunks = [...chunksOf(received.slice(received.indexOf("\r\n\r\n") + 4))];
      assert.match(chunks[0], /<h1>Mills<\/h1>/);
      assert.doesNotMatch(chunks[0], /mill 1:/);
      assert.equal(chunks.join("").match(/<li>/g)?.length, 2000);
      assert.ok(chunks.length < 8, `${chunks.length} writes`); // some 30 are what React enqueues
    });
    assert.equal(code, 0);
  });

  test("Deno: a log's slow and failed requests are in a compressed series", async () => {
    const clone = await clones.clone("deno-logs");
    const log = await readFile(join(here, "deno-logs/access.log"), "utf8");
    const slow = log.trim().split("\n").filter((line) =>
      / 5\d\d \d+ /.test(line) || Number(line.split(" ").at(-1)) >= 0.5
    );
    assert.equal(await clone.script("start"), `41 lines, ${slow.length} kept, 1 unreadable\n`);
    const folder = join(clone.folder, "slow");
    const [name] = (await readdir(folder)).filter((name) => !name.startsWith("."));
    assert.equal(name, "slow-00001.jsonl.zst");
    const kept = new TextDecoder().decode(await decompress(await readFile(join(folder, name)), { format: "zstd" }));
    const paths = kept.trim().split("\n").map((line) => JSON.parse(line).path);
    assert.deepEqual(paths, slow.map((line) => line.split(" ")[6]));
  });

  test("a Worker: its codecs are modules, as it may compile none", async () => {
    const clone = await clones.clone("worker-codecs");
    const workerData = join(clone.folder, "worker.ts");
    const worker = new Worker(join(here, "worker_rules.ts"), { workerData });
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    worker.once("message", resolve).once("error", reject);
    const { ratio, ...rest } = await within(promise, "the Worker's answers");
    assert.deepEqual(rest, { isSame: true, statuses: [404, 400] });
    assert.ok(Number(ratio) > 100);
    await worker.terminate();
  });

  test("their TypeScript is right", async () => {
    const sources = names.flatMap((name) => globSync(`${name}/**/*.ts`, { cwd: here }));
    // The types of React, Bun and Deno are not here.
    const checked = sources.filter((path) => !/^(?:deno|hono|react)/.test(path)).map((path) =>
      join(clones.folder, path)
    );
    await writeFile(join(clones.folder, "untyped.d.ts"), untypedPackages);
    const options = "--ignoreConfig --strict --noEmit --skipLibCheck --target es2024 --module nodenext --types node";
    const words = [
      ...options.split(" "),
      "--allowImportingTsExtensions",
      "--typeRoots",
      join(root, "node_modules/@types"),
    ];
    const { code, stdout } = await run(join(bin, "tsc"), [...words, "untyped.d.ts", ...checked], clones.folder);
    assert.equal(code, 0, stdout);
  });
});

/** The chunks of a chunked body (RFC 9112, section 7.1), each of which was a write. */
function* chunksOf(body: string): Generator<string> {
  for (let at = 0; at < body.length;) {
    const start = body.indexOf("\r\n", at) + 2;
    const length = parseInt(body.slice(at, start), 16);
    if (length === 0) return;
    yield body.slice(start, start + length);
    at = start + length + 2;
  }
}

/** The bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  const sizes = globSync("**/*", { cwd: folder }).map(async (path) => (await stat(join(folder, path))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
