import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { saveInput } from "./corpus.ts";
import type { Failure, Tally } from "./fuzzer.ts";
import { readState } from "./state_file.ts";

const here = dirname(fileURLToPath(import.meta.url));

/** The runtimes, with the command that runs a module on each. */
export const runtimes: Readonly<Record<string, readonly string[]>> = {
  node: ["node"],
  bun: ["bun"],
  deno: ["deno", "run", "-A", "--no-check", "--quiet"],
};

/** An input that takes as long as that, in ms, hangs. */
const PATIENCE = 30_000;

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Whether the process was stopped after a time without progress. */
  readonly isHung: boolean;
}

/** Runs a command; `isStuck` is called at intervals and decides whether to end it. */
function runToEnd([command, ...args]: readonly string[], isStuck: () => boolean): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr, isHung] = ["", "", false];
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr = (stderr + text).slice(-5000));
    const watch = setInterval(() => {
      if (!isStuck()) return;
      isHung = true;
      child.kill("SIGKILL");
    }, 1000);
    child.once("error", reject).once("close", (code, signal) => {
      clearInterval(watch);
      resolve({ stdout, stderr, code, signal, isHung });
    });
  });
}

/** Fuzzes a target on a runtime, in a separate process: a crash or hang counts as a failure. */
export async function fuzz(runtime: string, target: string, milliseconds: number, seed: number): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-fuzz-"));
  const file = join(folder, "state");
  let [count, since] = [-1, Date.now()];
  const isStuck = (): boolean => {
    const now = stateOf(file).count;
    if (now !== count) [count, since] = [now, Date.now()];
    return Date.now() - since > PATIENCE;
  };
  try {
    const command = [...runtimes[runtime], join(here, "child.ts"), target, String(milliseconds), String(seed), file];
    const ended = await runToEnd(command, isStuck);
    if (ended.code === 0) return JSON.parse(ended.stdout.trim().split("\n").at(-1)!) as Tally;
    const state = stateOf(file);
    const how = ended.isHung
      ? `it hangs: nothing for ${PATIENCE / 1000} s`
      : `it ended with ${ended.signal ?? ended.code}`;
    const path = saveInput(target, "failure-", state.input);
    const failure: Failure = { message: `${how}\n${ended.stderr.trim()}`, path };
    return { tried: state.count, endings: 0, saved: 0, covered: 0, failures: [failure] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function stateOf(file: string): { count: number; input: Uint8Array } {
  try {
    return readState(file);
  } catch {
    return { count: 0, input: new Uint8Array(0) }; // it has not begun yet
  }
}

/** Programs of stream operations against the reference and native streams, as many as fit into the time. */
export async function fuzzStreams(runtime: string, milliseconds: number, seed: number): Promise<Tally> {
  const end = Date.now() + milliseconds;
  const tally: Tally = { tried: 0, endings: 0, saved: 0, covered: 0, failures: [] };
  const script = join(here, "../streams/differential/run.ts");
  for (let first = seed, programs = 500; Date.now() < end && tally.failures.length === 0; first += programs) {
    const began = Date.now();
    const args = ["--programs", String(programs), "--seed", String(first), "--quiet"];
    const { code, stdout, stderr, isHung } = await runToEnd([...runtimes[runtime], script, ...args], () => {
      return Date.now() > began + 20 * PATIENCE;
    });
    tally.tried += programs;
    const message = `${isHung ? "it hangs\n" : ""}${stdout}${stderr}`;
    if (code !== 0) tally.failures.push({ message, path: `seed ${first}` });
  }
  return tally;
}
