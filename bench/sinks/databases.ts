import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import postgres from "postgres";
import type { Database, Row } from "./database.ts";

const CREATE = "create table events (id integer, at text, name text)";
const DROP = "drop table if exists events";
const COUNT = "select count(*) as count from events";
const COPY = "copy events from stdin";

/** Opens a database; undefined if its server is not here. */
export type Open = (file: string, url: string | undefined) => Promise<Database | undefined>;

/** All databases. */
export const databasesHere: readonly Open[] = [openPostgres, openPg, openSqlite];

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function field(value: string): string {
  return value.replace(/[\\\t\n\r]/g, (found) => escapes[found]);
}

function linesOf(rows: readonly Row[]): string {
  return rows.map(({ id, at, name }) => `${id}\t${field(at)}\t${field(name)}\n`).join("");
}

function openPostgres(_file: string, url: string | undefined): Promise<Database | undefined> {
  if (url === undefined) return Promise.resolve(undefined);
  const sql = postgres(url, { onnotice: () => {}, max: 2 });
  return Promise.resolve({
    name: "Postgres by postgres",
    async empty(): Promise<void> {
      await sql.unsafe(DROP);
      await sql.unsafe(CREATE);
    },
    async writeBatch(rows): Promise<void> {
      await pipeline(Readable.from([linesOf(rows)]), await sql`copy events from stdin`.writable());
    },
    async writeOne({ id, at, name }): Promise<void> {
      await sql`insert into events values (${id}, ${at}, ${name})`;
    },
    count: async () => Number((await sql.unsafe(COUNT))[0].count),
    close: () => sql.end(),
  });
}

async function openPg(_file: string, url: string | undefined): Promise<Database | undefined> {
  if (url === undefined) return undefined;
  const client = new pg.Client(url);
  await client.connect();
  return {
    name: "Postgres by pg",
    async empty(): Promise<void> {
      await client.query(DROP);
      await client.query(CREATE);
    },
    async writeBatch(rows): Promise<void> {
      await pipeline(Readable.from([linesOf(rows)]), client.query(copyFrom(COPY)));
    },
    async writeOne({ id, at, name }): Promise<void> {
      const text = "insert into events values ($1, $2, $3)";
      await client.query({ name: "insert", text, values: [id, at, name] });
    },
    count: async () => Number((await client.query(COUNT)).rows[0].count),
    close: () => client.end(),
  };
}

function openSqlite(file: string): Promise<Database> {
  const database = new DatabaseSync(file);
  database.exec(CREATE);
  const insert = database.prepare("insert into events values (?, ?, ?)");
  return Promise.resolve({
    name: "SQLite",
    empty(): void {
      database.exec("delete from events");
    },
    writeBatch(rows): void {
      database.exec("begin");
      for (const { id, at, name } of rows) insert.run(id, at, name);
      database.exec("commit");
    },
    writeOne({ id, at, name }): void {
      insert.run(id, at, name);
    },
    count: () => Number(database.prepare(COUNT).get()!.count),
    close(): void {
      database.close();
    },
  });
}
