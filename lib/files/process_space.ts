import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import { isPermitted } from "../runtime/mod.ts";

let space: string | undefined;

/**
 * Eight hexadecimal digits that stand for where process ids mean the same: the machine since it was started, and on
 * Linux the container. A process that may not ask has a space of its own, without a question to its user.
 */
export function processSpace(): string {
  space ??= createHash("sha256").update(describeSpace()).digest("hex").slice(0, 8);
  return space;
}

function describeSpace(): string {
  const isLinux = process.platform === "linux";
  if (!isPermitted(isLinux ? "systemFiles" : "hostname")) return crypto.randomUUID();
  try {
    if (!isLinux) return hostname();
    // The first container of each machine has the same number, and machines may have the same name.
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1") + readlinkSync("/proc/self/ns/pid");
  } catch {
    return crypto.randomUUID();
  }
}
