/** Checks and loads a server, by lines of JSON on its input; answers with entity tags, or with the figures of the load. */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { answerTo, checkedTags } from "./check.ts";
import { loadByWrk } from "./wrk.ts";

/** A server, and the paths and fields of the requests to it. */
export interface Visit {
  readonly port: number;
  readonly folder: string;
  readonly paths: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  /** Which entity tag to name with each path, if any. */
  readonly tags?: readonly string[];
}

/** A question: a check of all responses, or requests for a number of seconds. */
export type Question =
  | Visit & { readonly check: "content" | "revalidation" | "always 304" }
  | Visit & { readonly seconds: number };

/** The answer to a check: the entity tag for each path, `""` if the answer has none. */
export interface Checked {
  readonly tags: readonly string[];
}

/** The answer to a load. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
}

const CONNECTIONS = 10;

async function load(visit: Visit & { readonly seconds: number }): Promise<Load> {
  return await loadByWrk(visit, CONNECTIONS) ?? await loadByNode(visit);
}

/** Loads a server without wrk: slow enough to hide much of the difference in requests a second, but not in CPU time. */
async function loadByNode(visit: Visit & { readonly seconds: number }): Promise<Load> {
  const start = performance.now();
  const end = start + visit.seconds * 1000;
  let requests = 0;
  const visitor = async (): Promise<void> => {
    while (performance.now() < end) {
      const { status } = await answerTo(visit, requests++ % visit.paths.length);
      if (status >= 400) throw new TypeError(`a request was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, visitor));
  return { requests, perSecond: requests / (performance.now() - start) * 1000 };
}

async function answer(question: Question): Promise<Checked | Load> {
  return "check" in question ? { tags: await checkedTags(question, question.check) } : await load(question);
}

for await (const line of createInterface({ input: process.stdin })) {
  const said: Checked | Load | Failure = await answer(JSON.parse(line) as Question)
    .catch((error) => ({ failure: String(error).split("\n")[0] }));
  console.log(JSON.stringify(said));
}
process.exit();
