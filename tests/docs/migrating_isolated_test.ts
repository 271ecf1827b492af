/** Runs the pairs of `lib/migrating.md`: both sides must respond, write and print the same. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { precompress } from "../../lib/precompress/mod.ts";
import { asks } from "../support/asked.ts";
import { noise, sourceText } from "../support/bytes.ts";
import { root, runtime } from "../support/runtime.ts";
import { until, within } from "../support/waits.ts";
import { type Block, makeProject, type PeerServer, readBlocks, startPeerServer } from "./blocks.ts";
import { expectedOutput, matches } from "./expected_output.ts";
import { withStandIns } from "./stand_ins.ts";
import { environment, makeWorkFolder, type WorkFolder, writeModule } from "./work_folder.ts";

const PAGE = "lib/migrating.md";
const sideNames = ["before", "after"] as const;
const here = dirname(fileURLToPath(import.meta.url));

/** Returns the blocks of each side, by the heading above them. */
function readPairs(): Map<string, readonly [before: Block, after: Block]> {
  const headings = readFileSync(join(root, PAGE), "utf8").split("\n")
    .flatMap((text, i) => text.startsWith("### ") ? [{ line: i + 1, name: text.slice(4) }] : []);
  const blocks = readBlocks([PAGE], root);
  return new Map(headings.map(({ line, name }, i) => {
    const end = headings[i + 1]?.line ?? Infinity;
    const [one, other, ...rest] = blocks.filter((block) => block.line > line && block.line < end);
    assert.match(one.code, /^\/\/ before/, name);
    assert.match(other.code, /^\/\/ after/, name);
    assert.equal(rest.length, 0, name);
    return [name, [one, other]];
  }));
}

/** All programs of one side in one process, in a copy of the fixture. */
class Side {
  readonly folder: WorkFolder;
  readonly codes = new Map<string, string>();
  #process: ChildProcess | undefined;
  printed: ReadonlyMap<string, string[]> = new Map();

  constructor(folder: WorkFolder) {
    this.folder = folder;
  }

  async start(project: string, origin: string): Promise<void> {
    const { path } = this.folder;
    await writeFile(join(path, "dist/assets/wheel.js"), sourceText(20_000));
    await precompress(join(path, "dist"), { formats: ["gzip", "brotli"], jobs: 1 });
    await mkdir(join(path, "tus"));
    const started = [...this.codes].filter(([, code]) => !code.includes("vite.config.ts"));
    const modules = started.map(([name, code]) => this.module(name, code));
    const env = environment({ runtime: "node", executable: process.execPath, project, origin }, this.folder);
    this.#process = fork(join(here, "migrating_side.ts"), modules, { cwd: path, env });
    const ended = once(this.#process, "exit").then(([code]) => assert.fail(`${path} ended with ${code}`));
    const [printed] = await within(Promise.race([once(this.#process, "message"), ended]), "the start of all servers");
    ended.catch(() => {}); // the end of the test
    this.printed = new Map(started.map(([name], i) => [name, (printed as string[][])[i]]));
  }

  /** Writes a program into the folder and returns its path. */
  module(name: string, code: string): string {
    return writeModule(join(this.folder.path, `${name.replaceAll(/\W+/g, "_")}`), "ts", code, "node");
  }

  origin(name: string): string {
    const [, port] = /(?:listen\(|port: )(\d+)/.exec(this.codes.get(name)!)!;
    return `http://127.0.0.1:${port}`;
  }

  ask(name: string, path: string, init?: RequestInit): Promise<Response> {
    return fetch(this.origin(name) + path, init);
  }

  async stop(): Promise<void> {
    this.#process?.kill("SIGKILL");
    if (this.#process !== undefined && this.#process.exitCode === null) await once(this.#process, "exit");
    this.folder.remove();
  }
}

describe("the pairs of the page about migrating", { skip: runtime !== "node" && "they are for Node" }, () => {
  const pairs = readPairs();
  let project: Awaited<ReturnType<typeof makeProject>>;
  let peer: PeerServer;
  let sides: readonly Side[] = [];

  before(async () => {
    [project, peer] = await Promise.all([makeProject(root), startPeerServer()]);
    const options = { runtime, executable: process.execPath, project: project.folder, origin: peer.origin };
    sides = await Promise.all(sideNames.map(async (name) => new Side(await makeWorkFolder(name, options))));
    for (const [i, side] of sides.entries()) {
      for (const [name, blocks] of pairs) {
        const { standIns, remove } = await makeWorkFolder("ports", options);
        side.codes.set(name, withStandIns(blocks[i].code, standIns));
        remove();
      }
    }
    await Promise.all(sides.map((side) => side.start(project.folder, peer.origin)));
  });

  after(async () => {
    await Promise.all(sides.map((side) => side.stop()));
    await peer.close();
    project.remove();
  });

  /** The lines that both programs of a pair print, where they print the same. */
  async function same(name: string, path: string, init: RequestInit = {}, fields: readonly string[] = []) {
    const [one, other] = await Promise.all(sides.map(async (side) => {
      const response = await side.ask(name, path, { redirect: "manual", ...init });
      const chosen = fields.map((field) => [field, plain(field, response)]);
      const body = response.ok ? await response.text() : "";
      if (!response.ok) await response.body?.cancel();
      return { status: response.status, ...Object.fromEntries(chosen), body };
    }));
    const { body, ...rest } = one;
    const { body: otherBody, ...otherRest } = other;
    assert.deepEqual(otherRest, rest, `${name}: ${init.method ?? "GET"} ${path} ${JSON.stringify(init.headers)}`);
    assert.ok(body === otherBody, `${name}: the bodies of ${path} differ`);
    return one;
  }

  for (const name of ["undici", "node-fetch", "csv-parse", "web-streams-polyfill"]) {
    test(`${name}: both print the same`, () => {
      const [one, other] = sides.map(({ printed }) => printed.get(name)!);
      assert.deepEqual(one, other);
      for (const [i, side] of sides.entries()) {
        const texts = expectedOutput(pairs.get(name)![i].code).map(({ text }) => text);
        assert.ok(matches(side.printed.get(name)!.join(", "), texts.join(", ")), side.printed.get(name)!.join(", "));
      }
    });
  }

  const FILES = ["content-type", "content-encoding", "content-range", "vary"];
  const accept = (coding: string): RequestInit => ({ headers: { "accept-encoding": coding } });

  test("sirv: pages, scripts, variants, ranges and the fallback are the same", async () => {
    assert.match((await same("sirv", "/", accept("identity"), FILES)).body, /<html|<!doctype/i);
    assert.equal((await same("sirv", "/assets/wheel.js", accept("gzip, br"), FILES))["content-encoding"], "br");
    assert.equal((await same("sirv", "/assets/wheel.js", accept("gzip"), FILES))["content-encoding"], "gzip");
    await same("sirv", "/assets/wheel.js", accept("identity"), FILES.slice(0, 3));
    await same("sirv", "/assets/app-B1946AC9.js", { method: "HEAD" }, ["content-type"]);
    const part = { headers: { "accept-encoding": "identity", range: "bytes=10-29" } };
    assert.equal((await same("sirv", "/assets/wheel.js", part, ["content-range"])).status, 206);
    assert.equal((await same("sirv", "/users/7", { headers: { accept: "text/html" } }, FILES.slice(0, 1))).status, 200);
    assert.equal((await same("sirv", "/users/7.png")).status, 404);
    await revalidates("sirv", "/assets/wheel.js");
  });

  test("serve-static: files, ranges, and what goes on to the next handler are the same", async () => {
    const types = ["content-type"];
    assert.equal((await same("serve-static, express.static", "/docs", {}, ["location"])).location, "/docs/");
    await same("serve-static, express.static", "/docs/", accept("identity"), types);
    await same("serve-static, express.static", "/docs/assets/app-5D41402A.css", accept("identity"), types);
    const part = { headers: { "accept-encoding": "identity", range: "bytes=-20" } };
    assert.equal(
      (await same("serve-static, express.static", "/docs/assets/wheel.js", part, ["content-range"])).status,
      206,
    );
    for (const path of ["/docs/missing", "/docs/../package.json", "/elsewhere"]) {
      assert.equal((await same("serve-static, express.static", path)).status, 404);
    }
    await revalidates("serve-static, express.static", "/docs/assets/wheel.js");
  });

  /** Each side knows its own tags, and sends the file to those who have another one. */
  async function revalidates(name: string, path: string): Promise<void> {
    for (const side of sides) {
      const ask = asks(side.origin(name)); // fetch() would ask for a fresh one
      const { etag } = (await ask("GET", path)).headers;
      for (const [tag, status] of [[etag!, 304], ['"another"', 200]] as const) {
        assert.equal((await ask("GET", path, { "if-none-match": tag })).status, status);
      }
    }
  }

  for (const name of ["compression", "@fastify/compress"]) {
    test(`${name}: the same body in the same coding`, async () => {
      for (const coding of ["gzip", "br", "identity"]) {
        const { body, ...fields } = await same(name, "/mills", accept(coding), ["content-encoding", "content-type"]);
        assert.equal(JSON.parse(body).length, 500);
        assert.equal(fields["content-encoding"] ?? "identity", coding);
      }
      assert.equal((await same(name, "/nothing", accept("gzip"))).status, 404);
    });
  }

  test("vite-plugin-compression2: the same files have variants, which decode to them", async () => {
    const { build } = await import("vite");
    const name = "vite-plugin-compression2";
    const lists = await Promise.all(sides.map(async (side) => {
      const project = join(side.folder.path, "vite");
      await mkdir(project);
      await writeFile(
        join(project, "index.html"),
        `<!doctype html>${"<p>mill".repeat(500)}<script type=module src=a.js></script>`,
      );
      await writeFile(join(project, "a.js"), `console.log(${JSON.stringify(sourceText(9000))});`);
      const { default: config } = await import(pathToFileURL(side.module(name, side.codes.get(name)!)).href);
      await build({ ...config, root: project, configFile: false, logLevel: "silent" });
      const dist = join(project, "dist");
      for (const path of globSync("**/*.{br,gz}", { cwd: dist })) {
        const decoded = (path.endsWith(".br") ? brotliDecompressSync : gunzipSync)(await readFile(join(dist, path)));
        assert.ok(decoded.equals(await readFile(join(dist, path.replace(/\.\w+$/, "")))), path);
      }
      return globSync("**/*", { cwd: dist }).sort();
    }));
    assert.equal(lists[0].filter((path) => /\.(?:br|gz)$/.test(path)).length, 4);
    assert.deepEqual(lists[1], lists[0]);
  });

  test("multer: the same fields, name and bytes, and the file is stored", async () => {
    const film = noise(300_000);
    const form = new FormData();
    form.append("title", "Film");
    form.append("film", new File([film], "film.mp4", { type: "video/mp4" }));
    const { status, body } = await same("multer", "/films", { method: "POST", body: form });
    assert.equal(status, 201);
    assert.deepEqual(JSON.parse(body), { title: "Film", filename: "film.mp4", bytes: film.length });
    for (const { folder } of sides) assert.ok(await isStored(join(folder.path, "uploads"), film));
  });

  test("tus-node-server: uploads are made, cut, resumed and stored by the same answers", async () => {
    const film = noise(100_000);
    const tus = { "tus-resumable": "1.0.0" };
    const [one, other] = await Promise.all(sides.map(async (side) => {
      const seen: unknown[] = [];
      const ask = async (method: string, path: string, headers: HeadersInit, body?: Uint8Array<ArrayBuffer>) => {
        const response = await side.ask("tus-node-server", path, { method, headers: { ...tus, ...headers }, body });
        const offset = response.ok ? response.headers.get("upload-offset") : undefined;
        seen.push([method, response.status, offset, response.headers.get("upload-length")]);
        await response.body?.cancel();
        return new URL(response.headers.get("location") ?? path, "http://localhost").pathname;
      };
      const metadata = `filename ${btoa("film.mp4")}`;
      const place = await ask("POST", "/files/", { "upload-length": String(film.length), "upload-metadata": metadata });
      const patch = (offset: number, body: Uint8Array<ArrayBuffer>): Promise<string> => {
        const headers = { "upload-offset": String(offset), "content-type": "application/offset+octet-stream" };
        return ask("PATCH", place, headers, body);
      };
      await patch(0, film.slice(0, 40_000));
      await ask("HEAD", place, {});
      await patch(10, film.slice(10)); // at another offset than the upload's
      await patch(40_000, film.slice(40_000));
      await ask("HEAD", place.replace(/.$/, (last) => last === "0" ? "1" : "0"), {}); // of no upload
      assert.ok(await isStored(join(side.folder.path, "tus"), film));
      return seen;
    }));
    assert.deepEqual(other, one);
  });

  test("pino-roll: the same lines are in a file of the series", async () => {
    const lines = await Promise.all(sides.map(async ({ folder }) => {
      const logs = join(folder.path, "logs");
      const read = async (): Promise<string> => {
        const [name] = globSync("rolled*", { cwd: logs });
        return name === undefined ? "" : await readFile(join(logs, name), "utf8");
      };
      await until(async () => (await read()).endsWith("\n"), "a line of the log");
      return await read();
    }));
    assert.equal(lines[1], lines[0]);
    assert.deepEqual(JSON.parse(lines[0]), { level: 30, msg: "started" });
  });

  test("every pair of the page is compared here", () => {
    const code = readFileSync(fileURLToPath(import.meta.url), "utf8");
    for (const name of pairs.keys()) assert.ok(code.includes(name), name);
    assert.ok(pairs.size >= 12);
  });
});

/**
 * Returns a field as it is compared: a type without its parameters, a location as a whole path, a list in lower case.
 */
function plain(field: string, { headers, url }: Response): string | undefined {
  const value = headers.get(field) ?? undefined;
  if (value === undefined) return undefined;
  if (field === "location") return new URL(value, url).pathname;
  return (field === "content-type" ? value.split(";")[0] : value).toLowerCase();
}

/** Whether a file of a folder has these bytes. */
async function isStored(folder: string, bytes: Uint8Array): Promise<boolean> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const files = await Promise.all(entries.map(({ name }) => readFile(join(folder, name))));
  return files.some((found) => found.equals(bytes));
}
