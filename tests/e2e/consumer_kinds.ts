import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { output } from "../support/processes.ts";
import { bin, type Published } from "./published.ts";

/** A way to use the package, in the words that README has for it. */
export interface ConsumerKind {
  /** Adds the package to an empty folder. */
  readonly install: string;
  /** Runs a module there. */
  readonly run: string;
  /** Starts the command `millrace`. */
  readonly command: string;
}

/** Consumers of the npm package. */
export const npmKinds: readonly ConsumerKind[] = [
  { install: "npm i @millrace/streams", run: "node", command: "npx @millrace/streams" },
  { install: "bun add @millrace/streams", run: "bun", command: "bunx @millrace/streams" },
  { install: "deno add npm:@millrace/streams", run: "deno run -A", command: "deno run -A npm:@millrace/streams" },
];

/** The consumer of the JSR package. */
export const jsrKind: ConsumerKind = {
  install: "deno add jsr:@millrace/streams",
  run: "deno run -A",
  command: "deno run -A jsr:@millrace/streams/cli",
};

/** A project of a kind: a folder that was empty before the package was added to it. */
export interface Consumer extends ConsumerKind {
  readonly folder: string;
  /** The environment of a consumer who has only the kind's runtime and tools installed. */
  readonly env: Readonly<Record<string, string>>;
}

/** Makes a project of a kind by the command that README gives. */
export async function makeConsumer(kind: ConsumerKind, published: Published): Promise<Consumer> {
  const [tool] = kind.run.split(" ");
  const [folder, path] = [join(published.folder, kind.install), join(published.folder, `only-${tool}`)];
  for (const made of [folder, path]) await mkdir(made, { recursive: true });
  for (const name of tool === "bun" ? ["bun", "bunx"] : [tool]) await symlink(join(bin, name), join(path, name));
  // npm comes from the system; Bun and Deno have to do without a Node that could step in.
  const env = { ...published.env, PATH: tool === "node" ? [path, process.env.PATH].join(delimiter) : path };
  const consumer = { ...kind, folder, env };
  await runWords(kind.install, [], consumer);
  return consumer;
}

/** Runs a command, as README writes it, in a consumer's folder. */
export function runWords(words: string, args: readonly string[], { folder, env }: Consumer): Promise<string> {
  const [command, ...rest] = words.split(" ");
  return output(onPath(command, env.PATH), [...rest, ...args], folder, env);
}

/** Runs a module of the consumer, and returns its output. */
export async function runModule(name: string, source: string, consumer: Consumer): Promise<string> {
  await writeFile(join(consumer.folder, name), source);
  return (await runWords(consumer.run, [name], consumer)).trim();
}

/** Returns the path of a command by the consumer's `PATH` rather than by this process's. */
export function onPath(command: string, path: string): string {
  const folder = path.split(delimiter).find((folder) => existsSync(join(folder, command)));
  if (folder === undefined) throw new TypeError(`${command} is not in ${path}`);
  return join(folder, command);
}
