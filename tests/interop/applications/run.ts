/**
 * Installs the applications that `applications_isolated_test.ts` drives into `node_modules/.cache/applications` (450 MB), of the
 * versions in `package-lock.json` beside this file.
 *
 *   node tests/interop/applications/run.ts
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { folder, loader } from "./packages.ts";

const here = dirname(fileURLToPath(import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(folder, name));
// Not `npm ci`, which wants packages for every platform in the lock.
const { status } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
  cwd: folder,
  stdio: "inherit",
});
if (status !== 0) process.exit(1); // npm has said why
writeFileSync(loader, "export const load = (specifier) => import(specifier);\n");
console.log(
  "The applications are there: npm run test:node -- tests/interop/applications_isolated_test.ts drives them.",
);
