import { constants, type Stats } from "node:fs";
import { OpenFile, openOutputFile, type OutputFile } from "../files/internal.ts";

/**
 * Opens a device or a pipe to write to. What it was given stays there: discarding takes nothing back.
 *
 * @throws {Error} what the system says, with its `code`: `ENXIO` of a pipe that nobody reads, and of a socket.
 */
export async function openDevice(path: string, status: Stats): Promise<OutputFile> {
  if (!status.isFIFO()) return await openOutputFile(path, {});
  // Opening a pipe waits for a reader, in one of the few threads for files: it would wait for ever if nobody reads. A
  // reader stays as long as there is somebody to write.
  const probe = await OpenFile.open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    return await openOutputFile(path, {});
  } finally {
    await probe.close();
  }
}
