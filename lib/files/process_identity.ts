import { createHash } from "node:crypto";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import process from "node:process";
import { isPermitted, isProcessAlive } from "../runtime/mod.ts";

let space: string | undefined;

/**
 * Returns eight hexadecimal digits for the namespace of process ids and start times: on Linux the boot of the machine
 * and the container; elsewhere the machine's name, which others may have, too, and the addresses of its network
 * interfaces. A process that has none, or may not read that, has its own namespace, without a prompt to its user.
 */
export function pidNamespace(): string {
  space ??= createHash("sha256").update(describeSpace()).digest("hex").slice(0, 8);
  return space;
}

function describeSpace(): string {
  const isLinux = process.platform === "linux";
  if (!isPermitted(isLinux ? "systemFiles" : "machine")) return crypto.randomUUID();
  try {
    if (!isLinux) {
      const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
      const addresses = new Set(interfaces.map(({ mac }) => mac).filter((mac) => /[1-9a-f]/i.test(mac)));
      return addresses.size > 0 ? [hostname(), ...[...addresses].sort()].join() : crypto.randomUUID();
    }
    // The first container of each machine has the same number, and machines may have the same name.
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1") + readlinkSync("/proc/self/ns/pid");
    // Exists from Linux 5.6 on.
    return existsSync("/proc/self/ns/time") ? boot + readlinkSync("/proc/self/ns/time") : boot;
  } catch {
    return crypto.randomUUID();
  }
}

/** The identity of a thread without information from the system. */
const UNKNOWN = "0.0";

let threadId: string | undefined;
let ownMain: string | undefined;

/** Returns the identity of this thread: its number and start time; "0.0" on systems other than Linux. */
export function threadIdentity(): string {
  return threadId ??= identified(() => /\d+$/.exec(readlinkSync("/proc/thread-self"))![0]);
}

/** Returns the start time of this process, in the system's own unit; "0" on systems other than Linux. */
export function mainThreadStart(): string {
  return (ownMain ??= identified(() => `${process.pid}`)).split(".")[1];
}

function identified(thread: () => string): string {
  if (process.platform !== "linux" || !isPermitted("systemFiles")) return UNKNOWN;
  try {
    const id = thread();
    return `${id}.${startOf(process.pid, id)!}`;
  } catch {
    return UNKNOWN;
  }
}

/**
 * Whether a thread of this namespace runs: the one with the given start, not another with its id; undefined if unknown.
 *
 * @param thread The identity of the thread; undefined if it is not known.
 */
export function isThreadAlive(processId: number, thread: string | undefined): boolean | undefined {
  if (isProcessAlive(processId) === false) return false;
  if (thread === undefined || thread.endsWith(".0") || threadIdentity() === UNKNOWN) return undefined;
  const [id, start] = thread.split(".");
  try {
    // A missing folder may be hidden: some systems hide those of other users.
    return existsSync(`/proc/${processId}/task`) ? startOf(processId, id) === start : undefined;
  } catch (error) {
    return ["ENOENT", "ESRCH"].includes((error as { code: string }).code) ? false : undefined;
  }
}

/** Returns the start time of a thread, in the system's own unit; undefined if it has ended, or is a zombie. */
function startOf(processId: number, id: string): string | undefined {
  const status = readFileSync(`/proc/${processId}/task/${id}/stat`, "latin1");
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" "); // from the third field on
  return /[ZXx]/.test(fields[0]) ? undefined : fields[19];
}
