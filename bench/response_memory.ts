/**
 * Memory of open responses: 1,000 pages that are streamed at a time to clients that read slowly, uncompressed and in each
 * coding, and what is left afterwards and after 100,000 short ones.
 *
 *   npm run bench -- response_memory [--responses 1000]
 *
 * Each coding has a process of its own. Figures are of its resident memory; those of a response are less those of an
 * uncompressed one. A full run is written to results/.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { responses: { type: "string", default: "1000" } } });
const RESPONSES = Number(values.responses);
const script = join(dirname(fileURLToPath(import.meta.url)), "compression/open_responses.ts");
const { deno } = process.versions as Record<string, string | undefined>;
const start = deno ? ["run", "-A", "--v8-flags=--expose-gc"] : ["--expose-gc"];

interface Figures {
  /** Bytes more than before: while all are open, some time after they have ended, and after many more. */
  readonly open: number;
  readonly ended: number;
  readonly many: number;
}

function run(coding: string): Figures {
  const args = [...start, script, coding, String(RESPONSES)];
  const { stdout, status } = spawnSync(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) throw new Error(`${coding} has failed`);
  return JSON.parse(String(stdout));
}

const plain = run("identity");
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const rows = ["gzip", "br", "zstd"].map((coding) => {
  const { open, ended, many } = run(coding);
  const each = (open - plain.open) / RESPONSES;
  return [coding, `${(each / 1024).toFixed(0)} KiB`, mebibytes(open), mebibytes(ended), mebibytes(many)];
});
const head = ["", "each, above uncompressed", "all open", "40 s after they ended", "after 100,000 more"];
const title = `response_memory: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. ${RESPONSES.toLocaleString("en")} open responses; uncompressed ` +
  `${mebibytes(plain.open)}, afterwards ${mebibytes(plain.ended)} and ${mebibytes(plain.many)}.\n\n${
    table(head, rows)
  }`;
if (values.responses === "1000") writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
