import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Block } from "./block.ts";
import { runtimeGlobals, untypedPackages } from "./ambient_types.ts";

const compiler = join(dirname(fileURLToPath(import.meta.url)), "../../node_modules/typescript/bin/tsc");

const compilerOptions = {
  target: "esnext",
  module: "nodenext",
  moduleDetection: "force",
  strict: true,
  noUncheckedIndexedAccess: true, // as `bun init` has it
  exactOptionalPropertyTypes: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
};

/**
 * Checks the types of all blocks at once, each as a module of its own in a user's strict project.
 *
 * @param project The project's folder, as {@linkcode RunOptions.project}, with `@types/node`.
 * @param node The Node that runs the compiler.
 * @returns What the compiler says, each beginning with `path:line`.
 */
export function checkBlocks(blocks: readonly Block[], project: string, node: string = process.execPath): string[] {
  // Blocks for Node are checked without the globals of the other runtimes.
  const onNode = blocks.filter(({ runtimes }) => runtimes.includes("node"));
  const elsewhere = blocks.filter(({ runtimes }) => !runtimes.includes("node"));
  return [
    ...checkTogether(onNode, untypedPackages, project, node),
    ...checkTogether(elsewhere, untypedPackages + runtimeGlobals, project, node),
  ];
}

function checkTogether(blocks: readonly Block[], ambient: string, project: string, node: string): string[] {
  if (blocks.length === 0) return [];
  mkdirSync(join(project, "blocks"), { recursive: true });
  const folder = mkdtempSync(join(project, "blocks/types-"));
  try {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts", "*.js"] }));
    writeFileSync(join(folder, "ambient.d.ts"), ambient);
    blocks.forEach(({ language, code }, i) => writeFileSync(join(folder, `${i}.${language}`), code));
    const { status, stdout, stderr, error } = spawnSync(node, [
      compiler,
      "--pretty",
      "false",
      "--checkers",
      "1",
      "-p",
      ".",
    ], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 << 20,
    });
    if (error !== undefined) throw error;
    if (status !== 0 && !/: error TS\d+: /.test(stdout)) {
      throw new TypeError(`tsc ended with ${status}:\n${stdout}${stderr}`);
    }
    return complaints(stdout, blocks);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function complaints(output: string, blocks: readonly Block[]): string[] {
  const said: string[] = [];
  // Indented lines continue an error message.
  for (const text of output.split(/\n(?! )/).filter((line) => line.trim() !== "")) {
    const match = /^(\d+)\.[jt]s\((\d+),\d+\): ([^]*)$/.exec(text);
    if (match !== null) {
      const { path, line } = blocks[Number(match[1])];
      said.push(`${path}:${line + Number(match[2]) - 1} (types): ${match[3]}`);
    } else {
      said.push(`(types): ${text}`);
    }
  }
  return said;
}
