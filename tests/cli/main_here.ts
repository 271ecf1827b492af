import process from "node:process";
import { main } from "../../lib/cli/main.ts";
import type { Ended } from "../support/command.ts";

/** Runs the command line in this process, as without a terminal: a process would take far longer. */
export async function mainHere(words: readonly string[]): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const write = stream.write;
    stream.write = ((chunk: string | Uint8Array, ...rest: never[]): boolean => {
      // The command writes text, the test runner its events in bytes.
      if (typeof chunk !== "string") return write.call(stream, chunk, ...rest);
      printed[name] += chunk;
      return true;
    }) as typeof write;
    const isTTY = Object.getOwnPropertyDescriptor(stream, "isTTY");
    Object.defineProperty(stream, "isTTY", { value: false, configurable: true });
    return () => {
      stream.write = write;
      Reflect.deleteProperty(stream, "isTTY");
      if (isTTY !== undefined) Object.defineProperty(stream, "isTTY", isTTY);
    };
  });
  try {
    return { status: await main(words), ...printed };
  } finally {
    for (const undo of restore) undo();
  }
}
