import type { Block } from "./block.ts";
import { runBlock, runTogether, stays } from "./run_block.ts";
import type { RunOptions } from "./work_folder.ts";

/** The number of processes that run at a time. */
const AT_A_TIME = 3;

/** The number of blocks that a process runs: its start takes longer than most blocks. */
const TOGETHER = 36;

/** The blocks that run alone: those that keep running, or change the state of the process. */
const alone = /\b(?:process|Deno|Bun|(?:un)?install|globalThis|addEventListener|setInterval|onmessage)\b/;

/**
 * Runs blocks but those of {@linkcode needsDatabase}, most of them some in a process and a few processes at a time, in
 * their order. One that fails beside others is run again alone: that decides.
 *
 * @returns For each block what {@linkcode runBlock} says, when it has ended.
 */
export function runBlocks(blocks: readonly Block[], options: RunOptions): Promise<string[]>[] {
  const outcomes = blocks.map(() => Promise.withResolvers<string[]>());
  for (const [i, block] of blocks.entries()) if (needsDatabase(block)) outcomes[i].resolve([]);
  const groups = grouped(blocks);
  const runGroup = async (group: readonly number[]): Promise<void> => {
    if (group.length === 0) return;
    if (group.length === 1) return outcomes[group[0]].resolve(await runBlock(blocks[group[0]], options));
    const { problems, ended } = await runTogether(group.map((i) => blocks[i]), options);
    if (ended === undefined) {
      for (const [at, i] of group.entries()) {
        outcomes[i].resolve(problems[at].length === 0 ? [] : await runBlock(blocks[i], options));
      }
      return;
    }
    // The block that was running failed, or something that one before it has left: the others are still some in a process.
    const at = ended < group.length ? ended : Math.floor(ended / 2);
    for (const part of [group.slice(0, at), [group[at]], group.slice(at + 1)]) await runGroup(part);
  };
  const runNext = async (): Promise<void> => {
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      await runGroup(group).catch((error) => group!.forEach((i) => outcomes[i].reject(error)));
    }
  };
  for (let i = 0; i < AT_A_TIME; i++) void runNext();
  return outcomes.map(({ promise }) => promise);
}

/** Whether a block is for a server that is not here: `tests/batch/sinks_test.ts` runs it with one. */
export function needsDatabase({ code }: Block): boolean {
  return code.includes("process.env.DATABASE_URL");
}

/** Returns the places of the blocks that share a process: of pages or of sources. */
function grouped(blocks: readonly Block[]): number[][] {
  const groups: number[][] = [];
  const open = { pages: [] as number[], sources: [] as number[] };
  for (const [i, block] of blocks.entries()) {
    if (needsDatabase(block)) continue;
    const kind = block.setup === undefined ? "sources" : "pages";
    if (alone.test(block.code) || stays(block)) groups.push([i]);
    else {
      if (open[kind].length % TOGETHER === 0) groups.push(open[kind] = []);
      open[kind].push(i);
    }
  }
  return groups;
}
