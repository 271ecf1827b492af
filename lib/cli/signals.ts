import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { type EndingSignal, endingSignals, interrupted } from "./usage.ts";

/** Waits for the first terminating signal. A second one ends the process at once. */
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

/** Aborts a run at the first terminating signal. A second one ends the process at once. */
export class Interruption {
  /** The received signal; undefined if there was none. */
  by: EndingSignal | undefined = undefined;
  readonly #controller = new AbortController();
  /** Aborted when a signal comes. */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #stop = (signal: EndingSignal): void => {
    this.by = signal;
    this.#controller.abort(new Error(`stopped by ${signal}`));
  };

  /** Starts listening for signals. */
  constructor() {
    for (const signal of endingSignals) process.once(signal, this.#stop);
  }

  end(): void {
    for (const signal of endingSignals) process.off(signal, this.#stop);
  }
}

/** Calls `reload` on SIGHUP, like other servers. A SIGHUP from a closed terminal ends the command, since no user could end it later. */
export function onHangUp(reload: () => unknown): void {
  if (process.platform === "win32") return; // on Windows, SIGHUP means only a closed terminal
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
