/**
 * The part of `node:test` that these tests use, without a test runner: Bun 1.2 has no `node:test`, and Deno 2.4 one
 * without hooks. Tests run one after the other, in the order of their registration.
 *
 * @module
 */
import process from "node:process";
import { setTimeout } from "node:timers";

interface Options {
  readonly skip?: boolean | string;
  readonly todo?: boolean | string;
  readonly timeout?: number;
}

type Body = () => unknown;

/** A test, or a group of them with its hooks. */
interface Entry {
  readonly name: string;
  readonly options: Options;
  readonly body: Body | undefined;
  readonly group: Group | undefined;
}

class Group {
  readonly entries: Entry[] = [];
  readonly before: Body[] = [];
  readonly after: Body[] = [];
}

/** The group that tests and hooks are being added to. */
let current = new Group();
const root = current;

/** Sorts out the arguments, of which names and options may be left out. */
function told(args: readonly unknown[]): { name: string; options: Options; body: Body | undefined } {
  const body = args.find((arg): arg is Body => typeof arg === "function");
  const name = args.find((arg) => typeof arg === "string") ?? body?.name ?? "";
  const options = args.find((arg): arg is Options => typeof arg === "object" && arg !== null) ?? {};
  return { name, options, body };
}

/** Adds a test to the group. */
export function test(...args: readonly unknown[]): void {
  current.entries.push({ ...told(args), group: undefined });
}
export { test as default, test as it };

/** Adds a group of tests, which its body adds. */
export function describe(...args: readonly unknown[]): void {
  const { name, options, body } = told(args);
  const outer = current;
  const group = new Group();
  outer.entries.push({ name, options, body, group });
  if (isSkipped({ options, body })) return;
  current = group;
  try {
    body?.();
  } finally {
    current = outer;
  }
}

/** Adds something to do before the first test of the group. */
export function before(body: Body): void {
  current.before.push(body);
}

/** Adds something to do after the last test of the group. */
export function after(body: Body): void {
  current.after.push(body);
}

function isSkipped({ options, body }: Pick<Entry, "options" | "body">): boolean {
  return Boolean(options.skip) || Boolean(options.todo) || body === undefined;
}

/** The number of tests that passed, failed and were skipped. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** The names of the tests that failed. */
  failures: string[];
}

/** Runs the registered tests and prints the failures. */
export async function runTests(limit: number): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const failed = (name: string, error: unknown): void => {
    outcome.failed++;
    outcome.failures.push(name);
    console.log(`failed: ${name}\n${error instanceof Error ? error.stack ?? error.message : String(error)}`);
  };
  process.on("unhandledRejection", (error) => failed("a rejection that nobody handles", error));
  process.on("uncaughtException", (error) => failed("an error that nobody catches", error));
  await runGroup(root, "", { outcome, failed, limit });
  return outcome;
}

interface Run {
  readonly outcome: Outcome;
  readonly failed: (name: string, error: unknown) => void;
  readonly limit: number;
}

async function runGroup(group: Group, prefix: string, run: Run): Promise<void> {
  try {
    for (const hook of group.before) await within(run.limit, hook);
    for (const entry of group.entries) await runEntry(entry, prefix + entry.name, run);
  } catch (error) {
    run.failed(`${prefix || "the file"} (before)`, error);
  }
  try {
    for (const hook of group.after) await within(run.limit, hook);
  } catch (error) {
    run.failed(`${prefix || "the file"} (after)`, error);
  }
}

async function runEntry(entry: Entry, name: string, run: Run): Promise<void> {
  if (isSkipped(entry)) {
    run.outcome.skipped++;
    return;
  }
  if (entry.group) return await runGroup(entry.group, `${name} > `, run);
  try {
    await within(entry.options.timeout ?? run.limit, entry.body!);
    run.outcome.passed++;
  } catch (error) {
    run.failed(name, error);
  }
}

async function within(limit: number, body: Body): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it has not ended within ${limit} ms`)), limit);
  try {
    await Promise.race([promise, (async () => await body())()]);
  } finally {
    clearTimeout(timer);
  }
}
