import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import process from "node:process";
import { freePort } from "../../support/ports.ts";

/** Another server, as it runs. */
export interface ServerProcess {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a command that serves at a port of 127.0.0.1 and waits until it accepts connections.
 *
 * @param prepare Called with the port; returns the command's words.
 */
export async function startServer(
  command: string,
  prepare: (port: number) => Promise<readonly string[]>,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const child = spawn(command, await prepare(port), {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  let said = "";
  child.stderr.on("data", (text) => said += text);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async (): Promise<void> => {
    if (child.exitCode === null) child.kill("SIGTERM");
    await ended;
  };
  for (let tries = 0; !await accepts(port); tries++) {
    if (tries > 200 || hasEnded(child)) {
      await close();
      throw new Error(`${command} does not serve: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { port, close };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
