import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The duration and memory of a process. */
export interface Measured {
  /** The duration from its start to its end, in seconds. */
  readonly seconds: number;
  /** The peak of its resident memory in MiB, read from outside; NaN where there is no `/proc`. */
  readonly peakMemory: number;
  readonly output: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Runs a script of the repository on this runtime to its end, and rejects if it fails. */
export function runMeasured(script: string, args: readonly string[]): Promise<Measured> {
  const run = process.versions.deno ? ["run", "-A"] : [];
  return new Promise((ended, failed) => {
    const start = performance.now();
    const child = spawn(process.execPath, [...run, join(root, script), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    let peakMemory = NaN;
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
    const sampling = setInterval(() => peakMemory = memoryPeakOf(child.pid!) ?? peakMemory, 20);
    child.on("error", failed).on("close", (code) => {
      clearInterval(sampling);
      if (code !== 0) return failed(new TypeError(`${script} ${args.join(" ")} ended with ${code}:\n${output}`));
      ended({ seconds: (performance.now() - start) / 1000, peakMemory, output });
    });
  });
}

/** Returns the kernel's own high-water mark, so that no peak between two samples is missed but the very last. */
function memoryPeakOf(pid: number): number | undefined {
  try {
    const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
  } catch {
    return undefined; // it has just ended
  }
}
