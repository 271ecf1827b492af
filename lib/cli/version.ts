import process from "node:process";
import { commandWords } from "../runtime/mod.ts";

/** The package's version; a test compares it with the manifests. */
export const version = "0.2.0";

/** Runs the command, and sets the exit status of the process. @param load Loads the commands. */
export async function runCommand(
  load: () => Promise<{ main(words: readonly string[]): Promise<number> }>,
): Promise<void> {
  const words = commandWords();
  // Printed by `console`, since opening `process.stdout` takes Bun 6 ms.
  if (asksForVersion(words)) console.log(`millrace ${version}`);
  else process.exitCode = await (await load()).main(words);
}

export function asksForVersion([first, ...more]: readonly string[]): boolean {
  return first === "version" || (more.length === 0 && (first === "--version" || first === "-v"));
}
