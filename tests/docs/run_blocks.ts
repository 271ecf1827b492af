import type { Block } from "./block.ts";
import { runBlock } from "./run_block.ts";
import type { RunOptions } from "./work_folder.ts";

/** How many blocks run at a time. */
const AT_A_TIME = 3;

/**
 * Runs blocks, a few at a time, in their order.
 *
 * @returns For each block what {@linkcode runBlock} says, when it has ended.
 */
export function runBlocks(blocks: readonly Block[], options: RunOptions): Promise<string[]>[] {
  const outcomes = blocks.map(() => Promise.withResolvers<string[]>());
  let next = 0;
  const runNext = async (): Promise<void> => {
    for (let i = next++; i < blocks.length; i = next++) {
      await runBlock(blocks[i], options).then(outcomes[i].resolve, outcomes[i].reject);
    }
  };
  for (let i = 0; i < AT_A_TIME; i++) void runNext();
  return outcomes.map(({ promise }) => promise);
}
