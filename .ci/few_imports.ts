import { basename } from "node:path";
import type { Outputs } from "./bundle.ts";

/** An import from a chunk, as esbuild writes it: of names, or of none. */
const IMPORT = /^import (?:\{([^}]*)\} from )?"([^"]*\/(chunk-\w+)\.js)";\n/gm;

/**
 * Returns the modules with few imports from chunks: a runtime takes a quarter of a millisecond to resolve each.
 *
 * For servers alone: a page would ask for chunks one after the other.
 */
export function withFewImports(outputs: Outputs): Outputs {
  const { texts } = new FewImports(new Map(outputs.outputFiles.map(({ path, text }) => [path, text])));
  return { ...outputs, outputFiles: outputs.outputFiles.map((file) => ({ ...file, text: texts.get(file.path)! })) };
}

/** The texts of modules, by their paths, with as few imports as lead to the same modules. */
class FewImports {
  readonly texts: Map<string, string>;
  /** The path of each chunk, by its name. */
  readonly #paths: ReadonlyMap<string, string>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.texts = new Map(texts);
    this.#paths = new Map([...texts.keys()].map((path) => [basename(path, ".js"), path]));
    for (const path of texts.keys()) this.#importOne(path);
    for (const path of texts.keys()) this.#leaveOutReached(path);
  }

  #importsOf(path: string): RegExpExecArray[] {
    const imports = [...this.texts.get(path)!.matchAll(IMPORT)];
    return imports.filter(([, , , chunk]) => this.texts.get(this.#paths.get(chunk)!) !== "");
  }

  /**
   * Lets a module that only hands on what chunks export import one of these alone, if that one imports the others: it then
   * exports the names of all.
   */
  #importOne(path: string): void {
    const text = this.texts.get(path)!;
    if (text.replace(IMPORT, "").replace(/^export \{[^}]*\};\n$/m, "") !== "") return;
    const imports = this.#importsOf(path);
    const main = imports.find(([, , , chunk]) => {
      const imported = this.#importsOf(this.#paths.get(chunk)!).map(([, , , other]) => other);
      return imports.every(([, , , other]) => other === chunk || imported.includes(other));
    });
    if (main === undefined) return;
    const [, , specifier, chunk] = main;
    for (const [statement, list, , other] of imports) {
      if (other === chunk || list === undefined) continue;
      this.#handOn(list.split(",").map((each) => each.trim().split(" as ")[0]), other, this.#paths.get(chunk)!);
      this.texts.set(path, this.texts.get(path)!.replace(statement, () => `import {${list}} from "${specifier}";\n`));
    }
  }

  /** Has a chunk export names of another one. */
  #handOn(names: readonly string[], from: string, path: string): void {
    const text = this.texts.get(path)!;
    const lists = [...text.matchAll(/^export \{ (.*) \} from "\.\/(chunk-\w+)\.js";$/gm)];
    const there = lists.flatMap(([, list, chunk]) => chunk === from ? list.split(", ") : []);
    const missing = names.filter((name) => !there.includes(name));
    if (missing.length > 0) this.texts.set(path, `${text}export { ${missing.join(", ")} } from "./${from}.js";\n`);
  }

  /** Leaves out imports of no names from chunks that other imports of the module lead to. */
  #leaveOutReached(path: string): void {
    for (const [statement, list, , chunk] of this.#importsOf(path)) {
      if (list !== undefined) continue;
      const others = this.#importsOf(path).filter(([other]) => other !== statement);
      const reached = new Set(others.map(([, , , other]) => other));
      for (const other of reached) {
        for (const [, , , next] of this.#importsOf(this.#paths.get(other)!)) reached.add(next);
      }
      if (!reached.has(chunk)) continue;
      this.texts.set(path, this.texts.get(path)!.replace(statement, "\n")); // lines keep their numbers
    }
  }
}
