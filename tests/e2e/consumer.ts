import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root: string = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The runtime that runs this test. */
export const runtime: "node" | "deno" | "bun" = process.versions.bun ? "bun" : process.versions.deno ? "deno" : "node";

/** How a command ended and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a folder to its end. The repository's own tools are not on its path, the runtime under test is. */
export function run(command: string, args: readonly string[], cwd: string, env = {}): Promise<Ended> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return new Promise((ended, failed) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", PATH: path, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    child.stdout!.setEncoding("utf8").on("data", (text: string) => output.stdout += text);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => output.stderr += text);
    child.on("error", failed).on("close", (code) => ended({ code, ...output }));
  });
}

/** As {@linkcode run}; a command that fails rejects with what it printed. */
export async function output(command: string, args: readonly string[], cwd: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd, env);
  if (code !== 0) throw new TypeError(`${command} ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** Makes an empty project that is a module. */
export async function makeProject(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), `{ "name": "consumer", "private": true, "type": "module" }\n`);
  return folder;
}

/** Makes a small site: a page, a style and a script, worth compressing. */
export async function makeSite(folder: string): Promise<string> {
  await mkdir(join(folder, "assets"), { recursive: true });
  const lines = Array.from({ length: 400 }, (_, i) => `.row-${i} { order: ${i * 7 % 400}; } /* the mill turns */`);
  await writeFile(join(folder, "assets/app.css"), lines.join("\n"));
  await writeFile(join(folder, "assets/app.js"), await readFile(join(root, "lib/codecs/options.ts")));
  await writeFile(join(folder, "index.html"), `<!doctype html><title>Mill</title>${"<p>water</p>".repeat(300)}`);
  return folder;
}

/** The files that precompressing the site of {@linkcode makeSite} adds. */
export const siteVariants: readonly string[] = ["assets/app.css", "assets/app.js", "index.html"]
  .flatMap((path) => [".br", ".gz", ".zst"].map((extension) => path + extension));
