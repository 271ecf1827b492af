import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { type EndingSignal, endingSignals, interrupted } from "./exit_status.ts";

/**
 * Waits for the first signal that asks to end. A second one ends the process at once, with the status that shells give
 * to it.
 */
export function firstEndingSignal(): Promise<EndingSignal> {
  let isEnding = false;
  return new Promise((resolve) => {
    for (const signal of endingSignals) {
      process.on(signal, () => {
        if (isEnding) process.exit(interrupted[signal]);
        isEnding = true;
        resolve(signal);
      });
    }
  });
}

/**
 * Calls `reload` on SIGHUP, which is how servers are told of changes. It also comes when the terminal that the command
 * runs in is closed: that ends it like SIGTERM, for nobody would be left to do so.
 */
export function onHangUp(reload: () => unknown): void {
  if (process.platform === "win32") return; // there it means the latter only
  const hadTerminal = hasTerminal();
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) process.kill(process.pid, "SIGTERM");
    else reload();
  });
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
