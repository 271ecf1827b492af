import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";
import { type JsrRegistry, startJsrRegistry } from "./jsr_registry.ts";
import { type NpmRegistry, startNpmRegistry } from "./npm_registry.ts";

/** This repository's package in private registries, and a folder for consumers. */
export interface Published extends AsyncDisposable {
  readonly npm: NpmRegistry;
  readonly jsr: JsrRegistry;
  /** A temporary folder. The copy that was published is `copy` in it. */
  readonly folder: string;
  readonly version: string;
  /**
   * The environment of consumers' processes: both registries, and a home in which no package manager has cached
   * anything.
   */
  readonly env: Readonly<Record<string, string>>;
}

/** The folder of the tools that `npm ci` installs. */
export const bin: string = join(root, "node_modules/.bin");

const parts = [
  ".ci",
  ".github/SECURITY.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "bench/README.md",
  "bench/plots",
  "deno.json",
  "lib",
  "mod.ts",
  "package.json",
  "tests/README.md",
  "tests/examples",
  "tsconfig.json",
];

/**
 * Publishes a copy of the repository.
 *
 * @param built What `npm run build` has written into `dist/`. Default: the copy is built as it is published, as in a
 * release.
 */
export async function publishCopy(client: "npm" | "deno", built?: string): Promise<Published> {
  const folder = await mkdtemp(join(tmpdir(), `millrace-${client}-`));
  const [npm, jsr] = [await startNpmRegistry(), await startJsrRegistry()];
  const home = join(folder, "home");
  const copy = join(folder, "copy");
  const temporary = join(folder, "tmp");
  for (const made of [home, temporary]) await mkdir(made);
  await writeFile(join(home, ".npmrc"), npm.npmrc);
  // Publishing builds; in a copy, it does not disturb other work.
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  const env = {
    HOME: home,
    TMPDIR: temporary, // where bunx keeps what it has installed, whichever registry it came from
    BUN_TMPDIR: temporary,
    XDG_CACHE_HOME: join(home, ".cache"),
    // `npm test` sets these, and who starts a consumer's command did not run it.
    NODE: "",
    npm_node_execpath: "",
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_cache: join(home, ".npm"),
    npm_config_update_notifier: "false",
    npm_config_registry: npm.url,
    NPM_CONFIG_REGISTRY: npm.url,
    BUN_INSTALL_CACHE_DIR: join(home, ".bun"),
    DENO_DIR: join(home, ".deno"),
    DENO_NO_PROMPT: "1",
    JSR_URL: jsr.url,
  };
  if (built !== undefined) await cp(built, join(copy, "dist"), { recursive: true });
  const scripts = built === undefined ? [] : ["--ignore-scripts"];
  if (client === "npm") await output("npm", ["publish", "--silent", ...scripts], copy, env);
  else {
    if (built === undefined) await output("npm", ["run", "--silent", "build"], copy, env);
    const made = join(folder, "jsr");
    await output(process.execPath, [".ci/jsr_package.ts", made], copy, env);
    // Its types are checked by `npm run check:publish`.
    await output(join(bin, "deno"), ["publish", "--no-check", "--token", jsr.token], made, env);
  }
  const { version } = JSON.parse(await readFile(join(copy, "deno.json"), "utf8"));
  return {
    npm,
    jsr,
    folder,
    version,
    env,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([npm[Symbol.asyncDispose](), jsr[Symbol.asyncDispose]()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
