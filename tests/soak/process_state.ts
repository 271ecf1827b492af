import { readdirSync } from "node:fs";
import process from "node:process";
import { memory } from "../http/soak/memory.ts";

/** The memory and resources of a process between two rounds. */
export interface Sample {
  /** Rounds done. */
  readonly rounds: number;
  /** Resident memory after a collection, in MB. */
  readonly rss: number;
  /** The heap of JavaScript. */
  readonly heap: number;
  /** The number of open files and sockets; 0 where the system does not report them. */
  readonly files: number;
  /** The number of timers, sockets and others that keep the process alive; 0 where the runtime does not report them. */
  readonly resources: number;
}

export function sample(rounds: number): Sample {
  return { rounds, ...memory(), files: openFiles(), resources: resources() };
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

function resources(): number {
  const { getActiveResourcesInfo } = process as { getActiveResourcesInfo?: () => string[] };
  return getActiveResourcesInfo?.call(process).length ?? 0;
}
