import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, openBrowser } from "../e2e/chromium.ts";
import { builtPackage } from "../support/built_package.ts";
import type { Mode } from "./mode.ts";
import type { Line } from "./result.ts";
import { scriptsOf, scriptsTogether, sourceOf } from "./test_file.ts";

const here = dirname(fileURLToPath(import.meta.url));

/** Chromium, with the suite and the package's modules for bundlers at hand. */
export interface ChromiumRunner {
  /** Runs test files in a separate worker and returns their lines; the last one is missing if they do not end. */
  readonly run: (files: readonly string[], mode: Mode, seconds: number) => Promise<Line[]>;
  readonly close: () => Promise<void>;
}

/** Opens Chromium for the suite in `root`. */
export async function openChromiumRunner(root: string): Promise<ChromiumRunner> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-wpt-"));
  const server = await serveSuite(root, await bundledModes());
  const browser = await openBrowser(join(folder, "profile"), ["--js-flags=--expose-gc"]);
  await browser.page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    run: (files, mode, seconds) => runInWorker(browser, files, mode, seconds),
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns `mode.ts` bundled with the package as bundlers for browsers see it. */
async function bundledModes(): Promise<string> {
  const modules = join(await builtPackage(), "modules");
  const { outputFiles } = await build({
    entryPoints: [join(here, "mode.ts")],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "warning",
    plugins: [{
      name: "as-bundlers-get-it",
      setup({ onResolve }) {
        onResolve({ filter: /\/lib\/streams\/\w+\.ts$/ }, ({ path }) => {
          return { path: join(modules, path.replace(/^(?:\.\.\/)+/, "").replace(/\.ts$/, ".js")) };
        });
      },
    }],
  });
  return outputFiles[0]!.text;
}

async function serveSuite(root: string, modes: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    try {
      const isScript = /\.js$/.test(pathname);
      const text = pathname === "/"
        ? "<!doctype html>"
        : pathname === "/mode.js"
        ? modes
        : pathname === "/worker.js"
        ? workerOf(root, searchParams.get("files")!.split(","), searchParams.get("mode") as Mode)
        : searchParams.has("together")
        ? scriptsTogether(root, [pathname.slice(1)]).at(-1)!.code
        : sourceOf(root, pathname.slice(1));
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(text);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** Returns the script of a worker that runs test files and posts their lines. */
function workerOf(root: string, files: readonly string[], mode: Mode): string {
  const paths = files.length === 1
    ? scriptsOf(root, files[0]!).map(({ path }) => `/${path}`)
    : scriptsTogether(root, files).map(({ path }) => files.includes(path) ? `/${path}?together` : `/${path}`);
  return `
self.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
self.META_TITLE = ${JSON.stringify(files.join())};
(${runTests})(${JSON.stringify(mode)}, ${JSON.stringify(paths)}).catch((error) => {
  postMessage({ fault: String(error?.stack ?? error) });
  postMessage({ done: true });
});`;
}

/** Runs in the worker. */
async function runTests(mode: Mode, paths: readonly string[]): Promise<void> {
  const worker = globalThis as unknown as {
    importScripts(...urls: string[]): void;
    postMessage(line: Line): void;
    add_result_callback(told: (test: { name: string; status: number; message: string | null }) => void): void;
    add_completion_callback(told: (_: unknown, outcome: { status: number; message: string | null }) => void): void;
    done(): void;
  };
  const specifier = "/mode.js";
  await (await import(specifier)).enter(mode);
  const [harness, ...tests] = paths;
  worker.importScripts(harness!);
  const statuses = ["passed", "failed", "timed out", "not run", "unsupported"] as const;
  worker.add_result_callback(({ name, status, message }) => {
    worker.postMessage({ name, status: statuses[status] ?? "failed", message: message ?? "" });
  });
  worker.add_completion_callback((_, { status, message }) => {
    if (status === 1) worker.postMessage({ fault: message ?? "the harness failed" });
    setTimeout(() => worker.postMessage({ done: true }), 5);
  });
  worker.importScripts(...tests);
  worker.done();
}

async function runInWorker(
  { page }: Browser,
  files: readonly string[],
  mode: Mode,
  seconds: number,
): Promise<Line[]> {
  return await page.evaluate(({ path, seconds }) => {
    const lines: Line[] = [];
    const worker = new Worker(path);
    return new Promise<Line[]>((ended) => {
      const end = (): void => {
        worker.terminate();
        ended(lines);
      };
      setTimeout(end, seconds * 1000);
      worker.onerror = ({ message }) => void lines.push({ fault: `uncaught: ${message}` });
      worker.onmessage = ({ data }) => {
        lines.push(data);
        if ("done" in data) end();
      };
    });
  }, { path: `/worker.js?files=${encodeURIComponent(files.join())}&mode=${mode}`, seconds });
}
