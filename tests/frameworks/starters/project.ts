import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { createStaticHandler, type StaticHandlerOptions } from "../../../lib/static/mod.ts";
import { listed } from "../../support/folders.ts";
import { output } from "../../support/processes.ts";
import { root } from "../../support/runtime.ts";
import { type Starter, starters } from "./starters.ts";

const quiet = {
  CI: "1",
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  NG_CLI_ANALYTICS: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_legacy_peer_deps: "true",
};

/** The folder in which starters are made and kept. */
const home = process.env.MILLRACE_STARTERS_ROOT ?? join(root, "node_modules/.cache/starters");

/** A server that was started; `stop()` resolves when it has ended. */
export interface Running {
  readonly port: number;
  stop(): Promise<void>;
}

/** A starter's project on disk. */
export class StarterProject {
  readonly folder: string;
  readonly #starter: Starter;
  readonly #name: string;
  #source = "";

  constructor(name: string) {
    this.#name = name;
    this.#starter = starters[name];
    this.folder = join(home, name);
  }

  /** Makes and installs it, unless it is there. */
  async make(): Promise<void> {
    const { make, packages, files = {}, edits = {}, says, handler } = this.#starter;
    const mark = join(this.folder, ".made");
    if (!existsSync(mark)) {
      await mkdir(home, { recursive: true });
      if (!existsSync(join(this.folder, "package.json"))) {
        await mkdir(make ? home : this.folder, { recursive: true });
        await this.#run(make?.replace("NAME", this.#name) ?? "npm init -y", make ? home : this.folder);
        if (!make) await this.#run("npm pkg set type=module");
      }
      if (!existsSync(join(this.folder, "node_modules"))) await this.#run("npm install");
      if (packages && !existsSync(join(this.folder, "node_modules", packages.split(" ")[0].replace(/(.)@.*/, "$1")))) {
        await this.#run(`npm install ${packages}`);
      }
      await this.#write({ ...files, ...await this.#edited(edits) });
      await writeFile(mark, "");
    }
    const link = join(this.folder, "node_modules/@millrace/streams");
    await mkdir(dirname(link), { recursive: true });
    if (!existsSync(link)) await symlink(root, link);
    await this.#write({ "serve.mjs": SERVE, "handler.mjs": handler ?? "export const handler = undefined;\n" });
    this.#source = (await readFile(join(this.folder, says[0]), "utf8")).replaceAll(AGAIN, "");
    await rm(join(this.folder, "deployed"), { recursive: true, force: true });
  }

  /** Writes the text that the page shows: another in the second deploy. */
  async say(isAgain: boolean): Promise<void> {
    const [path, text] = this.#starter.says;
    const source = isAgain ? this.#source.replace(text, text.trimEnd() + AGAIN) : this.#source;
    await this.#write({ [path]: source });
  }

  /** Builds the project and precompresses its output, against the previous deploy if there is one. */
  async build(): Promise<void> {
    const { build, precompress } = this.#starter;
    await this.#run(build);
    if (!precompress) return;
    const hasPrevious = existsSync(join(this.folder, "deployed"));
    const words = hasPrevious ? precompress : precompress.slice(0, precompress.indexOf("--previous"));
    await output(process.execPath, [join(root, "lib/cli/cli.ts"), "precompress", ...words], this.folder, quiet);
  }

  /** Keeps a copy of the output, as the previous deploy. */
  async keep(): Promise<void> {
    await cp(join(this.folder, this.#starter.output), join(this.folder, "deployed"), { recursive: true });
  }

  /** Returns the hashes of the files that are served as immutable, by path. */
  async immutable(): Promise<ReadonlyMap<string, string>> {
    const folder = join(this.folder, this.#starter.output);
    await using site = await createStaticHandler(folder, { ...this.#options(), onWarning() {} });
    const found = new Map<string, string>();
    for (const path of await listed(folder)) {
      const url = `http://site.example${this.#starter.basePath ?? "/"}${encodeURI(path)}`;
      const { headers } = await site.fetch(new Request(url, { method: "HEAD" }));
      const isImmutable = headers.get("cache-control")?.includes("immutable");
      if (isImmutable) found.set(path, await this.hashOf(path) ?? "");
    }
    return found;
  }

  /** Returns the hash of a file that is served, or undefined. */
  async hashOf(path: string): Promise<string | undefined> {
    const file = join(this.folder, this.#starter.output, path);
    return existsSync(file) ? createHash("sha256").update(await readFile(file)).digest("hex") : undefined;
  }

  /** Serves it by its recipe. */
  async serve(port: number): Promise<Running> {
    const env = { ...process.env, ...quiet, PORT: String(port), OUTPUT: this.#starter.output };
    const options = JSON.stringify(this.#options());
    const server = spawn(process.execPath, ["serve.mjs"], { cwd: this.folder, env: { ...env, OPTIONS: options } });
    let printed = "";
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    const signal = AbortSignal.timeout(60_000);
    const listening = await new Promise<number>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new TypeError(`it does not listen: ${printed}`)));
      const look = (text: string): void => {
        printed += text;
        const [, number] = /listening on (\d+)/.exec(printed) ?? [];
        if (number) resolve(Number(number));
      };
      for (const stream of [server.stdout, server.stderr]) stream.setEncoding("utf8").on("data", look);
      void ended.then(() => reject(new TypeError(`it ended: ${printed}`)));
    }).catch((error) => {
      server.kill("SIGKILL");
      throw error;
    });
    const stop = (): Promise<void> => {
      server.kill("SIGKILL");
      return ended;
    };
    return { port: listening, stop };
  }

  #options(): StaticHandlerOptions {
    const { basePath, handler } = this.#starter;
    return { ...(basePath && { basePath }), ...(handler === undefined && { fallback: "index.html" }) };
  }

  async #edited(edits: NonNullable<Starter["edits"]>): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for (const [path, changes] of Object.entries(edits)) {
      const text = await readFile(join(this.folder, path), "utf8");
      files[path] = changes.reduce((edited, [from, to]) => edited.replace(from, to), text);
    }
    return files;
  }

  async #write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, path)), { recursive: true });
      await writeFile(join(this.folder, path), text);
    }
  }

  async #run(command: string, folder: string = this.folder): Promise<void> {
    const [program, ...words] = command.split(" ");
    await output(program, words, folder, quiet);
  }
}

const AGAIN = " once more ";

/** The recipe of the page: files first, then the framework. */
const SERVE = `import { createServer } from "node:http";
import { createStaticHandler } from "@millrace/streams/static";

const site = await createStaticHandler(process.env.OUTPUT, JSON.parse(process.env.OPTIONS));
const { handler } = await import("./handler.mjs");
const missing = (res) => res.writeHead(404).end();
const server = createServer((req, res) => site.node(req, res, () => handler ? handler(req, res, () => missing(res)) : missing(res)));
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening on " + server.address().port));
`;
