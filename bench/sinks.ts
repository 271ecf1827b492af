/**
 * A million rows into Postgres and SQLite, one row at a time: by a BatchedWritableStream, by batches that the program
 * gathers itself, and by one statement a row.
 *
 *   npm run bench -- sinks [--rounds 3] [--rows 1000000]
 *
 * All ways take turns in one process, and each counts with its fastest round; one statement a row gets a thousandth of the
 * rows. Postgres is started for the run, with its settings as installed, and takes rows by COPY, of postgres and of pg
 * with pg-copy-streams; SQLite takes transactions of prepared statements, by `node:sqlite`, in a file. Both wait for
 * the disk at each commit. Batches have 10,000 rows. How many rows have come is compared after each round.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { cannotServePostgres, PostgresServer } from "../tests/support/postgres_server.ts";
import { corpusFolder } from "./corpus_folder.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { databasesHere } from "./sinks/databases.ts";
import type { Database } from "./sinks/database.ts";
import { type Way, ways } from "./sinks/ways.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    rows: { type: "string", default: "1000000" },
  },
});
const rows = Number(values.rows);
/** The divisor of the rows that are written with one statement each. */
const SCALE = 1000;

interface Figures {
  seconds: number;
  cpu: number;
}

async function play(database: Database, way: Way, count: number): Promise<Figures> {
  await database.empty();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await way.write(database, count);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const found = await database.count();
  if (found !== count) throw new TypeError(`${way.name}: ${found} rows instead of ${count}`);
  return { seconds, cpu: (user + system) / 1e6 };
}

async function figuresOf(database: Database): Promise<string[][]> {
  const best = new Map<string, Figures>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(turn + round) % ways.length];
      const scale = way.isSlow ? SCALE : 1;
      const { seconds, cpu } = await play(database, way, Math.ceil(rows / scale));
      const former = best.get(way.name) ?? { seconds: Infinity, cpu: Infinity };
      best.set(way.name, {
        seconds: Math.min(former.seconds, seconds * scale),
        cpu: Math.min(former.cpu, cpu * scale),
      });
    }
  }
  const ours = best.get("ours")!.seconds;
  return ways.map(({ name }) => {
    const { seconds, cpu } = best.get(name)!;
    const ratio = name === "ours" ? "-" : (seconds / ours).toFixed(2);
    return [
      `${database.name}, ${name}`,
      seconds.toFixed(2),
      Math.round(rows / seconds).toLocaleString("en"),
      ratio,
      cpu.toFixed(2),
    ];
  });
}

const server = cannotServePostgres ? undefined : await PostgresServer.start();
const file = join(corpusFolder, `sinks-${process.pid}.db`);
const cells: string[][] = [];
try {
  for (const open of databasesHere) {
    const database = await open(file, server?.url);
    if (database === undefined) continue;
    cells.push(...await figuresOf(database));
    await database.close();
  }
} finally {
  await server?.stop();
  await rm(file, { force: true });
}
const head = ["", "s", "rows/s", "its time / ours", "CPU s"];
const title = `sinks: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. ${rows.toLocaleString("en")} rows; fastest of ${values.rounds} rounds. ${
  cannotServePostgres || "CPU is that of this process, without Postgres."
}\n\n${table(head, cells)}`;
if (rows === 1e6) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
