import { columnOf, numberIn, RUNTIMES, type Section, type Table } from "./tables.ts";

/** A row of a table, whose cells are read by the names of their columns. */
export interface Row {
  readonly name: string;
  /** Returns the number in a column; `nth` chooses among several of that name. Undefined if the row has no number there. */
  number(column: string, nth?: number): number | undefined;
  /** Returns the number in a column of another row of the same table. */
  other(name: string, column: string, nth?: number): number | undefined;
  /** All rows of the table, including this one. */
  readonly table: readonly Row[];
}

/** The contents of `bench/results`, by names. A missing value is undefined, or an empty list. */
export class Results {
  readonly #sections: readonly Section[];

  constructor(sections: readonly Section[]) {
    this.#sections = sections;
  }

  /** Whether there is a section of that topic. */
  has(topic: string): boolean {
    return this.#sections.some((section) => section.topic === topic);
  }

  /** Returns the version of the runtime that a topic was measured on, as in `Node 26.10.0`. */
  version(topic: string, runtime: string): string | undefined {
    return this.#section(topic, runtime)?.version || undefined;
  }

  /**
   * Returns the rows of the tables with that caption, in order; without one, of tables whose captions begin with it.
   */
  rows(topic: string, runtime: string, caption: string): Row[] {
    const tables = this.#section(topic, runtime)?.tables ?? [];
    const same = tables.filter((table) => table.caption === caption);
    return (same.length > 0 && caption !== "" ? same : tables.filter((table) => table.caption.startsWith(caption)))
      .flatMap(rowsOf);
  }

  /** Returns the row with that name, in the first such table that has one. */
  row(topic: string, runtime: string, caption: string, name: string): Row | undefined {
    return this.rows(topic, runtime, caption).find((row) => row.name === name);
  }

  /** Returns the figure `ask` reads from the rows with that name, one for each runtime that has it. */
  numbers(topic: string, caption: string, name: string, ask: (row: Row) => number | undefined): number[] {
    const rows = RUNTIMES.map((runtime) => this.row(topic, runtime, caption, name));
    return rows.map((row) => row && ask(row)).filter((number) => number !== undefined);
  }

  #section(topic: string, runtime: string): Section | undefined {
    return this.#sections.find((section) => section.topic === topic && section.runtime === runtime);
  }
}

function rowsOf(table: Table): Row[] {
  const rows: Row[] = [];
  for (const cells of table.rows) {
    rows.push({
      name: cells[0],
      number: (column, nth) => numberIn(cells[columnOf(table, column, nth)]),
      other: (name, column, nth) => rows.find((row) => row.name === name)?.number(column, nth),
      table: rows,
    });
  }
  return rows;
}
