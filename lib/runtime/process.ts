import process from "node:process";
import { isPermitted } from "./permissions.ts";

/** Whether a process with this id runs on this machine; undefined if this process may not know. */
export function isProcessAlive(id: number): boolean | undefined {
  if (!isPermitted("signals")) return id === process.pid ? true : undefined;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // Signalling another user's process is refused, which proves that it is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
