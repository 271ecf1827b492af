import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { realStores } from "../s3/real_stores.ts";
import { matches } from "./expected_output.ts";
import type { Command, ShellBlock } from "./shell_block.ts";
import { isSetup } from "./setup.ts";
import { withStandIns } from "./stand_ins.ts";
import {
  environment,
  leadingArguments,
  makeWorkFolder,
  type RunOptions,
  type WorkFolder,
  writeModule,
} from "./work_folder.ts";

/** The options of other blocks, and the path of the repository. */
export interface ShellRunOptions extends RunOptions {
  readonly root: string;
}

const LIMIT = 60_000; // ms that a command may take, and a server until it listens

/** Commands whose comment is what they print. */
const prints = /^(?:node|bun|deno run) .*\.js$/;

/**
 * Runs the commands of a block, one after the other, in a fresh copy of the fixture, while its server runs. A command
 * fails by its exit code. Of `curl`, the response has to have the status and the body that the comment says
 * (`# 201, {"files":…}`), or else to be a success; of what is piped from `curl`, and of a module that a
 * runtime runs, the comment is the output.
 *
 * @returns What failed, each beginning with `path:line`.
 */
export async function runShellBlock(block: ShellBlock, options: ShellRunOptions): Promise<string[]> {
  const folder = await makeWorkFolder(`${basename(block.path)}-${block.line}`, options, block.setup);
  const servers: ChildProcess[] = [];
  try {
    const env = commandEnvironment(options, folder);
    if (block.server !== undefined) servers.push(await startServer(block, options, folder));
    for (const command of block.commands.filter(({ words }) => block.setup === undefined || !isSetup(words))) {
      const problem = await runCommand(command, env, folder, servers);
      if (problem !== undefined) return [`${block.path}:${command.line} (${options.runtime}): ${problem}`];
    }
    return [];
  } finally {
    for (const server of servers) await stop(server);
    folder.remove();
  }
}

/** Returns an environment with stand-ins for the commands that would load the package from a registry. */
function commandEnvironment(options: ShellRunOptions, folder: WorkFolder): NodeJS.ProcessEnv {
  const { project, root } = options;
  const bin = join(folder.outer, "bin");
  mkdirSync(bin);
  const tools = join(root, "node_modules/.bin");
  const cli = join(project, "node_modules/@millrace/streams/dist/lib/cli/cli.js");
  for (const [name, runtime] of [["npx", "node"], ["bunx", "bun"]]) {
    const code = `#!/bin/sh\n[ "$1" = @millrace/streams ] || exit 2\nshift\nexec ${tools}/${runtime} ${cli} "$@"\n`;
    writeFileSync(join(bin, name), code, { mode: 0o755 });
  }
  const deno = `#!/bin/sh\nfor word do\n  shift\n  [ "$word" = jsr:@millrace/streams/cli ] && word=${cli}\n` +
    `  set -- "$@" "$word"\ndone\nexec ${tools}/deno "$@"\n`;
  writeFileSync(join(bin, "deno"), deno, { mode: 0o755 });
  const env = environment(options, folder);
  const path = [bin, tools, dirname(realStores.versitygw.path), env.PATH].join(delimiter);
  return { ...env, PATH: path, PORT: String(folder.standIns.ports["8080"]) };
}

async function startServer(block: ShellBlock, options: ShellRunOptions, folder: WorkFolder): Promise<ChildProcess> {
  const { runtime, executable } = options;
  const { language, code } = block.server!;
  const module = writeModule(join(folder.path, "server"), language, withStandIns(code, folder.standIns), runtime);
  const args = [...leadingArguments[runtime], module];
  // It listens on the port that the commands name. For Deno the variable would be stronger, with node:http, too.
  const env = { ...environment(options, folder), DENO_SERVE_ADDRESS: undefined };
  const server = spawn(executable, args, { cwd: folder.path, env, stdio: "ignore" });
  const words = block.commands.map(({ words }) => words).join("\n");
  const port = /\/\/127\.0\.0\.1:(\d+)/.exec(withStandIns(words, folder.standIns))![1];
  await answered(server, `http://127.0.0.1:${port}/`);
  return server;
}

async function runCommand(
  { words, comment }: Command,
  env: NodeJS.ProcessEnv,
  { path, standIns }: WorkFolder,
  servers: ChildProcess[],
): Promise<string | undefined> {
  const command = withStandIns(words, standIns);
  if (/^npx @millrace\/streams serve\b|\bversitygw --port\b/.test(command)) {
    const server = spawn("sh", ["-c", command.replace(/^(?:[A-Z_]+=\S+ )*/, "$&exec ")], {
      cwd: path,
      env,
      stdio: "ignore",
    });
    servers.push(server);
    const port = /--port 127\.0\.0\.1:(\d+)/.exec(command)?.[1] ?? env.PORT;
    await answered(server, `http://127.0.0.1:${port}/`);
    return undefined;
  }
  const isCurl = command.startsWith("curl ");
  const isPiped = isCurl && command.includes(" | ");
  const whole = isCurl && !isPiped ? `${command} -sS -w '\\n%{http_code}'` : command;
  const { code, output } = await ended(whole, path, env);
  if (code !== 0) return `it ended with ${code}; it printed:\n${output}`;
  if (isPiped || prints.test(command)) {
    return matches(output.trim(), comment) ? undefined : `printed "${output.trim()}", expected "${comment}"`;
  }
  return isCurl ? wrongResponse(output, withStandIns(comment, standIns)) : undefined;
}

function wrongResponse(output: string, comment: string): string | undefined {
  const [, body, status] = /^([^]*)\n(\d+)$/.exec(output.trim()) ?? ["", "", output];
  const [, expectedStatus = "2…", expectedBody = "…"] = /^(\d{3})(?:, (.*))?$/.exec(comment) ?? [];
  if (matches(status, expectedStatus) && matches(body, expectedBody)) return undefined;
  return `the response is ${status} ${body}, expected ${comment || "a success"}`;
}

async function ended(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: unknown; output: string }> {
  const child = spawn("sh", ["-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT });
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => output += text);
  child.stderr!.setEncoding("utf8").on("data", (text: string) => output += text);
  const [code, signal] = await once(child, "close");
  return { code: code ?? signal, output };
}

/** Waits until a server answers at all. */
async function answered(server: ChildProcess, url: string): Promise<void> {
  for (const end = performance.now() + LIMIT; server.exitCode === null && performance.now() < end; await pause(50)) {
    const response = await fetch(url).catch(() => undefined); // it does not listen yet
    await response?.body?.cancel();
    if (response !== undefined) return;
  }
  throw new Error(`nothing answers at ${url}`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const closed = once(server, "exit");
  server.kill();
  await closed;
}
