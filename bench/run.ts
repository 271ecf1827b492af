/**
 * Runs a scenario on Node, Bun and Deno, one after the other.
 *
 *   npm run bench -- codecs [--only node] [OPTION ...]        options go to the scenario
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const commands: Readonly<Record<string, string[]>> = { node: ["node"], bun: ["bun"], deno: ["deno", "run", "-A"] };

/** Returns the scripts here whose head says how to run them. */
function scenarios(): string[] {
  const names = readdirSync(join(root, "bench")).filter((file) => file.endsWith(".ts")).map((file) =>
    file.slice(0, -3)
  );
  return names.filter((name) => {
    const text = readFileSync(join(root, "bench", `${name}.ts`), "utf8");
    return text.includes(`\n *   npm run bench -- ${name}`);
  });
}

const [scenario = "", ...options] = process.argv.slice(2);
const script = join(root, "bench", `${scenario}.ts`);
if (!/^\w+$/.test(scenario) || !existsSync(script)) {
  console.error(`"${scenario}" is no scenario: use ${scenarios().join(", ")}`);
  process.exit(2);
}
const at = options.indexOf("--only");
const [, only] = at === -1 ? [] : options.splice(at, 2);
for (const [name, [command, ...args]] of Object.entries(commands)) {
  if (only !== undefined && only !== name) continue;
  const { status } = spawnSync(join(root, "node_modules/.bin", command), [...args, script, ...options], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
