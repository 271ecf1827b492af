import { spawn } from "node:child_process";
import process from "node:process";

/** A server in a separate process, whose group contains the processes its launcher starts. */
export interface ServingCommand {
  readonly url: URL;
  /** Ends the server as a service manager does, and returns its exit code; null if the signal ended it. */
  stop(): Promise<number | null>;
}

/**
 * Starts a command that ends with `serve` and its arguments, and waits for the line with its address.
 *
 * @throws {TypeError} if the command ends before.
 */
export async function startServing(words: readonly string[], cwd: string, env: object): Promise<ServingCommand> {
  const [command, ...args] = words;
  const options = { cwd, env: { ...process.env, NO_COLOR: "1", ...env }, detached: true } as const;
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let printed = "";
  const url = await new Promise<URL>((found, failed) => {
    child.once("error", failed);
    child.once("close", (code) => failed(new TypeError(`${words.join(" ")} ended with ${code}:\n${printed}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        const [, address] = /\bat (http:\S+)/.exec(printed) ?? [];
        if (address) found(new URL(address));
      });
    }
  });
  return {
    url,
    async stop(): Promise<number | null> {
      process.kill(-child.pid!, "SIGTERM");
      return await ended;
    },
  };
}
