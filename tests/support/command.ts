import { spawn, type SpawnOptions } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The end of a command. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const { MILLRACE_BUILT } = process.env;
/**
 * The path of the command: in a whole run that of the build, which starts in a third of the time, otherwise the
 * sources'.
 */
export const cli: string = MILLRACE_BUILT
  ? join(MILLRACE_BUILT, "lib/cli/cli.js")
  : fileURLToPath(new URL("../../lib/cli/cli.ts", import.meta.url));
const isDeno = "deno" in process.versions;

/** Runs the command line on the runtime that runs the tests; `during` is given the process once it has started. */
export function millrace(
  words: readonly string[],
  during: (process: ReturnType<typeof spawn>) => void = () => {},
  options: Pick<SpawnOptions, "cwd" | "env"> = {},
): Promise<Ended> {
  return millraceOn(process.execPath, isDeno, words, during, options);
}

/** Runs the command line on the runtime at `path`. */
export function millraceOn(
  path: string,
  isDeno: boolean,
  words: readonly string[],
  during: (process: ReturnType<typeof spawn>) => void = () => {},
  options: Pick<SpawnOptions, "cwd" | "env"> = {},
): Promise<Ended> {
  const child = spawn(path, [...(isDeno ? ["run", "-A", "--no-check"] : []), cli, ...words], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("spawn", () => during(child));
    // Deno reports an exit status above 128 as the signal that the status means in a shell.
    child.on("close", (status, signal) => {
      resolve({ status: status ?? (signal && 128 + constants.signals[signal]), stdout, stderr });
    });
  });
}
