import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { certificateFile, fileHere } from "./files.ts";
import { type PeerProcess, programPath, startApplication } from "./processes.ts";

const command = programPath("go");

/** The reason for a missing server on Go's net/http; false if it is installed. */
export const noGo: string | false = command ? false : "go is not installed";

/** The flags by which `.ci/run` has compiled the standard library. */
const GOFLAGS = "-buildvcs=false '-gcflags=all=-N -l -dwarf=false' -ldflags=-w";

/** Builds the application in Go, which takes a second once its standard library is in Go's cache, and starts it. */
export async function startGo(folder: string): Promise<PeerProcess> {
  await mkdir(folder, { recursive: true });
  const server = join(folder, "server");
  const options = { cwd: fileHere("go"), env: { ...process.env, GOFLAGS, GOTOOLCHAIN: "local", CGO_ENABLED: "0" } };
  await promisify(execFile)(command ?? "go", ["build", "-o", server, "."], options);
  return await startApplication(server, ["localhost.pem", "localhost.key", "ca.pem"].map(certificateFile));
}
