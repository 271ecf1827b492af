/**
 * The time and memory of importing the package in a process that does nothing else, and of the first `compress`.
 *
 *   npm run bench -- cold_start [--rounds 31]
 *
 * The package is published to a registry of its own and installed as a consumer does: from npm on Node, Bun and Deno,
 * from JSR on Deno. Processes run in turns, each after a warm-up that is not counted, so that what runtimes cache is
 * there.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { root } from "../tests/support/runtime.ts";
import { type Consumer, type ConsumerKind, jsrKind, makeConsumer, npmKinds } from "../tests/e2e/consumer_kinds.ts";
import { publishCopy, type Published } from "../tests/e2e/published.ts";
import { empty, firstCompress, peerImports, type Subject, subpathImports } from "./cold_start/subjects.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "31" } } });
const rounds = Number(values.rounds);
const [runtime] = runtimeName().split(" ");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The milliseconds of each round. */
interface Times {
  /** Times from the start of the process to its end. */
  readonly whole: number[];
  /** Times that the process itself reports. */
  readonly told: number[];
}

/** Runs each subject in turn, over and over; peers that this runtime cannot load are left out. */
async function measure(subjects: readonly Subject[], consumer: Consumer): Promise<Map<Subject, Times>> {
  const modules = new Map<Subject, string>();
  for (const [i, subject] of subjects.entries()) {
    const path = join(consumer.folder, `subject_${i}.mjs`);
    await writeFile(path, subject.source);
    const { error } = await runProcess(path, consumer);
    if (error === "") modules.set(subject, path);
    else if (subject.isOptional) console.error(`${subject.name} does not load here: ${error}`);
    else throw new TypeError(`${subject.name}: ${error}`);
  }
  const times = new Map<Subject, Times>([...modules.keys()].map((subject) => [subject, { whole: [], told: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const [subject, path] of modules) {
      const { milliseconds, output } = await runProcess(path, consumer);
      times.get(subject)!.whole.push(milliseconds);
      if (output !== "") times.get(subject)!.told.push(Number(output));
    }
  }
  return times;
}

/** The duration, output and error (if any) of a process that ended. */
interface Ended {
  readonly milliseconds: number;
  readonly output: string;
  readonly error: string;
}

function runProcess(module: string, { run, folder, env }: Consumer): Promise<Ended> {
  return new Promise((ended, failed) => {
    const start = performance.now();
    const child = spawn(process.execPath, [...run.split(" ").slice(1), module], {
      cwd: folder,
      env: { ...process.env, ...env, NO_COLOR: "1", NODE_COMPILE_CACHE: undefined },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [output, error] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => error += text);
    child.on("error", failed).on("close", (code) => {
      const milliseconds = performance.now() - start;
      ended({
        milliseconds,
        output: output.trim(),
        error: code === 0 ? "" : error.split("\n", 1)[0] || `ended with ${code}`,
      });
    });
  });
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

const ms = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;

/** Measures one way to use the package; peers are compared where they can be. */
async function section(kind: ConsumerKind, published: Published, peers: readonly Subject[]): Promise<string> {
  const consumer = await makeConsumer(kind, published);
  const subjects = [empty, ...subpathImports(Object.keys(exports)), ...peers];
  const times = await measure([...subjects, ...[...firstCompress.values()].flat()], consumer);
  const middle = (subject: Subject): number => median(times.get(subject)!.whole);
  const imports = subjects.filter((subject) => subject !== empty && times.has(subject)).map((subject) => {
    return [`\`${subject.name}\``, ms(middle(subject) - middle(empty))];
  });
  const calls = [...firstCompress].map(([format, [ours, native]]) => {
    return [format, ...[ours, native].map((subject) => ms(median(times.get(subject)!.told)))];
  });
  return [
    `Installed by \`${kind.install}\`:`,
    table(["", "whole process"], [[empty.name, ms(middle(empty))]]),
    table(["import", "more than that"], imports),
    table(["first call in a process", "`compress()`", "`node:zlib`"], calls),
  ].join("\n\n");
}

const tool = runtime.toLowerCase();
const sections: string[] = [];
for (const [client, kinds] of [["npm", npmKinds], ["deno", [jsrKind]]] as const) {
  for (const kind of kinds.filter(({ run }) => run.split(" ")[0] === tool)) {
    const published = await publishCopy(client);
    try {
      sections.push(await section(kind, published, client === "npm" ? peerImports() : []));
    } finally {
      await published[Symbol.asyncDispose]();
    }
  }
}
const notes =
  `${circumstances()}. Medians of ${rounds} processes in turns; imports in milliseconds more than an empty ` +
  "module's process takes. First calls are measured inside, after the import, on 1,440 bytes at the default levels.";
writeSection(`cold start: ${runtime}`, `${notes}\n\n${sections.join("\n\n")}`);
process.exit();
