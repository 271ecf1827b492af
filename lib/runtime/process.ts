import process from "node:process";

/** Whether a process with this id runs on this machine. */
export function isProcessAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // Signalling another user's process is refused, which proves that it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
