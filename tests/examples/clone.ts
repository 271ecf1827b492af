import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bin } from "../e2e/published.ts";
import { startServing } from "../e2e/serving_command.ts";
import { builtPackage } from "../support/built_package.ts";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";

interface Manifest {
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const OURS = "@millrace/streams";
const here = dirname(fileURLToPath(import.meta.url));

/** A folder in which examples are cloned and installed, with the package as it is published. */
export class Clones implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Clones> {
    const clones = new Clones(await mkdtemp(join(tmpdir(), "millrace-examples-")));
    const installed = clones.#installed(OURS);
    await cp(await builtPackage(), join(installed, "dist"), { recursive: true });
    await cp(join(root, "package.json"), join(installed, "package.json"));
    const { dependencies = {} } = await manifestOf(installed);
    for (const name of Object.keys(dependencies)) await link(join(root, "node_modules", name), clones.#installed(name));
    return clones;
  }

  /** Copies an example and installs its dependencies. */
  async clone(name: string): Promise<Clone> {
    const folder = join(this.folder, name);
    await cp(join(here, name), folder, { recursive: true });
    await this.install(folder);
    return new Clone(folder);
  }

  /** Replaces `npm install` or `deno install` in a folder, by links to packages installed here. */
  async install(folder: string, isWithoutDev = false): Promise<void> {
    const deno = await readFile(join(folder, "deno.json"), "utf8").catch(() => undefined);
    if (deno !== undefined) return await this.#importFrom(folder, JSON.parse(deno));
    const { dependencies = {}, devDependencies = {} } = await manifestOf(folder);
    for (const name of Object.keys({ ...dependencies, ...(isWithoutDev ? {} : devDependencies) })) {
      const place = name === OURS ? this.#installed(OURS) : join(root, "node_modules", name);
      const { bin = {} } = await manifestOf(place).catch((): Manifest => ({})); // wrangler is not here
      await link(place, join(folder, "node_modules", name));
      for (const [command, path] of typeof bin === "string" ? [[name, bin]] : Object.entries(bin)) {
        const program = join(folder, "node_modules/.bin", command);
        await mkdir(dirname(program), { recursive: true });
        await writeFile(program, `#!/bin/sh\nexec node ${join(place, path)} "$@"\n`, { mode: 0o755 });
      }
    }
  }

  /** Makes a Deno project import the same modules as from JSR. */
  async #importFrom(folder: string, manifest: { imports: Record<string, string> }): Promise<void> {
    const { exports } = JSON.parse(await readFile(join(root, "deno.json"), "utf8"));
    const ours = Object.entries<string>(exports).map(([subpath, path]) => {
      const module = join(this.#installed(OURS), "dist", path.replace(/\.ts$/, ".js"));
      return [OURS + subpath.slice(1), pathToFileURL(module).href];
    });
    const imports = { ...manifest.imports, ...Object.fromEntries(ours) };
    await writeFile(join(folder, "deno.json"), JSON.stringify({ ...manifest, imports, lock: false }));
  }

  #installed(name: string): string {
    return join(this.folder, "node_modules", name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A folder with an example, ready to be used by the scripts that its README names. */
export class Clone {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Runs a script of `package.json`, or a task of `deno.json`, to its end, and returns its output. */
  async script(name: string): Promise<string> {
    return await this.run(await this.#command(name));
  }

  /**
   * Starts the server that a script or a command starts, and ends it as a service manager does.
   *
   * @returns Its exit code; null, if the signal ended it.
   */
  async serve(
    name: string,
    use: (url: URL) => Promise<void>,
    { env = {}, command }: { env?: Readonly<Record<string, string>>; command?: string } = {},
  ): Promise<number | null> {
    const words = ["sh", "-c", `exec env ${command ?? await this.#command(name)}`];
    const server = await startServing(words, this.folder, { ...this.#env(), PORT: "0", ...env });
    try {
      await use(server.url);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return await server.stop();
  }

  /** Runs a command as a shell does. */
  async run(command: string): Promise<string> {
    return await output("sh", ["-c", command], this.folder, this.#env());
  }

  #env(): Record<string, string> {
    const path = [join(this.folder, "node_modules/.bin"), bin, "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
    return { PATH: path, DENO_NO_UPDATE_CHECK: "1" };
  }

  async #command(name: string): Promise<string> {
    const tasks = await readFile(join(this.folder, "deno.json"), "utf8").catch(() => undefined);
    const commands = tasks === undefined ? (await manifestOf(this.folder)).scripts : JSON.parse(tasks).tasks;
    const command = commands?.[name];
    if (command === undefined) throw new TypeError(`${this.folder} has no script ${name}`);
    return command;
  }
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
}
