import { spawn } from "node:child_process";
import { delimiter, dirname } from "node:path";
import process from "node:process";

/** The exit of a command, and its output. */
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

/** Runs a command as {@linkcode run} does and returns its output; rejects with the output if it fails. */
export async function output(command: string, args: readonly string[], cwd: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd, env);
  if (code !== 0) throw new TypeError(`${command} ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}
