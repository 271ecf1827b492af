import { Session } from "node:inspector";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** V8's coverage of a script: the blocks of its functions, inner ones after outer ones. */
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

/** Whether this runtime can measure coverage: only Node can, by its inspector. */
export const hasCoverage: boolean = !process.versions.bun && !process.versions.deno;

/** The blocks of `lib/` that have ever run, as V8 counts them; inputs that reach new ones are worth keeping. */
export class Coverage {
  readonly #session = new Session();
  /** The characters of each script that have run, by URL. */
  readonly #reached = new Map<string, Uint8Array>();
  /** Characters that have run. */
  size = 0;

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Whether code ran that had never run before; `keep` records it. */
  grew(keep: boolean): boolean {
    const { result } = this.#post("Profiler.takePreciseCoverage") as { result: ScriptCoverage[] };
    let isNew = false;
    for (const script of result) {
      if (script.url.includes("/lib/")) isNew = this.#add(script, keep) || isNew;
    }
    return isNew;
  }

  stop(): void {
    this.#session.disconnect();
  }

  #add({ url, functions }: ScriptCoverage, keep: boolean): boolean {
    let reached = this.#reached.get(url);
    if (reached === undefined) {
      reached = new Uint8Array(readFileSync(fileURLToPath(url)).length);
      this.#reached.set(url, reached);
    }
    const now = new Uint8Array(reached.length);
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
    let isNew = false;
    for (let at = 0; at < now.length; at++) {
      if (now[at] === 0 || reached[at] === 1) continue;
      isNew = true;
      if (!keep) return true;
      reached[at] = 1;
      this.size++;
    }
    return isNew;
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    // Methods of the profiler are answered within the call.
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  }
}
