import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { root } from "../root.ts";
import type { Counts } from "../test_counts.ts";
import { knownFailures } from "./chosen.ts";

export const isWindows: boolean = process.platform === "win32";
/** Whether the system is Wine, which has this variable for its programs. */
const isWine: boolean = isWindows && "WINEHOMEDIR" in process.env;

/** The folders of npm's runtimes: on Windows a program is found by `spawn()` where its own file is alone. */
export const runtimeFolders: readonly string[] = ["node/bin", "bun/bin", "deno"].map((folder) =>
  join(root, "node_modules", folder)
);

/** Takes what is known to fail under Wine from the failures, to the skipped ones. */
export function withoutKnownFailures(counts: Counts): Counts {
  const failures = counts.failures.filter(({ name, file = "" }) => {
    return !knownFailures.some((each) => file.replaceAll("\\", "/").endsWith(each.file) && each.test.test(name));
  });
  const known = counts.failures.length - failures.length;
  return { ...counts, failed: counts.failed - known, skipped: counts.skipped + known, failures };
}

/** Does what {@linkcode withoutKnownFailures} does, under Wine. */
export function judgedHere(counts: Counts): Counts {
  return isWine ? withoutKnownFailures(counts) : counts;
}

/** Whether a runtime starts; what does not start on Windows itself fails as a run. */
export function startsHere(name: string, path: string | undefined): boolean {
  if (!isWine) return true;
  const words = name === "deno" ? ["eval", "1"] : ["--eval", "1"];
  const { status } = spawnSync(name, words, { env: { ...process.env, PATH: path }, stdio: "ignore", timeout: 60_000 });
  if (status !== 0) console.log(`left out: ${name}, which ends with ${status} under Wine before it runs anything`);
  return status === 0;
}
