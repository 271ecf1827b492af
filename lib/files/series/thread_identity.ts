import { existsSync, readFileSync, readlinkSync } from "node:fs";
import process from "node:process";
import { isPermitted } from "../../runtime/mod.ts";

/** The identity of a thread of which the system tells nothing. */
const UNKNOWN = "0.0";

let own: string | undefined;

/** The identity of this thread: its number in the system, and when it was started; "0.0" where only Linux could tell. */
export function ownThread(): string {
  own ??= describeOwn();
  return own;
}

function describeOwn(): string {
  if (process.platform !== "linux" || !isPermitted("systemFiles")) return UNKNOWN;
  try {
    const [id] = /\d+$/.exec(readlinkSync("/proc/thread-self"))!;
    return `${id}.${startOf(process.pid, id)!}`;
  } catch {
    return UNKNOWN;
  }
}

/** Whether a thread of a process runs, by its identity; undefined if nobody can tell. */
export function isThreadAlive(processId: number, thread: string): boolean | undefined {
  if (thread === UNKNOWN || ownThread() === UNKNOWN) return undefined;
  const [id, start] = thread.split(".");
  try {
    // A folder that is not there may be hidden: those of other users are on some systems.
    return existsSync(`/proc/${processId}/task`) ? startOf(processId, id) === start : undefined;
  } catch (error) {
    return ["ENOENT", "ESRCH"].includes((error as { code: string }).code) ? false : undefined;
  }
}

/** When a thread was started, in the system's own unit; undefined if it has ended, and nobody has asked how. */
function startOf(processId: number, id: string): string | undefined {
  const status = readFileSync(`/proc/${processId}/task/${id}/stat`, "latin1");
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" "); // from the third one on
  return /[ZXx]/.test(fields[0]) ? undefined : fields[19];
}
