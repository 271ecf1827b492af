import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import type { Pipelines } from "./pipelines.ts";
import { Tally } from "./tally.ts";

function linesOf(path: string): Interface {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

/** A `line` event for each. */
export const byEvents: Pipelines = {
  async lines(path): Promise<string> {
    const tally = new Tally();
    await once(linesOf(path).on("line", tally.line), "close");
    return tally.result;
  },
  async numbers(path): Promise<string> {
    const tally = new Tally();
    await once(linesOf(path).on("line", (line) => tally.number(Number(line))), "close");
    return tally.result;
  },
};

/** Pipelines as the manual shows them. */
export const iterated: Pipelines = {
  async lines(path): Promise<string> {
    const tally = new Tally();
    for await (const line of linesOf(path)) tally.line(line);
    return tally.result;
  },
};
