import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { type Database, type Row, rowsOf } from "./database.ts";

/** Rows of a batch. */
const BATCH = 10_000;

/** A way to write rows as they come. */
export interface Way {
  readonly name: string;
  readonly isSlow: boolean;
  write(database: Database, count: number): Promise<void>;
}

/** All ways. */
export const ways: readonly Way[] = [
  {
    name: "ours",
    isSlow: false,
    async write(database, count): Promise<void> {
      const stream = new BatchedWritableStream<Row>({
        maxBatch: BATCH,
        maxDelay: 50,
        writev: (rows) => database.writeBatch(rows),
      }, { highWaterMark: 2 * BATCH });
      const writer = stream.getWriter();
      let batch: Promise<void> | undefined; // all writes of a batch return the same promise
      for (const row of rowsOf(count)) {
        if (writer.desiredSize! <= 0) await writer.ready;
        const written = writer.write(row);
        if (written !== batch) (batch = written).catch(() => {}); // reported by close()
      }
      await writer.close();
    },
  },
  {
    name: "gathered by hand",
    isSlow: false,
    async write(database, count): Promise<void> {
      let batch: Row[] = [];
      for (const row of rowsOf(count)) {
        batch.push(row);
        if (batch.length < BATCH) continue;
        await database.writeBatch(batch);
        batch = [];
      }
      if (batch.length > 0) await database.writeBatch(batch);
    },
  },
  {
    name: "one statement a row",
    isSlow: true,
    async write(database, count): Promise<void> {
      for (const row of rowsOf(count)) await database.writeOne(row);
    },
  },
];
