/** Fuzzes one target in a separate process, and prints the result as JSON: child.ts TARGET MILLISECONDS SEED FILE */
import process from "node:process";
import { Coverage, hasCoverage } from "./coverage.ts";
import { Fuzzer } from "./fuzzer.ts";
import { StateFile } from "./state_file.ts";
import { targets } from "./targets/mod.ts";

const [name, milliseconds, seed, path] = process.argv.slice(2);
const target = targets.find((target) => target.name === name)!;
const state = new StateFile(path);
const tally = await new Fuzzer(target, Number(seed), state, hasCoverage ? new Coverage() : undefined).run(
  Number(milliseconds),
);
state.close();
console.log(JSON.stringify(tally));
process.exit(0);
