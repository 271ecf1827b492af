/**
 * The output of each product for a small site, byte by byte. `.ci/systems.ts` has Linux write it to the file named by
 * `MILLRACE_PRODUCTS`, and Windows compare: nothing may differ.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { appendFile, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import test, { after } from "node:test";
import { createServer, request } from "node:http";
import { followFile, RotatingFileWritable } from "../../lib/files/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { LineStream } from "../../lib/text/mod.ts";
import { createUploadHandler } from "../../lib/upload/mod.ts";
import { mainHere } from "../cli/main_here.ts";
import { isLong } from "../support/long_run.ts";
import { Serving } from "../cli/serving.ts";
import { writeSite } from "../precompress/site.ts";
import { inProject } from "../build/project.ts";
import { sourceText } from "../support/bytes.ts";
import { millrace } from "../support/command.ts";
import { contents, inFolder, listed, writeTree } from "../support/folders.ts";
import { runtime } from "../support/runtime.ts";
import { pause, until } from "../support/waits.ts";

type Made = Record<string, unknown>;

const place = process.env.MILLRACE_PRODUCTS;
const reference: Record<string, Made> | undefined = place !== undefined && existsSync(place)
  ? JSON.parse(readFileSync(place, "utf8"))
  : undefined;
const results: Record<string, Made> = {};
/** The reason to skip the test on Linux, unless the results are wanted: each product has its own tests. */
const skip = place === undefined && process.platform === "linux" && !isLong && "nothing compares its results";
after(() => {
  if (place !== undefined && reference === undefined) writeFileSync(place, JSON.stringify(results));
});

const hash = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("base64url");

/** Returns the files below a folder, by the hash of their bytes. */
async function tree(folder: string, paths?: readonly string[]): Promise<Made> {
  const files = Object.entries(await contents(folder)).filter(([path]) =>
    paths?.includes(path) ?? !path.includes("millrace-lock-")
  );
  return Object.fromEntries(files.map(([path, bytes]) => [path, hash(bytes)]));
}

function same(product: string, made: Made): void {
  const plain = JSON.parse(JSON.stringify(made));
  results[product] = plain;
  if (reference !== undefined) assert.deepEqual(plain, reference[product], `${product}: other bytes than on Linux`);
}

const quick = ["--level-brotli", "4", "--level-zstd", "3", "--level-gzip", "3", "--jobs", "1"];

async function done(...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await mainHere([...words, ...quick]);
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** Creates a site and its previous version, with times that are equal everywhere. */
async function inSite(use: (site: string, former: string, out: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const [site, former] = [join(folder, "site"), join(folder, "former")];
    await writeSite(site);
    await writeTree(former, { "assets/app.00000000.js": sourceText(39_000, 1) });
    for (const path of await listed(former)) await utimes(join(former, path), 1.7e9, 1.7e9);
    await use(site, former, join(folder, "out"));
  });
}

test(
  "precompress makes the same in place, with --out and --previous, and --check and --clean agree",
  { skip },
  () =>
    inSite(async (site, former, out) => {
      await done(site, "--out", out, "--previous", former, "--site-dictionary");
      const made = await tree(out);
      assert.ok(Object.keys(made).some((path) => path.endsWith(".dcz")));
      same("--out", made);
      const times = await Promise.all(
        (await listed(out)).map(async (path) => [path, (await stat(join(out, path))).mtimeMs]),
      );
      same("times", Object.fromEntries(times.filter(([path]) => !String(path).startsWith("."))));
      await done(site, "--out", out, "--previous", former, "--site-dictionary", "--check");
      assert.deepEqual(await tree(out), made);
      await done(site);
      same("in place", await tree(site));
      await done(site, "--check");
      await rm(join(site, "unknown.bin"));
      // Wine keeps the name where the case alone would change.
      await rename(join(site, "assets/style.css"), join(site, "other.css"));
      await rename(join(site, "other.css"), join(site, "assets/Style.css"));
      await done(site);
      same("once more", await tree(site));
      const { status } = await mainHere([site, "--clean"]);
      assert.equal(status, 0);
      same("--clean", await tree(site));
    }),
);

test(
  "a run that is killed is completed by the next one, with the bytes of one that was not",
  { skip },
  () =>
    inSite(async (site, _, out) => {
      await writeTree(
        site,
        Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.js`, sourceText(60_000, i)])),
      );
      for (const path of await listed(site)) await utimes(join(site, path), 1.7e9, 1.7e9);
      const words = [site, "--out", out, "--level-brotli", "9", "--level-zstd", "12", "--level-gzip", "3"];
      const { status } = await millrace(words, (child) => {
        const isUnderWay = async () => (await readdir(out).catch(() => [])).some((name) => name.endsWith(".br"));
        const kill = async () => { // however long that takes under Wine
          while (child.exitCode === null && !await isUnderWay()) await pause(20);
          child.kill("SIGKILL");
        };
        void kill();
      });
      assert.notEqual(status, 0, "it was killed");
      const again = await mainHere(words);
      assert.equal(again.status, 0, again.stderr);
      same("killed", await tree(out));
    }),
);

/** Returns a server's response for a path. */
async function answer(port: number, path: string, headers: Record<string, string>): Promise<unknown> {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request({ port, host: "127.0.0.1", path, headers }, resolve).once("error", reject).end();
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of response) pieces.push(piece);
  const told = [
    "content-encoding",
    "content-type",
    "content-range",
    "content-length",
    "cache-control",
    "vary",
    "last-modified",
  ];
  return [response.statusCode, ...told.map((name) => response.headers[name]), hash(Buffer.concat(pieces))];
}

test(
  "millrace serve and a static handler answer the same, and analyze finds the same",
  { skip },
  () =>
    inSite(async (site) => {
      await done(site);
      const asked = [
        ...["br", "zstd", "gzip", "identity"].map((coding) => ["/", { "accept-encoding": coding }] as const),
        ["/assets/app.4f3a9c1e.js", { range: "bytes=100-999" }],
        ["/assets/deep/er/data.json", { "if-modified-since": new Date(1.8e12).toUTCString() }],
        ...["/ASSETS/style.css", "/assets%5Cstyle.css", "/assets/style.css.", "/assets/style.css::$DATA", "/C:/"].map(
          (path) => [path, {}] as const,
        ),
        ...["/..%5Csite/small.txt", "/nul", "/aux.txt", "/.millrace-precompress.json", "/SMALL~1.TXT", "/small.txt%20"]
          .map(
            (path) => [path, {}] as const,
          ),
      ] as const;
      const answers = async (port: number): Promise<Made> => {
        const made: Made = {};
        for (const [path, headers] of asked) {
          made[`${path} ${JSON.stringify(headers)}`] = await answer(port, path, headers);
        }
        return made;
      };
      await Serving.during([site], async ({ port, url }) => {
        same("serve", await answers(port));
        const { status, stdout, stderr } = await mainHere(["analyze", url, "--json"]);
        assert.ok(status === 0 || status === 1, stderr);
        same("analyze", {
          stdout: stdout.replaceAll(String(port), "PORT").replaceAll(/"(?:ms|milliseconds|time|date)": *[^,}]+/g, ""),
        });
      });
      const handler = await createStaticHandler(site);
      const server = createServer(handler.node).listen(0, "127.0.0.1");
      try {
        await until(() => server.listening, "the server");
        same("static handler", await answers((server.address() as { port: number }).port));
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await handler.close?.();
      }
    }),
);

/** Returns the reason why a bundler's program is missing for this system; under Wine, npm installed those of Linux. */
function lacksPackage(name: string): string | false {
  if (process.platform !== "win32") return false;
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return false;
  } catch {
    return `${name} is not installed`;
  }
}

test("a build with Vite is compressed to the same", {
  skip: skip || runtime !== "node" && "a program for Node" || lacksPackage("@rolldown/binding-win32-x64-msvc"),
}, () =>
  inProject(async (root) => {
    const [{ build }, { precompress }] = await Promise.all([import("vite"), import("../../lib/build/vite.ts")]);
    await build({
      root,
      configFile: false,
      logLevel: "silent",
      plugins: [precompress({ jobs: 1, levels: { brotli: 4 } })],
    });
    same("Vite", await tree(join(root, "dist")));
  }));

test("a build with esbuild is compressed to the same", {
  skip: skip || runtime !== "node" && "a program for Node" || lacksPackage("@esbuild/win32-x64"),
}, () =>
  inProject(async (root) => {
    const [{ build, stop }, { precompress }] = await Promise.all([
      import("esbuild"),
      import("../../lib/build/esbuild.ts"),
    ]);
    await build({
      absWorkingDir: root,
      entryPoints: ["src/main.js", "index.html"],
      outdir: "dist",
      bundle: true,
      splitting: true,
      format: "esm",
      loader: { ".svg": "file", ".html": "copy" },
      logLevel: "silent",
      plugins: [precompress({ jobs: 1, levels: { brotli: 4 } })],
    });
    await stop();
    same("esbuild", await tree(join(root, "dist")));
  }));

test(
  "a series rotates, is compressed, restarted and followed to the same files and lines",
  { skip },
  () =>
    inFolder(async (folder) => {
      const lines = Array.from({ length: 400 }, (_, i) => `line ${i} of the log\n`);
      const signal = AbortSignal.timeout(100_000);
      const followed = await followFile(join(folder, "app.log"), {
        series: true,
        start: "beginning",
        interval: 10,
        signal,
      });
      const read: string[] = [];
      const reading = (async () => {
        for await (const line of followed.pipeThrough(new LineStream())) {
          if (read.push(`${line}\n`) === lines.length) break;
        }
      })();
      const options = {
        directory: folder,
        name: "app.log",
        maxFileSize: 1500,
        append: true,
        compress: "gzip",
      } as const;
      for (const [from, to] of [[0, 200], [200, 400]]) {
        const writer = new RotatingFileWritable(options).getWriter();
        for (const line of lines.slice(from, to)) await writer.write(line);
        await writer.close();
      }
      await reading;
      assert.deepEqual(read, lines);
      // What is complete is compressed later, as there is time.
      const files = async () => (await listed(folder)).filter((path) => !path.startsWith("."));
      await until(async () => {
        await new RotatingFileWritable(options).close();
        return (await files()).every((path) => path === "app-00006.log" || path.endsWith(".gz"));
      }, "the compression of all complete files");
      same("rotation", await tree(folder, await files()));

      const plain = join(folder, "plain.log");
      await appendFile(plain, "before\n");
      const found: string[] = [];
      const all = (async () => {
        const bytes = await followFile(plain, { start: "beginning", interval: 10, signal });
        for await (const line of bytes.pipeThrough(new LineStream())) if (found.push(line) === 2) break;
      })();
      await until(() => found.length === 1, "the first line");
      await rename(plain, `${plain}.1`);
      await appendFile(plain, "after\n");
      await all;
      assert.deepEqual(found, ["before", "after"]);
    }),
);

test(
  "uploads are stored the same: one file, a form, in pieces, and under names of every kind",
  { skip },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "uploads/there.txt": "there" });
      const directory = join(folder, "uploads");
      const uploads = createUploadHandler({ directory, maxBytes: 1e6, resumable: true, log() {} });
      const ask = (method: string, path: string, body: BodyInit, headers: HeadersInit = {}): Promise<Response> =>
        uploads.fetch(new Request(new URL(path, "http://localhost"), { method, body, headers }));
      const made: Made = {};
      made.one = (await ask("PUT", "/one.bin", sourceText(100_000))).status;
      const form = new FormData();
      form.set("title", "Film");
      form.set("film", new File([sourceText(50_000, 2)], "film.mp4"));
      const { files: [{ name }] } = await (await ask("POST", "/", form)).json();
      made.form = hash(await readFile(join(directory, name)));
      const version = { "upload-draft-interop-version": "8" };
      const begun = await ask("POST", "/pieces.txt", "a ", { ...version, "upload-complete": "?0" });
      const type = { "content-type": "application/partial-upload" };
      const rest = { ...version, ...type, "upload-complete": "?1", "upload-offset": "2" };
      made.pieces = [begun.status, (await ask("PATCH", begun.headers.get("location")!, "file", rest)).status];
      // Windows refuses the names of devices and streams. What has another name there must not be reached by it.
      const names = [
        "CON",
        "nul",
        "aux.txt",
        "a.txt.",
        "a.txt%20",
        "there.txt::$DATA",
        "C:there.txt",
        "C%3A/x",
        "%5Cx",
        "..%5Cx",
      ];
      const statuses: Made = {};
      for (const name of [...names, "THERE.TXT", ".hidden", "%2e%2e%2fx", "THERE~1.TXT"]) {
        statuses[name] = (await ask("PUT", `/${name}`, "x")).status;
      }
      if (process.platform === "win32") {
        for (const name of names) assert.ok(Number(statuses[name]) >= 400, `${name}: ${statuses[name]}`);
      }
      assert.deepEqual(await readdir(folder), ["uploads"]);
      const files = Object.entries(await tree(directory));
      const stored = files.filter(([path]) => ["one.bin", "pieces.txt", "there.txt"].includes(path));
      same("uploads", { ...made, ...Object.fromEntries(stored) });
    }),
);
