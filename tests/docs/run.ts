/**
 * Checks and runs the blocks of pages, and of the comments of sources, on every runtime that they name:
 *
 *   node tests/docs/run.ts [--only RUNTIME] [--no-types] [PATH…]
 *
 * A path is a page, a source or a folder, and may end with `:LINE` for the one block there; without, all are run.
 */
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  type Block,
  checkBlocks,
  denoCheckBlocks,
  documentationFiles,
  makeProject,
  readBlocks,
  runBlocks,
  runtimeNames,
  startPeerServer,
} from "./blocks.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", multiple: true }, "no-types": { type: "boolean" } },
});

function chosenBlocks(): Block[] {
  if (positionals.length === 0) return readBlocks(documentationFiles(root), root);
  return positionals.flatMap((argument) => {
    const [, path, line] = /^(.*?)(?::(\d+))?$/.exec(argument)!;
    const blocks = readBlocks([relative(root, join(process.cwd(), path))], root);
    return line === undefined ? blocks : blocks.filter((block) => holds(block, Number(line)));
  });
}

/** Whether a line is one of a block's, its fences included. */
function holds(block: Block, line: number): boolean {
  return line >= block.line - 1 && line < block.line + block.code.split("\n").length;
}

/** Returns the complaints of the TypeScript compiler, and of Deno unless only other runtimes are chosen. */
function typeComplaints(blocks: readonly Block[]): string[] {
  const complaints = checkBlocks(blocks, project.folder);
  if (values.only?.includes("deno") === false) return complaints;
  return [...complaints, ...denoCheckBlocks(blocks, project.folder, join(root, "node_modules/.bin/deno"))];
}

const project = await makeProject(root, !values["no-types"]);
const peer = await startPeerServer();
const options = { project: project.folder, pages: project.pages, origin: peer.origin };
let failed = 0;
let passed = 0;
try {
  const blocks = chosenBlocks();
  if (blocks.length === 0) throw new TypeError(`${positionals.join(", ")}: no block there`);
  const complaints = values["no-types"] ? [] : typeComplaints(blocks);
  failed += complaints.length;
  for (const complaint of complaints) console.error(complaint);
  for (const runtime of runtimeNames.filter((name) => values.only?.includes(name) ?? true)) {
    const chosen = blocks.filter(({ runtimes }) => runtimes.includes(runtime));
    const executable = join(root, "node_modules/.bin", runtime);
    for (const outcome of runBlocks(chosen, { ...options, runtime, executable })) {
      const problems = await outcome;
      for (const problem of problems) console.error(problem);
      if (problems.length > 0) failed++;
      else passed++;
    }
  }
} finally {
  project.remove();
  await peer.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
