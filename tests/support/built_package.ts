import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { output } from "./processes.ts";
import { root } from "./runtime.ts";

/** The files a build reads. */
const SOURCES = "{mod.ts,deno.json,package.json,package-lock.json,tsconfig.json,{.ci,lib}/**/*.{ts,json,js,txt}}";
/** The time for which builds of earlier sources are kept, in ms. */
const KEPT = 24 * 3_600_000;
/** The limit of a build on a busy machine, in ms. */
const LIMIT = 230_000;

/**
 * Returns the folder of what `npm run build` writes into `dist/`, which has to stay as it is. The tests of all runtimes
 * share one build of the same sources; a whole run names it by `MILLRACE_BUILT`.
 */
export async function builtPackage(): Promise<string> {
  const { MILLRACE_BUILT } = process.env;
  if (MILLRACE_BUILT) return MILLRACE_BUILT;
  const builds = join(root, "node_modules/.cache/built"); // below which packages are found
  const built = join(builds, hashOfSources());
  if (existsSync(built)) return join(built, "dist");
  mkdirSync(builds, { recursive: true });
  const { ProcessLock } = await import("../../lib/files/internal.ts");
  const busy = (): Error => new Error(`a build for tests in ${builds} has taken more than ${LIMIT / 1000} s`);
  const lock = new ProcessLock({ directory: builds, subject: "the build for tests", waitFor: LIMIT, busy });
  await lock.take();
  try {
    if (existsSync(built)) return join(built, "dist");
    for (const name of readdirSync(builds).filter((name) => !name.startsWith("."))) {
      const path = join(builds, name);
      if (statSync(path).mtimeMs < Date.now() - KEPT) rmSync(path, { recursive: true });
    }
    const fresh = mkdtempSync(join(builds, "fresh-"));
    writeFileSync(join(fresh, "package.json"), '{"type":"module"}');
    await output(join(root, "node_modules/.bin/node"), [".ci/build.ts", join(fresh, "dist")], root);
    renameSync(fresh, built);
    return join(built, "dist");
  } finally {
    lock.release();
  }
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const path of globSync(SOURCES, { cwd: root }).sort()) {
    hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex").slice(0, 16);
}
