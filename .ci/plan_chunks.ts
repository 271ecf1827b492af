/** An output of esbuild: its size, its sources and its imports. */
export interface Output {
  readonly bytes: number;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
  readonly entryPoint?: string;
}

/** The goals of a plan. */
export interface Wishes {
  /** Returns the weight of an entry, by its source. */
  readonly weightOf: (source: string) => number;
  /** The entry whose code all goes into one chunk. */
  readonly together?: string;
}

/** The bytes of code that take as long to load as one more module. */
const MODULE = 40 * 1024;

/**
 * Plans chunks: of outputs that are split as finely as entries differ in what they need, it puts those together that load
 * in less time so. A module takes as long as 40 KB of code; entries count by their weights.
 *
 * @param outputs by their paths: those of the finest split.
 * @param wishes what counts.
 * @returns the sources in each chunk.
 */
export function planChunks(outputs: Readonly<Record<string, Output>>, { weightOf, together }: Wishes): string[][] {
  const plan = new Plan(outputs, weightOf);
  if (together !== undefined) plan.putTogether(together);
  while (plan.merge());
  while (plan.move());
  return plan.chunks();
}

/** A distribution of outputs over chunks, with its cost. */
class Plan {
  readonly #outputs: readonly Output[];
  /** Which outputs each one imports at once. */
  readonly #imports: readonly (readonly number[])[];
  readonly #weights: readonly number[];
  /** The chunk of each output. */
  readonly #chunks: number[];
  /** The outputs whose chunk is closed. */
  readonly #fixed = new Set<number>();
  #cost: number;

  constructor(outputs: Readonly<Record<string, Output>>, weightOf: (source: string) => number) {
    const paths = Object.keys(outputs);
    this.#outputs = Object.values(outputs);
    this.#imports = this.#outputs.map(({ imports }) => {
      const eager = imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => paths.indexOf(path));
      return [...new Set(eager)].filter((target) => target >= 0);
    });
    this.#weights = this.#outputs.map(({ entryPoint }) => entryPoint === undefined ? 0 : weightOf(entryPoint));
    this.#chunks = paths.map((_, i) => i);
    this.#cost = this.#costNow() ?? Infinity;
  }

  /** Returns the sources in each chunk, without entries, which are no chunks. */
  chunks(): string[][] {
    const sources = new Map<number, string[]>();
    this.#outputs.forEach(({ inputs, entryPoint }, i) => {
      if (entryPoint !== undefined) return;
      const own = Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0);
      sources.set(this.#chunks[i], [...sources.get(this.#chunks[i]) ?? [], ...own]);
    });
    return [...sources.values()].filter((chunk) => chunk.length > 0);
  }

  /** Puts into one chunk all that an entry loads. */
  putTogether(entry: string): void {
    const outputs = [...this.#loadedBy(entry)];
    this.#put(outputs, outputs[0]);
    for (const i of outputs) this.#fixed.add(i);
  }

  #loadedBy(entry: string): Set<number> {
    const reached = new Set([this.#outputs.findIndex(({ entryPoint }) => entryPoint === entry)]);
    for (const i of reached) for (const target of this.#imports[i]) reached.add(target);
    return new Set([...reached].filter((i) => this.#outputs[i].entryPoint === undefined));
  }

  /** Joins the two chunks whose union saves most; returns whether there were two. */
  merge(): boolean {
    const chunks = [...new Set(this.#shared().map((i) => this.#chunks[i]))];
    const members = new Map(chunks.map((chunk) => [chunk, this.#shared().filter((i) => this.#chunks[i] === chunk)]));
    let best: { readonly outputs: readonly number[]; readonly to: number; readonly cost: number } | undefined;
    for (const [at, to] of chunks.entries()) {
      for (const from of chunks.slice(at + 1)) {
        const outputs = members.get(from)!;
        const cost = this.#costOf(outputs, to, best?.cost ?? this.#cost);
        if (cost !== undefined) best = { outputs, to, cost };
      }
    }
    if (best === undefined) return false;
    this.#put(best.outputs, best.to);
    return true;
  }

  /**
   * Puts outputs into other chunks, or into separate ones, where that saves load time. Returns whether it changed
   * anything.
   */
  move(): boolean {
    let isMoved = false;
    for (const i of this.#shared()) {
      const free = this.#outputs.findIndex((_, chunk) => !this.#chunks.includes(chunk));
      for (const to of new Set([...this.#shared().map((other) => this.#chunks[other]), ...free >= 0 ? [free] : []])) {
        if (this.#costOf([i], to, this.#cost) === undefined) continue;
        this.#put([i], to);
        isMoved = true;
      }
    }
    return isMoved;
  }

  /** Returns the outputs whose chunk is open. */
  #shared(): number[] {
    return [...this.#outputs.keys()].filter((i) => this.#outputs[i].entryPoint === undefined && !this.#fixed.has(i));
  }

  #put(outputs: readonly number[], to: number): void {
    for (const i of outputs) this.#chunks[i] = to;
    this.#cost = this.#costNow() ?? Infinity;
  }

  /** Returns the cost with outputs of one chunk put into another, if it is below a limit. */
  #costOf(outputs: readonly number[], to: number, limit: number): number | undefined {
    const from = this.#chunks[outputs[0]];
    for (const i of outputs) this.#chunks[i] = to;
    const cost = this.#costNow(limit);
    for (const i of outputs) this.#chunks[i] = from;
    return cost;
  }

  /**
   * Computes the bytes all entries load, by weight; undefined above the limit or if chunks import each other in a
   * cycle.
   */
  #costNow(limit = Infinity): number | undefined {
    const count = this.#outputs.length;
    const bytes = new Float64Array(count);
    // A target may stand there twice: looking for it would take longer.
    const imports: number[][] = Array.from({ length: count }, () => []);
    for (let i = 0; i < count; i++) {
      const chunk = this.#chunks[i];
      bytes[chunk] += this.#outputs[i].bytes;
      for (const target of this.#imports[i]) {
        if (this.#chunks[target] !== chunk) imports[chunk].push(this.#chunks[target]);
      }
    }
    let cost = 0;
    const reachedFrom = new Int32Array(count).fill(-1);
    const reached = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      if (this.#weights[i] === 0) continue;
      let length = 1;
      reached[0] = this.#chunks[i];
      reachedFrom[reached[0]] = i;
      for (let at = 0; at < length; at++) {
        cost += this.#weights[i] * (MODULE + bytes[reached[at]]);
        for (const target of imports[reached[at]]) {
          if (reachedFrom[target] === i) continue;
          reachedFrom[target] = i;
          reached[length++] = target;
        }
      }
      if (cost >= limit) return undefined;
    }
    return isCircular(imports) ? undefined : cost;
  }
}

function isCircular(imports: readonly (readonly number[])[]): boolean {
  const states = new Uint8Array(imports.length); // 1: on the way, 2: done
  const visit = (i: number): boolean => {
    if (states[i] !== 0) return states[i] === 1;
    states[i] = 1;
    for (const target of imports[i]) if (visit(target)) return true;
    states[i] = 2;
    return false;
  };
  return imports.some((_, i) => visit(i));
}
