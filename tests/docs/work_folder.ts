import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "./runtime_name.ts";
import { standInPorts, type StandIns } from "./stand_ins.ts";

/** The runtime of a block, and the folder in which it runs. */
export interface RunOptions {
  readonly runtime: RuntimeName;
  /** The program of the runtime, as {@linkcode process.execPath}. */
  readonly executable: string;
  /** A folder with `@millrace/streams` and the block's other imports installed; the block runs in a folder below. */
  readonly project: string;
  /** Origin of the server that replaces public hosts. */
  readonly origin: string;
  /** Variables of the environment beside, or in the place of, those that are inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A fresh copy of the fixture to run a block in. */
export interface WorkFolder {
  /** The folder around the copy, for files hidden from the block. */
  readonly outer: string;
  /** The copy itself. */
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

/** Builds of a site, which are there for a page's blocks beside an empty `uploads`; all other files they make themselves. */
const FOR_PAGES = ["dist", "dist-deployed"];

/**
 * Makes a copy of the fixture below the project's folder.
 *
 * @param isForPage Whether it is as the folder of a user who reads a page.
 */
export async function makeWorkFolder(
  name: string,
  { project, origin }: RunOptions,
  isForPage = false,
): Promise<WorkFolder> {
  const blocks = join(project, "blocks");
  mkdirSync(blocks, { recursive: true });
  const outer = mkdtempSync(join(blocks, `${name}-`));
  const path = join(outer, "work");
  for (const name of isForPage ? FOR_PAGES : ["."]) {
    cpSync(join(here, "fixture", name), join(path, name), { recursive: true });
  }
  mkdirSync(join(path, "uploads"));
  return {
    outer,
    path,
    standIns: { origin, ports: await standInPorts() },
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
    // Else who called `(text) => console.log(text)` is not on the stack.
    BUN_JSC_useTailCalls: "false",
    ...env,
  };
}
