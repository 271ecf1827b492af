import { type Profiler as Inspected, Session } from "node:inspector";
import type { Parts } from "./questions.ts";

/** A part of a program that CPU time goes to. */
export type Part = "render" | "streams" | "server" | "program" | "runtime";

const PARTS: readonly (readonly [Part, RegExp])[] = [
  ["render", /\/react(-dom)?\//],
  ["streams", /\/lib\/streams\/|internal\/webstreams\/|ext:deno_web\/06_streams/],
  ["program", /\/bench\/apps\//],
  ["server", /./],
];

const LISTED = 25;

/** The CPU profiler of this process. */
export class Profiler {
  readonly #session: Session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#post("Profiler.enable");
    await this.#post("Profiler.start");
  }

  async stop(): Promise<Parts> {
    const { profile } = await this.#post<{ profile: Inspected.Profile }>("Profiler.stop");
    this.#session.disconnect();
    return partsOf(profile);
  }

  #post<Result = unknown>(method: string): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, (error, result) => error ? reject(error) : resolve(result as Result));
    });
  }
}

/** Sums the time that each function took by itself; built-in functions belong to the part that called them. */
function partsOf({ nodes, samples = [], timeDeltas = [] }: Inspected.Profile): Parts {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, Part>();
  const visit = (id: number, caller: Part): void => {
    const { callFrame, children = [] } = byId.get(id)!;
    const part = PARTS.find(([, url]) => url.test(callFrame.url))?.[0] ?? caller;
    parts.set(id, part);
    for (const child of children) visit(child, part);
  };
  visit(nodes[0].id, "runtime");
  const times: Record<Part, number> = { render: 0, streams: 0, server: 0, program: 0, runtime: 0 };
  const functions = new Map<string, number>();
  let all = 0;
  for (const [i, id] of samples.entries()) {
    const { callFrame: { functionName, url, lineNumber } } = byId.get(id)!;
    if (functionName === "(idle)") continue;
    const time = timeDeltas[i];
    all += time;
    times[parts.get(id)!] += time;
    const name = `${functionName || "(anonymous)"} ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
  }
  const most = [...functions].sort(([, a], [, b]) => b - a).slice(0, LISTED);
  return { times, functions: most.map(([name, time]) => [name, time / all]) };
}
