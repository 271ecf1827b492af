/**
 * Checks what the package is made with: the lockfiles, licences, known vulnerabilities and signatures of npm packages,
 * crates, and whether the committed codecs are built from the sources.
 *
 *   npm run check:supply
 *
 * What needs the network, or a tool that is not here, is skipped if it cannot be had, saying so: that is no failure.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cargoLockFaults, noticeFaults, npmLockFaults } from "./lockfiles.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const MINUTE = 60_000;

/** The result of a check: the problems found, or the reason it was skipped. */
type Result = { readonly faults: readonly string[] } | { readonly skipped: string };

interface Ended {
  /** Undefined if the program is missing. */
  readonly status: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, ...args: string[]): Ended {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    timeout: 5 * MINUTE,
    maxBuffer: 2 ** 28,
    env: { ...process.env, NO_COLOR: "1", CARGO_TERM_COLOR: "never" },
  });
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  return { status: isMissing ? undefined : status, stdout: stdout ?? "", stderr: stderr ?? "" };
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Returns a report of npm; undefined if it could not ask the registry. */
function npmReport<T>(key: keyof T, ...args: string[]): T | string {
  const { status, stdout, stderr } = run("npm", ...args, "--json");
  try {
    const report = JSON.parse(stdout);
    if (report[key] !== undefined) return report as T;
    return String(report.message ?? report.error?.summary ?? report.error?.code ?? `npm ended with ${status}`);
  } catch {
    const line = stderr.split("\n").find((line) => line.startsWith("npm error")) ?? `npm ended with ${status}`;
    return line.replace(/^npm error (code )?/, "");
  }
}

interface Vulnerability {
  readonly severity: string;
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

/** Returns the vulnerabilities with these severities: all count in users' packages, only high ones in tools. */
function audit(args: readonly string[], severities: readonly string[]): Result {
  const report = npmReport<{ vulnerabilities: Record<string, Vulnerability> }>("vulnerabilities", "audit", ...args);
  if (typeof report === "string") return { skipped: `the registry gives no advice: ${report}` };
  const found = Object.entries(report.vulnerabilities).filter(([, { severity }]) => severities.includes(severity));
  return {
    faults: found.map(([name, { severity, via }]) => {
      const reasons = via.map((one) => typeof one === "string" ? `by ${one}` : `${one.title}, ${one.url}`);
      return `${name}, ${severity}: ${reasons.join("; ")}`;
    }),
  };
}

function signatures(): Result {
  interface Unsigned {
    readonly name: string;
    readonly version: string;
  }
  const report = npmReport<{ invalid: Unsigned[]; missing: Unsigned[] }>("invalid", "audit", "signatures");
  if (typeof report === "string") return { skipped: `the registry gives no keys: ${report}` };
  const told = (what: string) => ({ name, version }: Unsigned): string => `${name} ${version}: ${what}`;
  return {
    faults: [...report.invalid.map(told("its signature is wrong")), ...report.missing.map(told("it has no signature"))],
  };
}

function cargoDeny(...what: string[]): Result {
  const args = ["deny", "--manifest-path", "wasm/Cargo.toml", "--all-features", "check", ...what];
  const { status, stderr } = run("cargo", ...args);
  if (status === undefined) return { skipped: "there is no cargo here" };
  if (status === 0) return { faults: [] };
  if (/no such command|unrecognized subcommand/.test(stderr)) {
    return { skipped: "there is no cargo-deny here: cargo install cargo-deny --locked" };
  }
  const cannotAsk = /failed to (fetch|load|open|clone).*(advisory|index|repositor)/i.exec(stderr);
  if (what.includes("advisories") && cannotAsk) return { skipped: `the advisories cannot be had: ${cannotAsk[0]}` };
  return { faults: [stderr.trim()] };
}

function codecsAreBuilt(): Result {
  const { status, stderr } = run(process.execPath, "wasm/build.mjs", "--check");
  return { faults: status === 0 ? [] : [stderr.trim()] };
}

const checks: Readonly<Record<string, () => Result>> = {
  "npm packages: origins, licences, scripts": () => {
    return { faults: npmLockFaults(JSON.parse(read("package-lock.json")), JSON.parse(read("package.json"))) };
  },
  "crates: origins and checksums": () => ({ faults: cargoLockFaults(read("wasm/Cargo.lock")) }),
  "the codecs are built from wasm/": codecsAreBuilt,
  "notices of what is compiled into the codecs": () => {
    const { notices } = JSON.parse(read("lib/codecs/wasm/build.json"));
    const text = read("lib/codecs/wasm/THIRD_PARTY_NOTICES.txt");
    return { faults: noticeFaults(text, notices, read("wasm/Cargo.lock"), read("wasm/Cargo.toml")) };
  },
  "npm audit of what users get": () => audit(["--omit=dev"], ["info", "low", "moderate", "high", "critical"]),
  "npm audit of the tools": () => audit([], ["high", "critical"]),
  "npm audit signatures": signatures,
  "cargo deny: licences, bans, sources": () => cargoDeny("licenses", "bans", "sources"),
  "cargo deny: advisories": () => cargoDeny("advisories"),
};

let failed = 0;
let skipped = 0;
for (const [name, check] of Object.entries(checks)) {
  const result = check();
  if ("skipped" in result) {
    skipped++;
    console.log(`skipped  ${name}: ${result.skipped}`);
  } else if (result.faults.length === 0) {
    console.log(`well     ${name}`);
  } else {
    failed++;
    console.log(`FAILED   ${name}:\n  ${result.faults.join("\n  ")}`);
  }
}
const count = Object.keys(checks).length;
console.log(`\n${count - failed - skipped} well, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
