/** A row of the table of all databases. */
export interface Row {
  readonly id: number;
  readonly at: string;
  readonly name: string;
}

/** A database with a table of rows. */
export interface Database {
  readonly name: string;
  /** Drops and recreates the table. */
  empty(): void | Promise<void>;
  /** Writes rows in one transaction. */
  writeBatch(rows: readonly Row[]): void | Promise<void>;
  /** Writes a row with a separate statement. */
  writeOne(row: Row): void | Promise<void>;
  count(): number | Promise<number>;
  close(): void | Promise<void>;
}

/** Yields the rows of a log of events. */
export function* rowsOf(count: number): Iterable<Row> {
  for (let id = 0; id < count; id++) {
    yield { id, at: `2026-11-23T12:00:${String(id % 60).padStart(2, "0")}Z`, name: `event ${id % 1000} of many` };
  }
}
