import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "./runtime_name.ts";
import { type Setup, setUp } from "./setup.ts";
import { standInPorts, type StandIns } from "./stand_ins.ts";

/** The runtime of a block, and the folder in which it runs. */
export interface RunOptions {
  readonly runtime: RuntimeName;
  /** The program of the runtime, as {@linkcode process.execPath}. */
  readonly executable: string;
  /** A folder with `@millrace/streams` and all packages of its blocks installed; they run in folders below. */
  readonly project: string;
  /** A folder with `@millrace/streams` alone; pages' blocks run below, with the packages of their setup. */
  readonly pages?: string;
  /** Origin of the store that pages name as `http://127.0.0.1:7070`; by default `origin`. */
  readonly store?: string;
  /** Origin of the server that replaces public hosts. */
  readonly origin: string;
  /** The time limit for the blocks of a process, in ms. */
  readonly limit?: number;
  /** Variables of the environment beside, or in the place of, those that are inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder to run a block in. */
export interface WorkFolder {
  /** The folder around it, for files hidden from the block. */
  readonly outer: string;
  /** The folder itself. */
  readonly path: string;
  readonly standIns: StandIns;
  remove(): void;
}

const here = dirname(fileURLToPath(import.meta.url));

/** The arguments before the path of a module to run. */
export const leadingArguments: Readonly<Record<RuntimeName, readonly string[]>> = {
  node: [],
  bun: [],
  deno: ["run", "-A", "--no-check", "--quiet"],
};

/**
 * Makes a folder to run a block in: for a page's one that was empty before the page's setup, for others a copy of the
 * fixture.
 */
export async function makeWorkFolder(
  name: string,
  { project, pages = project, origin, store = origin }: RunOptions,
  setup?: Setup,
): Promise<WorkFolder> {
  const blocks = join(setup === undefined ? project : pages, "blocks");
  mkdirSync(blocks, { recursive: true });
  const outer = mkdtempSync(join(blocks, `${name}-`));
  const path = join(outer, "work");
  if (setup === undefined) {
    cpSync(join(here, "fixture"), path, { recursive: true });
    mkdirSync(join(path, "uploads"));
  } else {
    mkdirSync(path);
    await setUp(path, setup);
  }
  return {
    outer,
    path,
    standIns: { origin, isOfPage: setup !== undefined, ports: await standInPorts(store) },
    remove: () => rmSync(outer, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/**
 * Writes a module, for Node without its types: as Node itself strips them, which takes each process longer than all
 * else that it does.
 *
 * @returns Its path.
 */
export function writeModule(path: string, language: string, code: string, runtime: RuntimeName): string {
  const stripped = runtime === "node" && language === "ts" ? withoutTypes(code) : undefined;
  const file = `${path}.${stripped === undefined ? language : "js"}`;
  writeFileSync(file, stripped ?? code);
  return file;
}

/** Returns the code without types, in the same places; nothing if that is to be left to the runtime. */
function withoutTypes(code: string): string | undefined {
  try {
    return process.getBuiltinModule("node:module").stripTypeScriptTypes?.(code);
  } catch {
    return undefined; // Node will say what is wrong
  }
}

/** Returns the environment of processes in such a folder. */
export function environment({ project, env }: RunOptions, { standIns: { ports } }: WorkFolder): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...inherited } = process.env;
  return {
    ...inherited,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: join(project, "compiled"),
    // Where servers listen that name no port.
    DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${ports["8000"]}`,
    BUN_PORT: String(ports["3000"]),
    // With tail calls, the caller of `(text) => console.log(text)` would not be on the stack.
    BUN_JSC_useTailCalls: "false",
    ...env,
  };
}
