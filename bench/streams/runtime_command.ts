/**
 * In MiB. V8 lets the space of young objects grow from 1 to 16 as a program makes more, sooner or later by what it loaded
 * before: `Response.bytes()` of one implementation moved fourfold from run to run. So it has one size for all, that of a
 * program that has run for a while.
 */
const YOUNG = ["--min-semi-space-size=16", "--max-semi-space-size=16"];

const options: Readonly<Record<string, readonly string[]>> = {
  node: YOUNG,
  bun: [],
  deno: ["run", "-A", "--no-check", `--v8-flags=${YOUNG}`],
};

/** The command that runs a script to be measured on a runtime. */
export function runtimeCommand(runtime: string, executable: string): readonly string[] {
  return [executable, ...options[runtime]];
}
