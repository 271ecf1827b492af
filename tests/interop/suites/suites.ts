/**
 * Other people's suites, each run as its project runs it: with the runtime's own streams, and with ours installed.
 *
 * @module
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { type Ended, run } from "../../support/processes.ts";
import { root, type runtime } from "../../support/runtime.ts";
import { bundledInstall } from "../bundled_install.ts";
import { type Cases, junitCases, tapCases, vitestCases } from "./cases.ts";

/** A project whose tests can be run. */
export interface Suite {
  readonly name: string;
  /** The variable of the environment that names a checkout, with its dependencies installed. */
  readonly variable: string;
  readonly runtime: typeof runtime;
  /** A file that the checkout has. */
  readonly mark: string;
  readonly run: (folder: string, installed: boolean) => Promise<Cases>;
  /** Tests that must fail with this package, by name, and the reasons. */
  readonly differences: readonly { readonly test: RegExp; readonly reason: string }[];
}

const install = join(root, "lib/streams/install.ts");
/** Modules that are imported take a turn longer to start, which a test of Node's notices. */
const nothing = "data:text/javascript,";

/** Runs a program of Node, and all that it starts, with ours installed or not. */
function node(args: readonly string[], folder: string, installed: boolean, before = ""): Promise<Ended> {
  const imports = `${before} --import ${installed ? install : nothing}`;
  // Without the variable node:test would take its own run for a file of this one.
  return run(process.execPath, args, folder, { NODE_OPTIONS: imports, NODE_TEST_CONTEXT: undefined });
}

/** Runs steps with a path for a report, and reads that. */
async function reported(steps: (path: string) => Promise<Ended>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-suite-"));
  try {
    const path = join(folder, "report");
    const { stdout, stderr } = await steps(path);
    if (!existsSync(path)) throw new Error(`there is no report:\n${stdout.slice(-2000)}${stderr.slice(-2000)}`);
    return readFileSync(path, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function vitest(folder: string, installed: boolean, ...args: string[]): Promise<Cases> {
  const script = join(folder, "node_modules/vitest/vitest.mjs");
  const report = await reported((path) =>
    node(
      [script, "run", "--coverage.enabled=false", "--reporter=json", `--outputFile=${path}`, ...args],
      folder,
      installed,
    )
  );
  return vitestCases(report, folder);
}

async function ava(folder: string, installed: boolean): Promise<Cases> {
  const script = join(folder, "node_modules/ava/entrypoints/cli.mjs");
  return tapCases((await node([script, "--tap", "--timeout=60s"], folder, installed)).stdout);
}

async function nodeTest(folder: string, installed: boolean, pattern: string, before?: string): Promise<Cases> {
  const files = globSync(pattern, { cwd: folder }).sort();
  const args = ["--test", "--test-timeout=20000", "--test-reporter=tap", ...files];
  return tapCases((await node(args, folder, installed, before)).stdout);
}

/** Node's own tests are programs: each passes if it ends with 0. */
async function nodeItself(folder: string, installed: boolean): Promise<Cases> {
  const about = /ReadableStream|WritableStream|TransformStream|stream\/web|webstream/;
  const files = globSync("test/parallel/*.{js,mjs}", { cwd: folder }).sort().filter((file) =>
    about.test(readFileSync(join(folder, file), "utf8")) || /^test-(blob|fetch)/.test(basename(file))
  );
  const cases = new Map<string, boolean>();
  for (const file of files) {
    const [, flags = ""] = /^\/\/ Flags: (.*)$/m.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    const args = [...flags.split(" ").filter(Boolean), "--import", installed ? install : nothing, file];
    const { code } = await run("timeout", ["30", process.execPath, ...args], folder);
    cases.set(basename(file), code === 0);
  }
  return cases;
}

const denoFiles =
  "abort_controller blob body broadcast_channel cache_api command event_source file filereader files http " +
  "message_channel process read_file read_text_file request response streams structured_clone text_encoding url " +
  "write_file write_text_file";

/** Deno's own tests want its standard library, of which `DENO_STD_ROOT` names a checkout. */
async function denoItself(folder: string, installed: boolean): Promise<Cases> {
  const std = resolve(process.env.DENO_STD_ROOT!);
  const imports: Record<string, string> = {};
  for (const path of globSync("*/deno.json", { cwd: std })) {
    const { name, exports } = JSON.parse(readFileSync(join(std, path), "utf8"));
    const all: Record<string, string> = typeof exports === "string" ? { ".": exports } : exports ?? {};
    for (const [subpath, file] of Object.entries(all)) {
      imports[name + subpath.slice(1)] = `file://${join(std, dirname(path), file)}`;
    }
  }
  const scratch = mkdtempSync(join(tmpdir(), "millrace-suite-"));
  const map = join(scratch, "imports.json");
  writeFileSync(map, JSON.stringify({ imports }));
  const preload = installed ? ["--preload", await bundledInstall(scratch)] : [];
  const cases = new Map<string, boolean>();
  const flags = ["test", "-A", "--no-check", "--no-lock", "--unstable-net", `--import-map=${map}`];
  // One by one: a test that ends the process must not take the others with it.
  for (const name of denoFiles.split(" ")) {
    const file = `tests/unit/${name}_test.ts`;
    const report = await reported((path) => {
      const args = [...flags, `--junit-path=${path}`, ...preload, file];
      return run("timeout", ["120", process.execPath, ...args], folder);
    });
    for (const [name, passed] of junitCases(report)) cases.set(name, passed);
  }
  rmSync(scratch, { recursive: true });
  return cases;
}

const fastWebstreams = join(root, "tests/interop/suites/instead_of_fast_webstreams.ts");

const compression = join(root, "tests/interop/suites/instead_of_compression.ts");

const internals = "looks into what only Node's own classes have inside";

/** All suites. */
export const suites: readonly Suite[] = [
  {
    name: "Node's own tests of web streams",
    variable: "NODE_SOURCE_ROOT",
    runtime: "node",
    mark: "test/parallel/test-whatwg-readablestream.js",
    run: nodeItself,
    differences: [
      { test: /^test-(whatwg-(readable|writable)stream|webstreams-pipeto-write-request)\.js$/, reason: internals },
      { test: /^test-whatwg-webstreams-adapters-to-stream(duplex|writable)\.js$/, reason: internals },
      { test: /^test-structuredClone-global\.js$/, reason: "Node itself makes the streams that are received" },
      {
        test: /^test-webstream-readablestream-pipeto\.js$/,
        reason: "Node rejects with a copy of an AbortError of its own, where the standard has the signal's reason",
      },
      {
        test: /^test-whatwg-readablestream-byob-read-min\.js$/,
        reason: 'Node refuses "1" for the number 1, which Web IDL converts',
      },
    ],
  },
  {
    name: "undici's tests of fetch",
    variable: "UNDICI_ROOT",
    runtime: "node",
    mark: "test/fetch",
    // It asks the prototypes of streams for their class, as nothing can answer for the runtime's own once ours are the
    // globals; so it has to be imported before.
    run: (folder, installed) => nodeTest(folder, installed, "test/fetch/*.js", `--import ${join(folder, "index.js")}`),
    differences: [],
  },
  {
    name: "Hono's tests",
    variable: "HONO_ROOT",
    runtime: "node",
    mark: "src/hono.ts",
    run: (folder, installed) => vitest(folder, installed, "--project", "main"),
    differences: [],
  },
  {
    name: "srvx's tests",
    variable: "SRVX_ROOT",
    runtime: "node",
    mark: "src",
    run: (folder, installed) => vitest(folder, installed),
    differences: [],
  },
  { name: "ky's tests", variable: "KY_ROOT", runtime: "node", mark: "distribution", run: ava, differences: [] },
  {
    name: "get-stream's tests",
    variable: "GET_STREAM_ROOT",
    runtime: "node",
    mark: "source",
    run: ava,
    differences: [],
  },
  {
    name: "fast-webstreams' tests",
    variable: "FAST_WEBSTREAMS_ROOT",
    runtime: "node",
    mark: "test/patch.test.js",
    // Instead of installing ours: it is itself what would be installed.
    run: async (folder, installed) => {
      const files = globSync("test/*.test.js", { cwd: folder }).sort();
      const args = ["--test", "--test-timeout=20000", "--test-reporter=tap", ...files];
      const imports = `--import ${installed ? fastWebstreams : nothing}`;
      const { stdout } = await run(process.execPath, args, folder, {
        NODE_OPTIONS: imports,
        NODE_TEST_CONTEXT: undefined,
      });
      return tapCases(stdout);
    },
    differences: [
      { test: /^kNativeOnly |^opt3b: native first-hop/, reason: "makes objects that only its own classes know" },
    ],
  },
  {
    name: "compression's tests",
    variable: "COMPRESSION_ROOT",
    runtime: "node",
    mark: "test/compression.js",
    // Ours in place of the package itself.
    run: async (folder, installed) => {
      const imports = `--import ${installed ? compression : nothing}`;
      const args = [join(folder, "node_modules/mocha/bin/mocha.js"), "--exit", "--reporter=tap", "test"];
      const { stdout } = await run(process.execPath, args, folder, { NODE_OPTIONS: imports });
      return tapCases(stdout.replace(/^((?:not )?ok \d+) (?!- )/gm, "$1 - "));
    },
    differences: [
      { test: /should skip HEAD$/, reason: "HEAD has the fields of GET, as RFC 9110 would have it" },
      {
        test: /should (transfer chunked|remove Content-Length for chunked|transfer large bodies)$/,
        reason: "what is given to end() is compressed in one call, and has its length",
      },
      { test: /should return false writing after end$/, reason: "write(undefined) throws, as without a middleware" },
      { test: /deflate$/, reason: "ours has no deflate: whoever takes it takes gzip" },
      { test: /should compress when enforceEncoding is (gzip|brotli)$/, reason: "ours has no such option" },
    ],
  },
  {
    name: "Deno's own tests",
    variable: "DENO_SOURCE_ROOT",
    runtime: "deno",
    mark: "tests/unit/streams_test.ts",
    run: denoItself,
    differences: [
      { test: /readableStreamFromWithStringThrows$/, reason: "asks for Deno's words" },
    ],
  },
];
