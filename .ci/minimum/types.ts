import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browserTypes, serverTypes } from "../../tests/e2e/consumer_modules.ts";
import type { Outcome } from "./node_test.ts";

const DOM = ["dom", "dom.iterable"];

/** Returns a module with imports of all declarations, so that the compiler reads each. */
function everySubpath(consumer: string): string {
  const manifest = JSON.parse(readFileSync(join(consumer, "node_modules/@millrace/streams/package.json"), "utf8"));
  return Object.keys(manifest.exports).map((path, i) => `export * as m${i} from "@millrace/streams${path.slice(1)}";\n`)
    .join("");
}

/**
 * Compiles modules in a consumer's folder as strictly as there are options for, declarations of libraries included;
 * prints what the compiler says.
 *
 * @param modules The folder of the compiler's own `node_modules`, where the types of Node are.
 * @param tsc Runs the compiler.
 */
export async function checkTypes(
  consumer: string,
  modules: string,
  tsc: (...args: readonly string[]) => Promise<{ readonly stdout: string; readonly fault: string | undefined }>,
): Promise<Outcome> {
  const projects = [
    { name: "every subpath without the DOM", source: everySubpath(consumer), lib: [], types: ["node"] },
    { name: "every subpath", source: everySubpath(consumer), lib: DOM, types: ["node"] },
    { name: "a server", source: serverTypes, lib: [], types: ["node"] },
    { name: "a page", source: browserTypes, lib: DOM, types: [] },
    { name: "a page with asynchronous iterables", source: browserTypes, lib: [...DOM, "dom.asynciterable"], types: [] },
  ];
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const [i, { name, source, lib, types }] of projects.entries()) {
    writeFileSync(join(consumer, `module${i}.mts`), source);
    const compilerOptions = {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ target: "es2024", module: "nodenext", skipLibCheck: false, preserveSymlinks: true },
      ...{ lib: ["es2024", ...lib], types, typeRoots: [join(modules, "@types")] },
    };
    const project = join(consumer, `tsconfig${i}.json`);
    writeFileSync(project, JSON.stringify({ compilerOptions, files: [`module${i}.mts`] }));
    const { stdout, fault } = await tsc("--project", project);
    if (fault === undefined) outcome.passed++;
    else {
      outcome.failed++;
      outcome.failures.push(name);
      console.log(`\ntypes failed: ${name}\n${stdout}`);
    }
  }
  return outcome;
}
