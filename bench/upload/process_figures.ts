import { readFileSync } from "node:fs";

/** Ticks of the clock that Linux counts CPU time with, in a second. */
const TICKS = 100;

/** CPU seconds that a process has taken so far, all threads together, user and system. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before may have spaces
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Returns the most memory that was resident at a time, in MiB: the kernel's own mark. */
export function peakMemoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024;
}
