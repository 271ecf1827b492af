import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "../root.ts";
import type { Counts } from "../test_counts.ts";
import { chosen, knownFailures, long, unknownSyntax } from "./chosen.ts";

export const isWindows: boolean = process.platform === "win32";
/** Whether the system is Wine, which has this variable for its programs. */
export const isWine: boolean = isWindows && "WINEHOMEDIR" in process.env;

/** The folders of npm's runtimes: on Windows a program is found by `spawn()` where its own file is alone. */
export const runtimeFolders: readonly string[] = ["node/bin", "bun/bin", "deno"].map((folder) =>
  join(root, "node_modules", folder)
);

/**
 * Returns the tests of differences between systems; under Wine, without long ones and those whose syntax its Node can't
 * parse.
 */
export function systemTests(): string[] {
  if (!isWine) return [...chosen, ...long];
  return chosen.filter((file) => !unknownSyntax.test(readFileSync(join(root, file), "utf8")));
}

/** Moves the failures known under Wine to the skipped tests. */
export function withoutKnownFailures(counts: Counts): Counts {
  const failures = counts.failures.filter(({ name, file = "" }) => {
    return !knownFailures.some((each) => file.replaceAll("\\", "/").endsWith(each.file) && each.test.test(name));
  });
  const known = counts.failures.length - failures.length;
  return { ...counts, failed: counts.failed - known, skipped: counts.skipped + known, failures };
}

/** Applies {@linkcode withoutKnownFailures} under Wine. */
export function judgedHere(counts: Counts): Counts {
  return isWine ? withoutKnownFailures(counts) : counts;
}

/** Removes a folder with all in it, which Bun cannot do under Wine 8; V8 of Node 24 and of Deno does not start there. */
const TRIAL = `import("node:fs").then((fs) => fs.rmSync(fs.mkdtempSync("trial-"), { recursive: true }))`;

/** Whether tests can run on a runtime: true except under Wine, where some runtimes fail a trial. */
export function canRunTests(name: string, path: string | undefined): boolean {
  if (!isWine) return true;
  const words = name === "deno" ? ["eval", TRIAL] : ["--eval", TRIAL];
  const options = { cwd: tmpdir(), env: { ...process.env, PATH: path }, stdio: "ignore", timeout: 60_000 } as const;
  const { status, error } = spawnSync(name, words, options);
  if (status === 0) return true;
  console.log(`left out under Wine: ${name}, which ${error === undefined ? `ends with ${status}` : error.message}`);
  return false;
}
