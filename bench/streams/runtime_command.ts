/**
 * In MiB. V8 lets the space of young objects grow from 1 to 16 as a program makes more, sooner or later by what it loaded
 * before: `Response.bytes()` of one implementation moved fourfold from run to run. So it has one size for all, that of a
 * program that has run for a while.
 */
const YOUNG = ["--min-semi-space-size=16", "--max-semi-space-size=16"];

/**
 * The environment that makes glibc keep freed memory in the process. By default, glibc returned megabytes to the system
 * and faulted their pages again, depending on the heap's layout. `Response.arrayBuffer()` of one implementation ran at
 * a third of its speed in every other process.
 */
export const KEEPS_MEMORY: Readonly<Record<string, string>> = {
  MALLOC_TRIM_THRESHOLD_: String(2 ** 30),
  MALLOC_MMAP_THRESHOLD_: String(2 ** 25),
  MALLOC_TOP_PAD_: String(2 ** 26),
};

const options: Readonly<Record<string, readonly string[]>> = {
  node: YOUNG,
  bun: [],
  deno: ["run", "-A", "--no-check", `--v8-flags=${YOUNG}`],
};

/** Returns the command that runs a script to be measured on a runtime. */
export function runtimeCommand(runtime: string, executable: string): readonly string[] {
  return [executable, ...options[runtime]];
}
