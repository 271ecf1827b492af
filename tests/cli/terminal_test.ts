import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { inFolder, writeTree } from "../support/folders.ts";
import { command } from "./serving.ts";

/** `script` of util-linux runs a command in a terminal of its own. */
const noTerminal = spawnSync("script", ["--version"]).stdout?.includes("util-linux")
  ? false
  : "script is not installed";

/** A command in a terminal and its output. */
interface InTerminal {
  readonly terminal: ChildProcess;
  readonly pid: number;
  /** Waits for a text, and returns its match. */
  readonly says: (text: RegExp) => Promise<RegExpExecArray>;
}

async function inTerminal(words: readonly string[]): Promise<InTerminal> {
  const line = `echo "pid $$ "; exec ${words.map((word) => `'${word}'`).join(" ")}`;
  const terminal = spawn("script", ["--quiet", "--flush", "--command", line, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, SHELL: "/bin/sh" },
  });
  let said = "";
  terminal.stdout.on("data", (text) => said += text);
  const says = async (text: RegExp): Promise<RegExpExecArray> => {
    for (let tries = 0; tries < 1000; tries++) {
      const found = text.exec(said);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`it did not say ${text}: ${said}`);
  };
  return { terminal, pid: Number((await says(/pid (\d+) /))[1]), says };
}

test(
  "the end of its terminal ends millrace serve, while SIGHUP alone does not",
  { skip: noTerminal },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "index.html": "<p>home</p>" });
      const { terminal, pid, says } = await inTerminal(command(["serve", folder, "--port", "0"]));
      try {
        const [, url] = await says(/at (http:\S+)/);
        process.kill(pid, "SIGHUP");
        await says(/scanned .* again/);
        assert.equal(await (await fetch(url)).text(), "<p>home</p>");
        process.kill(terminal.pid!, "SIGKILL");
        assert.ok(await isGone(url), "it still answers");
      } finally {
        if (isAlive(pid)) process.kill(pid, "SIGKILL");
        if (isAlive(terminal.pid!)) process.kill(terminal.pid!, "SIGKILL");
      }
    }),
);

/** Whether nothing answers at `url` any more, at last. */
async function isGone(url: string): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    if (await fetch(url).then((response) => response.text().then(() => false), () => true)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
