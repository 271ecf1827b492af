import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import test from "node:test";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { inFolder } from "../support/folders.ts";
import { cannotServePostgres, PostgresServer } from "../support/postgres_server.ts";
import { root, runtime } from "../support/runtime.ts";
import { makeProject, needsDatabase, readBlocks, runBlock } from "../docs/blocks.ts";

test("rows that are written one by one are in Postgres, by COPY", { skip: cannotServePostgres }, async () => {
  const server = await PostgresServer.start("fsync=off");
  const project = await makeProject(root);
  try {
    const [recipe] = readBlocks(["lib/batch/sinks.md"], root).filter(needsDatabase);
    const env = { DATABASE_URL: server.url };
    const options = {
      runtime,
      executable: process.execPath,
      project: project.folder,
      pages: project.pages,
      origin: "",
      env,
    };
    assert.equal((await runBlock(recipe, options)).join("\n"), "");
    await copyByPg(server.url);
  } finally {
    project.remove();
    await server.stop();
  }
});

test("the recipe for SQLite tells that its disk is full", () =>
  inFolder(async (folder) => {
    const { code } = readBlocks(["lib/batch/sinks.md"], root).find(({ code }) => code.includes("node:sqlite"))!;
    const recipe = code.replace("const insert", 'database.exec("pragma max_page_count = 20");\nconst insert')
      .replace('"@millrace/streams/batch"', JSON.stringify(new URL("../../lib/batch/mod.ts", import.meta.url).href))
      .replace('"events.db"', '":memory:"');
    const path = join(folder, "recipe.ts");
    await writeFile(path, recipe);
    await assert.rejects(import(pathToFileURL(path).href), { message: /database or disk is full/ });
  }));

/** Copies by the other client, with a batch that fails, and one whose rows are reported. */
async function copyByPg(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("create table odd (id integer check (id <> 7))");
    const refused: number[] = [];
    let batches = 0;
    const copy = async (rows: number[]): Promise<void> => {
      batches++;
      await pipeline(Readable.from([rows.join("\n") + "\n"]), client.query(copyFrom("copy odd from stdin")));
    };
    const odd = new BatchedWritableStream<number>({
      maxBatch: 10,
      writev: copy,
      async onFailed(rows) {
        for (const row of rows) await copy([row]).catch(() => refused.push(row));
      },
    });
    const writer = odd.getWriter();
    for (let id = 0; id < 40; id++) void writer.write(id);
    await writer.close();
    const { rows } = await client.query("select count(*)::int as count from odd");
    assert.deepEqual(rows, [{ count: 39 }]);
    assert.deepEqual(refused, [7]);
    assert.equal(batches, 14);
  } finally {
    await client.end();
  }
}
